"""The environment that connects the measured programs to the services."""

from collections.abc import Mapping

from tests.bench.services.merge_queue import QuietService
from tests.bench.services.request_url import SECRET
from tests.bench.services.slack import SlackService

REPOSITORY = "acme/site"


def environment(slack: SlackService, queue: QuietService) -> Mapping[str, str]:
    """What `mqbot` reads, but for its database; the floors read the part of it that they need."""
    return {
        "MQBOT_API_URL": queue.api_url,
        "MQBOT_API_TOKEN": "bench-token",
        "MQBOT_REPOSITORIES": REPOSITORY,
        "MQBOT_HTTP_HOST": "127.0.0.1",
        "MQBOT_HTTP_PORT": "0",
        "SLACK_BOT_TOKEN": "xoxb-bench",
        "SLACK_APP_TOKEN": "xapp-bench",
        "SLACK_SIGNING_SECRET": SECRET,
        "SLACK_API_URL": slack.api_url,
    }
