"""When two requests are the same, and how long they are remembered."""

from datetime import timedelta
from typing import Any

import pytest

from bot.slack.background import EVENT_LIFETIME, TRIGGER_LIFETIME, Once, request_key
from tests.support.clock import FakeClock
from tests.support.store import InMemoryStore

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
def test_a_request_without_identity_has_no_key(body: dict[str, Any]) -> None:
    assert request_key(body) is None


def test_a_key_does_not_reveal_the_trigger() -> None:
    found = request_key({"trigger_id": "12345.98765.abcd2358fdea"})
    assert found is not None
    assert "12345" not in found


def test_events_are_remembered_while_slack_may_retry_them() -> None:
    assert timedelta(hours=24) < EVENT_LIFETIME
    assert timedelta(minutes=5) < TRIGGER_LIFETIME


class Requests:
    """Processes that get requests; `acted` has what they did."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.store = InMemoryStore()
        self.process = Once(self.clock, self.store)
        self.other_process = Once(self.clock, self.store)
        self.lone_process = Once(self.clock, self.store, alone=True)

    async def is_new(self, once: Once | None = None, **body: Any) -> bool:
        return await (once or self.process).is_first(body)


async def test_a_request_is_remembered_for_its_lifetime_and_repeats_do_not_extend_it() -> None:
    requests = Requests()
    assert await requests.is_new(event_id="Ev1")
    requests.clock.advance(EVENT_LIFETIME.total_seconds() - 1)
    assert not await requests.is_new(requests.other_process, event_id="Ev1")
    requests.clock.advance(2)
    assert await requests.is_new(Once(requests.clock, requests.store), event_id="Ev1")


async def test_a_single_process_handles_each_request_once_without_a_database() -> None:
    requests = Requests()
    requests.store.unavailable = "no database"
    assert await requests.is_new(requests.lone_process, trigger_id="a")
    assert not await requests.is_new(requests.lone_process, trigger_id="a")


async def test_a_process_remembers_a_limited_number_of_requests(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bot.slack.background.MOST_REMEMBERED", 3)
    requests = Requests()
    requests.store.unavailable = "no database"
    for name in "abcd":
        assert await requests.is_new(requests.lone_process, trigger_id=name)
    assert not await requests.is_new(requests.lone_process, trigger_id="b")
    assert await requests.is_new(requests.lone_process, trigger_id="a")
