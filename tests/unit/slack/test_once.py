"""What makes two requests the same, and for how long that is remembered."""

from datetime import timedelta
from typing import Any

import pytest
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse

from bot.slack.once import (
    EVENT_LIFETIME,
    TRIGGER_LIFETIME,
    Memory,
    Once,
    RequestKey,
    request_key,
)
from tests.support.clock import NOON, FakeClock

CLICK = {"user": {"id": "U1"}, "actions": [{"action_id": "go", "action_ts": "1.1"}]}


def key(name: str, lifetime: timedelta = TRIGGER_LIFETIME) -> RequestKey:
    return RequestKey(name, lifetime)


@pytest.mark.parametrize(
    "body",
    [
        {"event_id": "Ev1", "event": {"type": "x"}},
        {"trigger_id": "1.1.a", "command": "/mq"},
        CLICK,
        {"user": {"id": "U1"}, "action_ts": "1.1", "callback_id": "pause"},
    ],
)
def test_the_same_request_has_the_same_key_every_time(body: dict[str, Any]) -> None:
    again = {**body, "retry": 1}
    assert request_key(body) is not None
    assert request_key(body) == request_key(again)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"event_id": "Ev1"}, {"event_id": "Ev2"}),
        ({"event_id": "1.1"}, {"trigger_id": "1.1"}),
        (CLICK, {**CLICK, "user": {"id": "U2"}}),
        (CLICK, {**CLICK, "actions": [{"action_id": "go", "action_ts": "1.2"}]}),
        (CLICK, {**CLICK, "actions": [{"action_id": "stop", "action_ts": "1.1"}]}),
        (CLICK, {**CLICK, "trigger_id": "1.1.a"}),
    ],
)
def test_different_requests_have_different_keys(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert request_key(one) != request_key(other)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"type": "view_closed", "user": {"id": "U1"}},
        {"actions": [], "user": {"id": "U1"}},
        {"actions": "go", "user": "U1", "action_ts": "1.1"},
        {"trigger_id": 7, "event_id": None},
    ],
)
def test_what_has_no_identity_has_no_key(body: dict[str, Any]) -> None:
    assert request_key(body) is None


def test_a_key_tells_nothing_of_the_trigger() -> None:
    found = request_key({"trigger_id": "12345.98765.abcd2358fdea"})
    assert found is not None
    assert "12345" not in found.digest


def test_events_are_remembered_for_as_long_as_slack_sends_them_again() -> None:
    assert timedelta(hours=24) < EVENT_LIFETIME
    assert timedelta(minutes=5) < TRIGGER_LIFETIME


def test_a_key_is_remembered_for_its_lifetime() -> None:
    memory = Memory()
    assert memory.add(key("a"), NOON)
    assert not memory.add(key("a"), NOON + TRIGGER_LIFETIME)
    assert memory.add(key("a"), NOON + TRIGGER_LIFETIME + timedelta(seconds=1))


def test_seeing_it_again_does_not_lengthen_its_life() -> None:
    memory = Memory()
    memory.add(key("a"), NOON)
    memory.add(key("a"), NOON + TRIGGER_LIFETIME)
    assert memory.add(key("a"), NOON + TRIGGER_LIFETIME + timedelta(seconds=1))


def test_the_memory_is_bounded_and_gives_up_the_oldest() -> None:
    memory = Memory(most=3)
    for name in "abcd":
        assert memory.add(key(name), NOON)
    assert len(memory) == 3
    assert not memory.add(key("b"), NOON)
    assert memory.add(key("a"), NOON)


def test_many_clicks_push_out_no_event() -> None:
    memory = Memory(most=3)
    memory.add(key("event", EVENT_LIFETIME), NOON)
    for number in range(10):
        memory.add(key(str(number)), NOON)
    assert not memory.add(key("event", EVENT_LIFETIME), NOON)


async def pass_on(once: Once, body: dict[str, Any]) -> BoltResponse:
    """What `once` answers; the one behind it answers “behind”."""

    async def behind() -> BoltResponse:
        return BoltResponse(status=200, body="behind")

    request = AsyncBoltRequest(mode="socket_mode", body=body)
    return await once.async_process(req=request, resp=BoltResponse(status=404), next=behind)


async def test_what_came_before_is_acknowledged_and_goes_no_further() -> None:
    once = Once(FakeClock())
    assert (await pass_on(once, {"event_id": "Ev1"})).body == "behind"
    again = await pass_on(once, {"event_id": "Ev1"})
    assert (again.status, again.body) == (200, "")
    once.forget({"event_id": "Ev1"})
    assert (await pass_on(once, {"event_id": "Ev1"})).body == "behind"


async def test_what_has_no_identity_always_passes() -> None:
    once = Once(FakeClock())
    for _ in range(2):
        assert (await pass_on(once, {"type": "view_closed"})).body == "behind"
