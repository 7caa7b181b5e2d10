"""Work after an acknowledgement is counted, bounded and drained; a repeated request is known."""

import asyncio
import logging
from contextvars import ContextVar
from datetime import timedelta
from typing import Any

import pytest

from bot.desk.background import EVENT_LIFETIME, TRIGGER_LIFETIME, Inbox, Once
from bot.slack.payloads import request_key
from bot.store.errors import StoreUnavailable
from tests.support.clock import FakeClock
from tests.support.store import InMemoryStore


async def _wait(event: asyncio.Event) -> None:
    await event.wait()


async def test_draining_waits_for_running_work() -> None:
    inbox = Inbox()
    done = asyncio.Event()
    ended = asyncio.Event()

    async def work() -> None:
        await done.wait()
        ended.set()

    inbox.hand_over(work())
    draining = asyncio.create_task(inbox.drain(5))
    await asyncio.sleep(0)
    assert not draining.done()
    done.set()
    assert await draining == 0
    assert ended.is_set()


@pytest.mark.parametrize("seconds", [0.01, -1])
async def test_draining_cancels_slow_work_which_may_still_notify_its_person(seconds: float) -> None:
    """With -1, the time is over before the work had its first turn."""
    inbox = Inbox()
    never = asyncio.Event()
    reported = list[str]()

    async def work() -> None:
        try:
            await never.wait()
        except asyncio.CancelledError:
            reported.append("cut off")
            raise

    inbox.hand_over(work())
    assert await inbox.drain(seconds) == 1
    assert (reported, len(inbox)) == (["cut off"], 0)


async def test_failed_work_is_logged_once_and_stops_no_other(
    caplog: pytest.LogCaptureFixture,
) -> None:
    inbox = Inbox()
    done = asyncio.Event()

    async def fail() -> None:
        await done.wait()
        raise RuntimeError("a defect")

    inbox.hand_over(fail())
    inbox.hand_over(_wait(done))
    done.set()
    assert await inbox.drain(5) == 0
    logged = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert [getattr(log_record, "action", None) for log_record in logged] == ["inbox_failed"]


async def test_work_waits_for_quiet_in_its_own_context() -> None:
    """Acknowledgements go first; each work sees the context of its own request."""
    inbox = Inbox(quiet_seconds=3600, latest_seconds=3600)
    seen = list[str]()
    name: ContextVar[str] = ContextVar("name")

    async def work() -> None:
        seen.append(name.get())

    for word in ("a", "b", "c"):
        name.set(word)
        inbox.hand_over(work())
        await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert (seen, len(inbox)) == ([], 3)
    await inbox.drain(30)
    assert (seen, len(inbox)) == (["a", "b", "c"], 0)


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
    clock = FakeClock()
    store = InMemoryStore()
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


async def test_a_single_process_remembers_its_last_requests_without_a_database() -> None:
    store = InMemoryStore()
    store.unavailable = "no database"
    once = Once(FakeClock(), store, alone=True, most=3)
    for name in "abcd":
        assert await once.is_first({"trigger_id": name})
    assert not await once.is_first({"trigger_id": "b"})
    assert await once.is_first({"trigger_id": "a"})
