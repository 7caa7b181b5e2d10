"""What is acknowledged before anybody has looked at it, and what is not."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import ClientSession
from slack_sdk.web.async_client import AsyncWebClient

from bot.messages import actions
from bot.slack.receiving.ahead import AcknowledgedAhead
from bot.slack.receiving.inbox import Inbox
from bot.slack.replying.errors import ErrorBoundary
from bot.slack.replying.replies import Replies
from bot.slack.web_api.channels import SlackChannels
from tests.support.clock import FakeClock


@pytest.fixture
async def ahead() -> AsyncIterator[AcknowledgedAhead]:
    async with ClientSession() as session:
        client = AsyncWebClient(base_url="http://127.0.0.1:9/api/", session=session)
        replies = Replies(session, SlackChannels(client, FakeClock()), client.base_url)
        yield AcknowledgedAhead("/mq", Inbox(most_at_once=1), ErrorBoundary("/mq"), client, replies)


def click(action_id: object) -> dict[str, Any]:
    return {"type": "block_actions", "actions": [{"action_id": action_id}]}


@pytest.mark.parametrize("body", [{"command": "/mq"}, click(actions.RETRY)])
async def test_our_command_and_clicks_on_what_is_ours(
    ahead: AcknowledgedAhead, body: dict[str, Any]
) -> None:
    assert ahead.takes(body)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"command": "/other"},
        {"command": ["/mq"]},
        click("somebody_elses"),
        click(None),
        {"type": "block_actions"},
        {"type": "block_actions", "actions": []},
        {"type": "block_actions", "actions": [f"{actions.PREFIX}x"]},
        {"type": "view_submission", "view": {"callback_id": actions.PAUSE_VIEW}},
        {"type": "shortcut", "callback_id": actions.PAUSE_SHORTCUT},
        {"type": "event_callback", "event": {"type": "app_home_opened"}},
        # Slack asks for the options of a menu: the acknowledgement is the answer.
        {"type": "block_suggestion", "action_id": actions.RETRY},
    ],
)
async def test_nothing_else(ahead: AcknowledgedAhead, body: dict[str, Any]) -> None:
    assert not ahead.takes(body)


async def test_a_command_that_finds_no_room_is_left_to_its_listener_and_a_click_is_not(
    ahead: AcknowledgedAhead,
) -> None:
    done = asyncio.Event()

    async def work() -> None:
        await done.wait()

    ahead.inbox.hand_over(work())
    taken = [ahead.takes({"command": "/mq"}), ahead.takes(click(actions.RETRY))]
    done.set()
    await ahead.inbox.drain(30)
    assert [*taken, ahead.takes({"command": "/mq"})] == [False, True, True]
