"""Timers: one a pause, found by their time, and by the pause they are to lift."""

from dataclasses import replace
from datetime import timedelta

from bot.domain.pause_records import Timer, TimerState
from bot.store.transactions import Store
from tests.support.databases import TestDatabase
from tests.support.stored import NOW, SHOP, SITE, after
from tests.support.transactions import begin

TIMER = Timer(SITE, NOW, after(3600), after(3600), "U0ALICE", "alice", "C1")


async def save(store: Store, *timers: Timer) -> None:
    with begin(store) as transaction:
        for timer in timers:
            transaction.timers.save(timer)


async def test_a_timer_is_found_by_its_pause_whatever_the_precision(
    database: TestDatabase,
) -> None:
    await save(database.open_store(), TIMER)

    with begin(database.open_store()) as transaction:
        assert transaction.timers.of(SITE, NOW + timedelta(milliseconds=400)) == TIMER
        assert transaction.timers.of(SITE, after(1)) is None
        assert transaction.timers.of(SHOP, NOW) is None


async def test_a_pause_has_one_timer(store: Store) -> None:
    later = replace(TIMER, lifts_at=after(7200), due_at=after(7200), set_by_name="bob")
    await save(store, TIMER, later)

    with begin(store) as transaction:
        assert transaction.timers.of(SITE, NOW) == later
        assert transaction.timers.running([SITE, SHOP]) == [later]


async def test_only_running_timers_come_due_the_longest_due_first(store: Store) -> None:
    other = replace(TIMER, repository=SHOP, lifts_at=after(60), due_at=after(60))
    fired = replace(TIMER, paused_at=after(5), state=TimerState.FIRED)
    await save(store, TIMER, other, fired)

    with begin(store) as transaction:
        assert transaction.timers.due(after(59), 10) == []
        assert transaction.timers.due(after(3600), 10) == [other, TIMER]
        assert transaction.timers.due(after(3600), 1) == [other]
        assert transaction.timers.running([SITE]) == [TIMER]


async def test_a_timer_that_runs_is_never_deleted(store: Store) -> None:
    void = replace(TIMER, repository=SHOP, state=TimerState.VOID)
    await save(store, TIMER, void)

    with begin(store) as transaction:
        assert (transaction.prune(after(3600)))["pause_timers"] == 0
        assert (transaction.prune(after(9999)))["pause_timers"] == 1
        assert transaction.timers.of(SITE, NOW) == TIMER


async def test_of_two_timers_a_moment_apart_the_one_that_runs_is_found(store: Store) -> None:
    over = replace(TIMER, state=TimerState.VOID)
    moved = replace(TIMER, paused_at=TIMER.paused_at - timedelta(milliseconds=20))
    await save(store, over, moved)
    with begin(store) as transaction:
        assert transaction.timers.locked(SITE, moved.paused_at) == moved
        assert transaction.timers.of(SITE, over.paused_at) == moved
