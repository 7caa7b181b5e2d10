"""Which pause a timer ends, whatever the service reports, and what operators read of clocks."""

import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.acts.record import Action, AuditSelection
from bot.acts.rows import Audit
from bot.kernel.actor import Caller, Origin
from bot.kernel.durations import For
from bot.merge_queue.errors import MergeQueueUnavailable
from bot.pauses.ending import ExpirePauses, WatchClock, due_lease
from bot.pauses.group_work import GroupWork
from bot.pauses.outcomes import (
    NotPaused,
    NotYetResumed,
    OtherPause,
    Overtaken,
    PauseChange,
    TimedOutcome,
)
from bot.pauses.pause import PauseRecord
from bot.pauses.rows import Pauses
from bot.posts.delivery import SubjectKind
from bot.store.transactions import Store
from tests.support.clock import FakeClock
from tests.support.desk import Desk, World
from tests.support.disturbances import Disturbance, DisturbedStore
from tests.support.make import ALICE, BOB, CHANNEL, SITE
from tests.support.store import InMemoryStore
from tests.support.transactions import begin

LASTING = For(timedelta(minutes=45))


async def pause(desk: Desk) -> None:
    caller = Caller(ALICE, Origin.COMMAND, CHANNEL)
    await desk.pausing.run(caller, SITE, "Deploying", lasting=LASTING)
    desk.world.clock.advance(60)


async def running(desk: Desk) -> list[PauseRecord]:
    with begin(InMemoryStore(desk.world.database)) as transaction:
        return list(Pauses(transaction).due(desk.world.clock.now() + timedelta(days=1), 10))


def set_by(timed: PauseRecord) -> str | None:
    return timed.timer.set_by.user_id if timed.timer is not None else None


async def run_timer(desk: Desk) -> TimedOutcome:
    (timed,) = await running(desk)
    desk.world.clock.advance(45 * 60)
    store = DisturbedStore(InMemoryStore(desk.world.database), desk.steps, "lifting")
    lifting = ExpirePauses(
        desk.resuming,
        GroupWork(replace(desk.acts, store=store)),
        due_lease("one"),
        lambda: 0.5,
    )
    return await lifting.resume(timed)


@pytest.mark.parametrize("is_extended", [False, True])
async def test_a_pause_that_was_changed_elsewhere_is_not_resumed_by_its_timer(
    *, is_extended: bool
) -> None:
    """Neither alice's own, nor carol's, which alice extended."""
    desk = Desk(World(keeps_time=True))
    if is_extended:
        desk.world.service.paused_by("carol", "Night")
        await desk.pausing.extend(Caller(ALICE, Origin.BUTTON, CHANNEL), SITE, LASTING)
    else:
        await pause(desk)
    theirs = desk.world.service.paused_by("dave", "CI is down, do not merge")

    outcome = await run_timer(desk)

    assert isinstance(outcome, OtherPause)
    assert (outcome.known.line.by, outcome.known.line.reason) == (None, "CI is down, do not merge")
    assert desk.world.service.pauses[SITE] == theirs


@pytest.mark.parametrize("is_paused_again", [False, True])
async def test_a_timer_whose_pause_ended_is_over_and_ignores_the_next_pause(
    *, is_paused_again: bool
) -> None:
    desk = Desk(World(is_silent=True))
    await desk.turns(2)
    await pause(desk)
    desk.world.service.pauses.clear()
    while desk.world.pauses()[0].is_open:
        await desk.turns(15)
    theirs = desk.world.service.paused_by("carol", "Night") if is_paused_again else None

    assert isinstance(await run_timer(desk), OtherPause if is_paused_again else NotPaused)

    assert desk.world.service.pauses.get(SITE) == theirs
    assert await running(desk) == []
    with begin(InMemoryStore(desk.world.database)) as transaction:
        records = Audit(transaction).oldest(AuditSelection(), 100)
    assert Action.RESUME not in {record.action for record in records}
    subjects = {
        delivery.subject.kind for delivery in desk.world.database.contents.deliveries.values()
    }
    assert SubjectKind.ACT not in subjects


async def test_a_pause_extended_while_its_timer_gives_up_ends_at_its_new_end() -> None:
    desk = Desk(World(keeps_time=True))
    await pause(desk)
    desk.world.service.paused_by("carol", "CI is down")
    other = Desk(desk.world, "another process")

    async def extend() -> None:
        await other.pausing.extend(Caller(BOB, Origin.BUTTON, CHANNEL), SITE, LASTING)

    desk.steps.arm(Disturbance("freeze", 1, extend, place="lifting begin"))
    await run_timer(desk)

    (timed,) = await running(desk)
    assert set_by(timed) == BOB.user_id
    assert timed.resumes_at == desk.world.clock.now() + LASTING.length


@pytest.mark.parametrize("place", ["acting begin", "lifting begin"])
async def test_a_pause_whose_end_is_removed_when_due_stays(place: str) -> None:
    """While the timer waits for its turn, and after it asked a service that did not answer."""
    desk = Desk(World(keeps_time=True))
    await pause(desk)
    other = Desk(desk.world, "another process")

    async def replace_it() -> None:
        await other.pause("CI is down", BOB, replacing=desk.world.service.pauses[SITE])

    desk.steps.arm(Disturbance("freeze", 1, replace_it, place=place))
    if place == "lifting begin":
        desk.world.service.fail_next(MergeQueueUnavailable("down"))
    match await run_timer(desk):
        case Overtaken() | NotYetResumed(MergeQueueUnavailable()):
            pass
        case outcome:
            raise AssertionError(outcome)

    assert await running(desk) == []


async def test_a_pause_replaced_while_its_end_is_due_ends_at_that_end() -> None:
    """Bob keeps the end, and his timer is another one than the one that waits for its turn."""
    desk = Desk()
    await pause(desk)
    other = Desk(desk.world, "another process")

    async def replace_it() -> None:
        (alices,) = desk.world.pauses()
        bobs = Caller(BOB, Origin.BUTTON, CHANNEL)
        await other.pausing.change_reason(bobs, SITE, "CI is down", drawn=alices.drawn)

    desk.steps.arm(Disturbance("freeze", 1, replace_it, place="acting begin"))
    assert await run_timer(desk) == Overtaken()

    (timed,) = await running(desk)
    assert set_by(timed) == BOB.user_id
    assert isinstance(await run_timer(desk), PauseChange)
    assert SITE not in desk.world.service.pauses


def watching(
    store: Store, clock: FakeClock, service_ahead: Callable[[], timedelta | None] = lambda: None
) -> WatchClock:
    return WatchClock(store, clock, service_ahead)


def said(caplog: pytest.LogCaptureFixture) -> list[tuple[str, float]]:
    return [
        (getattr(record, "action", ""), getattr(record, "seconds", 0.0))
        for record in caplog.records
        if record.name == "bot.pauses.ending"
    ]


async def test_a_reason_that_is_changed_back_keeps_the_end_that_was_kept_with_it() -> None:
    """The service keeps the time of a changed pause, so it says again what it said at first."""
    desk = Desk(World(keeps_time=True))
    await pause(desk)
    for person, reason in ((BOB, "Night"), (ALICE, "Deploying")):
        (timed,) = await running(desk)
        caller = Caller(person, Origin.BUTTON, CHANNEL)
        await desk.pausing.change_reason(caller, SITE, reason, drawn=timed.drawn)
        desk.world.clock.advance(1)

    (timed,) = await running(desk)
    assert set_by(timed) == ALICE.user_id
    assert isinstance(await run_timer(desk), PauseChange)
    assert SITE not in desk.world.service.pauses


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
