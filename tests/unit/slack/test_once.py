"""When two requests are the same, and how long they are remembered."""

from datetime import timedelta
from typing import Any

import pytest

from bot.domain.errors import StoreUnavailable
from bot.slack.background import EVENT_LIFETIME, TRIGGER_LIFETIME, Once, request_key
from tests.support.clock import FakeClock
from tests.support.store import InMemoryStore

EVENT = {"event_id": "Ev1", "event": {"type": "x"}}
CLICK = {"trigger_id": "12345.98765.abcd", "user": {"id": "U1"}, "actions": []}


def test_a_key_is_the_same_for_each_delivery_of_a_request_and_reveals_no_trigger() -> None:
    bodies: list[dict[str, Any]] = [EVENT, CLICK]
    keys = [str(request_key(body)) for body in bodies]
    assert keys == [request_key({**body, "retry": 1}) for body in bodies]
    assert "12345" not in keys[1]
    others = (EVENT | {"event_id": "Ev2"}, CLICK | {"trigger_id": "12345.98766.abcd"})
    assert len({*keys, *map(request_key, others)}) == 4


@pytest.mark.parametrize("body", [{"type": "view_closed"}, {"trigger_id": 7, "event_id": None}])
def test_a_request_without_identity_has_no_key(body: dict[str, Any]) -> None:
    assert request_key(body) is None


def test_requests_are_remembered_while_slack_may_retry_them() -> None:
    assert timedelta(hours=24) < EVENT_LIFETIME
    assert timedelta(minutes=5) < TRIGGER_LIFETIME


async def test_a_request_is_remembered_for_its_lifetime_and_repeats_do_not_extend_it() -> None:
    clock, store = FakeClock(), InMemoryStore()
    assert await Once(clock, store).is_first(EVENT)
    clock.advance(EVENT_LIFETIME.total_seconds() - 1)
    assert not await Once(clock, store).is_first(EVENT)
    clock.advance(2)
    assert await Once(clock, store).is_first(EVENT)


async def test_a_request_that_the_database_could_not_judge_may_come_again() -> None:
    store = InMemoryStore()
    once = Once(FakeClock(), store)
    store.unavailable = "no database"
    with pytest.raises(StoreUnavailable):
        await once.is_first(EVENT)
    store.unavailable = None
    assert await once.is_first(EVENT)
    assert not await once.is_first(EVENT)


async def test_a_single_process_remembers_its_last_requests_without_a_database(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bot.slack.background.MOST_REMEMBERED", 3)
    store = InMemoryStore()
    store.unavailable = "no database"
    once = Once(FakeClock(), store, alone=True)
    for name in "abcd":
        assert await once.is_first({"trigger_id": name})
    assert not await once.is_first({"trigger_id": "b"})
    assert await once.is_first({"trigger_id": "a"})
