import asyncio
from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError

from bot.sandbox.slack.wire import Json
from tests.integration.sandbox_slack.clients import (
    ALICE,
    CHANNEL,
    BoltApp,
    be_patient,
    eventually,
    texts,
)


async def test_a_post_whose_response_is_dropped_exists_once(bolt: BoltApp) -> None:
    bolt.sandbox.faults.arm({"name": "drop_after_accept", "method": "chat.postMessage"})
    with pytest.raises(aiohttp.ClientError):
        await bolt.app.client.chat_postMessage(channel=CHANNEL, text="Once")

    history = await bolt.app.client.conversations_history(channel=CHANNEL)
    assert [each["text"] for each in history["messages"]] == ["Once"]


async def test_a_post_that_is_dropped_before_arrival_does_not_exist(bolt: BoltApp) -> None:
    bolt.sandbox.faults.arm({"name": "drop_before", "method": "chat.postMessage"})
    with pytest.raises(aiohttp.ClientError):
        await bolt.app.client.chat_postMessage(channel=CHANNEL, text="Never")
    assert texts(bolt.sandbox) == []


@pytest.mark.parametrize(
    ("fault", "status", "error"),
    [
        ("http_500", 500, "internal_error"),
        ("internal_error", 200, "internal_error"),
        ("rate_limit", 429, "ratelimited"),
    ],
)
async def test_an_armed_fault_refuses_one_call_and_the_next_goes_through(
    bolt: BoltApp, fault: str, status: int, error: str
) -> None:
    bolt.sandbox.faults.arm({"name": fault, "method": "chat.postMessage", "retry_after": 7})
    with pytest.raises(SlackApiError) as refusal:
        await bolt.app.client.chat_postMessage(channel=CHANNEL, text="x")
    assert refusal.value.response.status_code == status
    assert refusal.value.response["error"] == error
    if fault == "rate_limit":
        assert refusal.value.response.headers["Retry-After"] == "7"
    assert (await bolt.app.client.chat_postMessage(channel=CHANNEL, text="x"))["ok"]
    assert bolt.sandbox.faults.listing()["faults"][0]["hits"] == 1


@pytest.mark.parametrize("fault", ["html_500", "invalid_json", "truncate"])
async def test_an_answer_that_is_not_json_reaches_the_client_as_such(
    bolt: BoltApp, fault: str
) -> None:
    bolt.sandbox.faults.arm({"name": fault, "method": "auth.test"})
    with pytest.raises(SlackApiError):
        await bolt.app.client.auth_test()
    assert (await bolt.app.client.auth_test())["user_id"] == "U0MQBOT"


async def test_a_slow_call_waits_and_then_answers(bolt: BoltApp) -> None:
    bolt.sandbox.faults.arm({"name": "slow", "seconds": 0.2})
    started = asyncio.get_running_loop().time()
    await bolt.app.client.auth_test()
    assert asyncio.get_running_loop().time() - started >= 0.2


async def test_a_lost_payload_is_a_timeout_and_the_next_click_works(slow_bolt: BoltApp) -> None:
    @slow_bolt.app.command("/mq")
    async def listener(ack: Any) -> None:
        slow_bolt.received.append("ran")
        await ack()

    await slow_bolt.connect()
    slow_bolt.sandbox.faults.arm({"name": "lose_payload"})
    lost = await slow_bolt.sandbox.people.command(ALICE, CHANNEL, "/mq")
    be_patient(slow_bolt.sandbox)
    again = await slow_bolt.sandbox.people.command(ALICE, CHANNEL, "/mq")
    assert lost["error"] == "operation_timeout"
    assert again["acknowledged"] is True
    assert slow_bolt.received == ["ran"]


async def test_a_repeated_payload_reaches_the_app_twice_with_one_trigger(bolt: BoltApp) -> None:
    @bolt.app.command("/mq")
    async def listener(ack: Any, body: Json) -> None:
        bolt.received.append(body["trigger_id"])
        await ack()

    await bolt.connect()
    bolt.sandbox.faults.arm({"name": "repeat_payload"})
    await bolt.sandbox.people.command(ALICE, CHANNEL, "/mq")
    await eventually(lambda: len(bolt.received) == 2)
    assert len(set(bolt.received)) == 1
