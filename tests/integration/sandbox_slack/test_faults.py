import asyncio

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError

from tests.integration.sandbox_slack.clients import ALICE, CHANNEL, BoltApp, be_patient, eventually


async def test_a_dropped_post_exists_only_if_it_arrived(bolt: BoltApp) -> None:
    for fault, exist in (("drop_before", []), ("drop_after_accept", ["A post"])):
        bolt.sandbox.faults.arm({"name": fault, "method": "chat.postMessage"})
        with pytest.raises(aiohttp.ClientError):
            await bolt.post(text="A post")
        history = await bolt.app.client.conversations_history(channel=CHANNEL)
        assert [each["text"] for each in history["messages"]] == exist


async def test_an_armed_fault_refuses_one_call_and_the_next_goes_through(bolt: BoltApp) -> None:
    for fault, status, error in (
        ("http_500", 500, "internal_error"),
        ("internal_error", 200, "internal_error"),
        ("rate_limit", 429, "ratelimited"),
    ):
        bolt.sandbox.faults.arm({"name": fault, "method": "chat.postMessage", "retry_after": 7})
        with pytest.raises(SlackApiError) as refusal:
            await bolt.post()
        assert refusal.value.response.status_code == status
        assert refusal.value.response["error"] == error
        if fault == "rate_limit":
            assert refusal.value.response.headers["Retry-After"] == "7"
        await bolt.post()
    assert [one["hits"] for one in bolt.sandbox.faults.listing()["faults"]] == [1, 1, 1]


async def test_an_error_may_follow_a_post_that_was_made(bolt: BoltApp) -> None:
    for number, fault in enumerate(("http_500", "html_500", "internal_error", "refuse"), 1):
        bolt.sandbox.faults.arm(
            {
                "name": fault,
                "method": "chat.postMessage",
                "carried_out": True,
                "code": "fatal_error",
            }
        )
        with pytest.raises(SlackApiError):
            await bolt.post(text="A post")
        history = await bolt.app.client.conversations_history(channel=CHANNEL)
        assert len(history["messages"]) == number


async def test_an_answer_that_is_late_or_not_json_reaches_the_client_as_such(bolt: BoltApp) -> None:
    for fault in ("html_500", "invalid_json", "truncate"):
        bolt.sandbox.faults.arm({"name": fault, "method": "auth.test"})
        with pytest.raises(SlackApiError):
            await bolt.app.client.auth_test()
        assert (await bolt.app.client.auth_test())["user_id"] == "U0MQBOT"
    bolt.sandbox.faults.arm({"name": "slow", "seconds": 0.2})
    started = asyncio.get_running_loop().time()
    await bolt.app.client.auth_test()
    assert asyncio.get_running_loop().time() - started >= 0.2


async def test_a_lost_payload_is_a_timeout_and_a_repeated_one_has_one_trigger(
    slow_bolt: BoltApp,
) -> None:
    slow_bolt.acknowledge()
    await slow_bolt.connect()
    slow_bolt.sandbox.faults.arm({"name": "lose_payload"})
    lost = await slow_bolt.sandbox.people.command(ALICE, CHANNEL, "/mq")
    be_patient(slow_bolt.sandbox)
    again = await slow_bolt.sandbox.people.command(ALICE, CHANNEL, "/mq")
    assert lost["error"] == "operation_timeout"
    assert again["acknowledged"] is True
    assert len(slow_bolt.received) == 1
    slow_bolt.sandbox.faults.arm({"name": "repeat_payload"})
    await slow_bolt.sandbox.people.command(ALICE, CHANNEL, "/mq")
    await eventually(lambda: len(slow_bolt.received) == 3)
    triggers = [one["trigger_id"] for one in slow_bolt.received]
    assert triggers[0] != triggers[1] == triggers[2]
