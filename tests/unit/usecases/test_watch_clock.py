"""What operators read when the clock jumps, and when it is off."""

import logging
from collections.abc import Callable
from datetime import timedelta

import pytest

from bot.store.transactions import Store
from bot.usecases.pausing.timers import WatchClock, timers_lease
from tests.support.clock import FakeClock
from tests.support.store import InMemoryStore
from tests.support.transactions import begin


def watching(
    store: Store, clock: FakeClock, service_ahead: Callable[[], timedelta | None] = lambda: None
) -> WatchClock:
    lease, first_gap = timers_lease("this one"), timedelta(minutes=30)
    return WatchClock(store, clock, lease, lambda _: first_gap, service_ahead)


def said(caplog: pytest.LogCaptureFixture) -> list[tuple[str, float]]:
    return [
        (getattr(one, "action", ""), getattr(one, "seconds", 0.0))
        for one in caplog.records
        if one.name == "bot.usecases.pausing.timers"
    ]


@pytest.mark.parametrize("jump", [3600.0, -5.0])
async def test_a_jump_is_logged_once_and_remembered(
    jump: float, caplog: pytest.LogCaptureFixture
) -> None:
    clock, store = FakeClock(), InMemoryStore()
    watch = watching(store, clock)
    yesterday = clock.now() - timedelta(days=1)
    await watch.run()
    clock.advance(3600)
    await watch.run()
    clock.jump(jump)
    clock.advance(1)
    await watch.run()
    clock.advance(1)
    await watch.run()

    assert said(caplog) == [("clock_jumped", jump)]
    with begin(store) as transaction:
        (known,) = transaction.expiring_keys.jumps_since(yesterday)
    assert known == (clock.now() - timedelta(seconds=1), timedelta(seconds=jump))


async def test_a_clock_corrected_gradually_has_not_jumped(caplog: pytest.LogCaptureFixture) -> None:
    clock = FakeClock()
    watch = watching(InMemoryStore(), clock)
    for _ in range(100):
        clock.advance(1)
        clock.jump(0.5)
        await watch.run()
    assert said(caplog) == []


async def test_a_clock_more_than_a_minute_off_is_reported_when_it_begins_and_ends(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    service_ahead: list[timedelta | None] = [None]
    watch = watching(InMemoryStore(), FakeClock(), lambda: service_ahead[0])
    for seconds in (0, 60, -61, -3600, 61, 60, 0):
        service_ahead[0] = timedelta(seconds=seconds)
        await watch.run()
    assert said(caplog) == [("clock_off", 61.0), ("clock_right", -60.0)]
