"""A post is marked so that it can be found again, and sent once; what a failed call means."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import aiohttp
import pytest
from slack_sdk.web.async_slack_response import AsyncSlackResponse
from typing_extensions import override

from bot.blocks import blocks
from bot.blocks.message import Block, Colour, Message
from bot.slack.errors import PostInDoubt, PostPostponed
from bot.slack.ports import Sent
from bot.slack.web_api.channels import OPEN_SECONDS, SlackChannels
from bot.slack.web_api.clients import Identity
from bot.slack.web_api.failures import post_error
from bot.slack.web_api.poster import METADATA_TYPE, SlackPoster
from tests.support.clock import FakeClock
from tests.support.virtual_time import run_virtually
from tests.unit.slack.web_api.scripted_client import Answer, ScriptedClient, failed

DELIVERY = "3374da576c324317"
MARK = "mq:3374da576c324317"
SINCE = datetime(2026, 7, 20, 12, 0, tzinfo=UTC)
SECTION: Block = {"type": "section", "text": {"type": "mrkdwn", "text": "*Merged* #1"}}
MESSAGE = Message("Merged #1", (SECTION, {"type": "divider"}))


def poster(*answers: Answer) -> tuple[SlackPoster, ScriptedClient]:
    client = ScriptedClient(*answers)
    return poster_with(client), client


def poster_with(client: ScriptedClient) -> SlackPoster:
    clock = FakeClock()
    channels = SlackChannels(client, clock)
    identity = Identity("T0ACME", None, "U0MQBOT", "B0MQBOT", "merge-queue")
    return SlackPoster(client, channels, clock, identity)


def posted(ts: str, **changed: Any) -> dict[str, Any]:
    """A message of the channel's history."""
    metadata = {"event_type": METADATA_TYPE, "event_payload": {"delivery_id": DELIVERY}}
    return {"ts": ts, "bot_id": "B0MQBOT", "metadata": metadata, **changed}


async def test_the_delivery_id_goes_into_the_metadata_and_the_first_block() -> None:
    slack, client = poster({"ts": "1.2"})
    assert await slack.post("C1", MESSAGE, DELIVERY) == Sent("1.2")
    ((method, sent),) = client.calls
    assert method == "chat.postMessage"
    assert sent["channel"] == "C1"
    assert sent["text"] == "Merged #1"
    assert sent["metadata"]["event_type"] == METADATA_TYPE
    assert sent["metadata"]["event_payload"]["delivery_id"] == DELIVERY
    assert [block.get("block_id") for block in sent["blocks"]] == [MARK, None]
    assert sent["unfurl_links"] is False
    assert sent["unfurl_media"] is False
    assert "block_id" not in MESSAGE.blocks[0]


async def test_a_coloured_message_has_its_state_above_the_bar_and_the_rest_beside_it() -> None:
    slack, client = poster({"ts": "1.2"}, {"ts": "1.2"})
    alarming = replace(MESSAGE, colour=Colour.RED)
    await slack.post("C1", alarming, DELIVERY)
    sent = client.calls[-1][1]
    assert sent["blocks"] == [{**SECTION, "block_id": MARK}]
    bar = {"color": "#c22a44", "fallback": "Merged #1", "blocks": [{"type": "divider"}]}
    assert sent["attachments"] == [bar]
    await slack.update("C1", "1.2", alarming)
    assert client.calls[-1][1]["attachments"] == [bar]


async def test_a_message_that_loses_its_colour_loses_its_bar() -> None:
    slack, client = poster({"ts": "1.2"})
    await slack.update("C1", "1.2", MESSAGE)
    sent = client.calls[-1][1]
    assert sent["attachments"] == []
    assert sent["blocks"] == [*MESSAGE.blocks]


async def test_a_post_lacks_its_buttons_while_slack_does_not_say_who_reads_the_channel() -> None:
    slack, client = poster("internal_error", {"ts": "1.2"})
    button = blocks.button("Resume queue", action_id="mq:x", value="1")
    asking = Message("Paused", (SECTION, blocks.actions([button])))
    assert await slack.post("C1", asking, DELIVERY) == Sent("1.2", is_complete=False)
    assert [block["type"] for block in client.calls[-1][1]["blocks"]] == ["section"]


async def test_a_post_whose_metadata_is_hidden_is_found_by_its_first_block() -> None:
    message = posted("1.2", metadata=None, blocks=[{"type": "section", "block_id": MARK}])
    slack, _ = poster({"messages": [message]})
    assert await slack.find("C1", DELIVERY, SINCE) == "1.2"


async def test_history_is_read_once_for_all_deliveries() -> None:
    slack, client = poster({"messages": [posted("1.2")]})
    until = SINCE + timedelta(hours=5)
    assert await slack.find("C1", DELIVERY, SINCE, None, until) == "1.2"
    assert await slack.find("C1", "another", SINCE + timedelta(hours=1), None, until) is None
    ((_, asked),) = client.calls
    assert float(asked["oldest"]) < SINCE.timestamp()
    assert float(asked["latest"]) > until.timestamp()


async def test_history_read_for_an_earlier_take_over_is_forgotten() -> None:
    """Each holds the id of every post of its time, and nobody searches there any more."""
    slack, client = poster(*[{"messages": []}] * 4)
    first = SINCE + timedelta(hours=5)
    second = SINCE + timedelta(hours=6)
    for channel, until in [("C1", first), ("C2", first), ("C1", second), ("C2", first)]:
        assert await slack.find(channel, DELIVERY, SINCE, None, until) is None
    assert len(client.calls) == 4


class SlowClient(ScriptedClient):
    """Each answer takes nearly as long as a request may last."""

    @override
    async def api_call(self, api_method: str, **how: Any) -> AsyncSlackResponse:
        await asyncio.sleep(9)
        return await super().api_call(api_method, **how)


def test_simultaneous_lookups_share_one_read() -> None:
    client = SlowClient({"messages": [posted("1.2")]})
    slack = poster_with(client)
    until = SINCE + timedelta(hours=5)

    async def find() -> list[str | None]:
        return await asyncio.gather(
            *(slack.find("C1", one, SINCE, None, until) for one in (DELIVERY, "another"))
        )

    assert run_virtually(find()) == ["1.2", None]
    assert len(client.calls) == 1


async def test_posts_older_than_the_last_read_are_read_again() -> None:
    slack, client = poster({"messages": []}, {"messages": [posted("1.2")]})
    until = SINCE + timedelta(hours=5)
    assert await slack.find("C1", DELIVERY, SINCE, None, until) is None
    assert await slack.find("C1", DELIVERY, SINCE - timedelta(hours=1), None, until) == "1.2"
    assert len(client.calls) == 2


async def test_another_senders_message_with_our_mark_is_not_ours() -> None:
    theirs = posted("1.2", bot_id="B0OTHER", app_id="A0OTHER", user="U0OTHER")
    slack, _ = poster({"messages": [theirs, posted("1.3", bot_id=None)]})
    assert await slack.find("C1", DELIVERY, SINCE) is None


def page(number: int, *messages: dict[str, Any]) -> dict[str, Any]:
    return {
        "messages": list(messages),
        "response_metadata": {"next_cursor": f"cursor {number}"},
    }


async def test_an_invalid_cursor_restarts_the_lookup() -> None:
    slack, client = poster(page(1), "invalid_cursor", {"messages": [posted("1.2")]})
    with pytest.raises(PostPostponed):
        await slack.find("C1", DELIVERY, SINCE)
    assert await slack.find("C1", DELIVERY, SINCE) == "1.2"
    assert client.calls[-1][1].get("cursor") is None


async def test_our_message_is_recognised_by_its_bot_user() -> None:
    message = posted("1.2", bot_id="B0OTHER", user="U0MQBOT")
    slack, _ = poster({"messages": [message]})
    assert await slack.find("C1", DELIVERY, SINCE) == "1.2"


async def test_a_rate_limit_on_opening_conversations_delays_no_other_posts() -> None:
    slack, _ = poster("ratelimited")
    with pytest.raises(PostPostponed) as raised:
        await slack.post("U1", MESSAGE, DELIVERY)
    assert not raised.value.workspace_wide
    slack, _ = poster("ratelimited")
    with pytest.raises(PostPostponed) as raised:
        await slack.update("C1", "1.1", MESSAGE)
    assert raised.value.workspace_wide


def test_a_slowly_opened_conversation_still_leaves_time_to_post() -> None:
    client = SlowClient({"channel": {"id": "D1"}}, {"ts": "1.2"})
    slack = poster_with(client)

    async def post() -> float:
        with pytest.raises(PostPostponed):
            await slack.post("U0BOB", MESSAGE, DELIVERY)
        return asyncio.get_running_loop().time()

    assert run_virtually(post()) == OPEN_SECONDS
    assert client.calls == []


@pytest.mark.parametrize("code", ["ratelimited", "rate_limited", "message_limit_exceeded"])
def test_a_workspace_rate_limit_postpones_every_channel(code: str) -> None:
    for workspace_wide in (True, False):
        error = post_error(failed(code), workspace_wide=workspace_wide)
        assert isinstance(error, PostPostponed)
        assert error.workspace_wide is workspace_wide


@pytest.mark.parametrize("code", ["ratelimited", None], ids=["body", "no body"])
@pytest.mark.parametrize(
    ("header", "wait"),
    [("30", 30.0), ("86400", 300.0), ("0", 0.0), ("-5", 0.0), ("soon", None), (None, None)],
)
def test_slacks_requested_wait_is_read_and_shortened_when_implausible(
    code: str | None, header: str | None, wait: float | None
) -> None:
    headers = {"Retry-After": header} if header is not None else {}
    error = post_error(failed(code, status=429, headers=headers))
    assert isinstance(error, PostPostponed)
    assert error.retry_after == wait


@pytest.mark.parametrize(
    ("unclear", "code"),
    [
        *((failed(code), code) for code in ("internal_error", "fatal_error")),
        (failed("brand_new_code", status=500), "brand_new_code"),
        *((failed(None, status=status), f"http_{status}") for status in (500, 503)),
        (failed(None), "unreadable_answer"),
        (TimeoutError(), "TimeoutError"),
        (aiohttp.ServerDisconnectedError(), "ServerDisconnectedError"),
        (aiohttp.ClientOSError(104, "reset"), "ClientOSError"),
    ],
)
def test_an_unclear_answer_leaves_the_post_in_doubt(unclear: Exception, code: str) -> None:
    error = post_error(unclear)
    assert isinstance(error, PostInDoubt)
    assert error.code == code


def test_a_bug_of_ours_is_not_a_slack_failure() -> None:
    with pytest.raises(KeyError):
        post_error(KeyError("ts"))
