"""What makes two requests the same, and for how long that is remembered."""

from datetime import timedelta
from typing import Any

import pytest
from slack_bolt.request.async_request import AsyncBoltRequest

from bot.slack.once import (
    EVENT_LIFETIME,
    TRIGGER_LIFETIME,
    Once,
    request_key,
)
from tests.support.clock import FakeClock

CLICK = {"user": {"id": "U1"}, "actions": [{"action_id": "go", "action_ts": "1.1"}]}


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


class Requests:
    """What reaches a process, one after the other."""

    def __init__(self, most: int = 3) -> None:
        self.clock = FakeClock()
        self.once = Once(self.clock, most=most)

    def is_new(self, **body: Any) -> bool:
        return self.once.is_new(AsyncBoltRequest(mode="socket_mode", body=body))


def test_a_request_is_remembered_for_its_lifetime_and_seeing_it_again_does_not_lengthen_that() -> (
    None
):
    requests = Requests()
    assert requests.is_new(trigger_id="a")
    requests.clock.advance(TRIGGER_LIFETIME.total_seconds())
    assert not requests.is_new(trigger_id="a")
    requests.clock.advance(1)
    assert requests.is_new(trigger_id="a")


def test_the_memory_is_bounded_and_gives_up_the_oldest() -> None:
    requests = Requests(most=3)
    for name in "abcd":
        assert requests.is_new(trigger_id=name)
    assert not requests.is_new(trigger_id="b")
    assert requests.is_new(trigger_id="a")


def test_many_clicks_push_out_no_event() -> None:
    requests = Requests(most=3)
    requests.is_new(event_id="Ev1")
    for number in range(10):
        requests.is_new(trigger_id=str(number))
    assert not requests.is_new(event_id="Ev1")


def test_a_forgotten_request_may_come_again() -> None:
    requests = Requests()
    assert requests.is_new(event_id="Ev1")
    requests.once.forget({"event_id": "Ev1"})
    assert requests.is_new(event_id="Ev1")


def test_what_has_no_identity_is_always_new() -> None:
    requests = Requests()
    assert requests.is_new(type="view_closed")
    assert requests.is_new(type="view_closed")
