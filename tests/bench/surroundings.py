"""The environment that connects the measured programs to the services."""

import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from tests.bench.program import Program, running
from tests.bench.services import certificate
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


@asynccontextmanager
async def event_logs(
    pages: int = 0, *, over_tls: bool = False
) -> AsyncIterator[tuple[Program, Mapping[str, str]]]:
    """A service of event logs in a process of its own, and the environment that leads to it."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["--pages", str(pages)]
        environ = {}
        scheme = "http"
        if over_tls:
            await certificate.make(Path(folder))
            arguments += ["--tls", folder]
            environ["SSL_CERT_FILE"] = f"{folder}/certificate.pem"
            scheme = "https"
        async with running("services.pages", *arguments) as program:
            environ["BENCH_SERVICE"] = f"{scheme}://127.0.0.1:{program.reported['port']}/v1"
            yield program, environ
