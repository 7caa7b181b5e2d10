"""A rate limit of Slack's is honoured by everybody, not only by the call that met it."""

from collections.abc import AsyncIterator

import pytest
from pydantic import SecretStr
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.cli.manifest import manifest_path
from bot.sandbox.slack.server import SlackSandbox
from bot.slack.clients import open_session, web_client
from bot.slack.failures import read_failure


@pytest.fixture
async def slack() -> AsyncIterator[SlackSandbox]:
    sandbox = SlackSandbox(manifest_path())
    await sandbox.start()
    yield sandbox
    await sandbox.stop()


@pytest.fixture
async def client(slack: SlackSandbox) -> AsyncIterator[AsyncWebClient]:
    async with open_session() as session:
        yield web_client(session, token=SecretStr(slack.bot_token), base_url=slack.api_url)


def calls_of(slack: SlackSandbox, method: str) -> int:
    return sum(1 for call in slack.calls.since(0) if call["method"] == method)


async def test_a_closed_method_is_not_asked_again_and_others_go_on(
    slack: SlackSandbox, client: AsyncWebClient
) -> None:
    slack.faults.arm(
        {"name": "rate_limit", "method": "conversations.info", "times": 1, "retry_after": 60}
    )
    for _ in range(3):
        with pytest.raises(SlackApiError) as refused:
            await client.conversations_info(channel="C0MERGEQ")
        failure = read_failure(refused.value)
        assert (failure.code, failure.status) == ("ratelimited", 429)
        assert failure.retry_after is not None
        assert 59 <= failure.retry_after <= 60

    assert calls_of(slack, "conversations.info") == 1
    assert (await client.auth_test())["ok"]


async def test_a_method_opens_again_when_its_time_has_passed(
    slack: SlackSandbox, client: AsyncWebClient
) -> None:
    slack.faults.arm(
        {"name": "rate_limit", "method": "conversations.info", "times": 1, "retry_after": 0}
    )
    with pytest.raises(SlackApiError):
        await client.conversations_info(channel="C0MERGEQ")

    assert (await client.conversations_info(channel="C0MERGEQ"))["ok"]
    assert calls_of(slack, "conversations.info") == 2
