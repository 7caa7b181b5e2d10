"""Timed pauses end once, however many processes check the timers."""

import asyncio
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from typing_extensions import override

from bot.acts.asked import Asked
from bot.acts.check_permission import CheckPermission
from bot.acts.group_act import EVERY_ACT, GroupAct, GroupOutcome
from bot.acts.group_acts import GroupActs
from bot.acts.record import Action, ActResult, AuditSelection
from bot.acts.recording import RecordActs
from bot.acts.rows import Audit
from bot.freezes.freezing import FreezeQueue
from bot.groups.acting import ActOnGroups
from bot.kernel.actor import Caller, Origin
from bot.kernel.durations import For, Until
from bot.kernel.groups import Group
from bot.kernel.repository import RepositoryName
from bot.merge_queue.port import OnAnswer, UnclearChange, ignore
from bot.pauses.ending import LEASE, ExpirePauses, WatchClock, due_lease
from bot.pauses.group_work import GroupWork, ignore_progress
from bot.pauses.outcomes import PauseChange
from bot.pauses.pausing import PauseQueue
from bot.pauses.resuming import ResumeQueue
from bot.pauses.rows import Pauses, is_paused
from bot.store.coordination import Leases
from bot.store.lease_values import DUE_LEASE
from bot.store.transactions import Store
from tests.support.clock import NOON, MovedClock
from tests.support.directories import FakeChannels, FakePeople
from tests.support.loops import unsubscribed
from tests.support.make import ALICE, API, SITE, make_configured
from tests.support.merge_queue import Call, FakeMergeQueue
from tests.support.transactions import begin
from tests.support.waiting import until_true

HALF_HOUR = timedelta(minutes=30)
CALLER = Caller(ALICE, Origin.COMMAND, "C1")


class Process:
    """A bot on the shared database, service and clock."""

    def __init__(self, name: str, store: Store, service: FakeMergeQueue, clock: MovedClock) -> None:
        check = CheckPermission(FakePeople(), make_configured())
        acts = RecordActs(store, clock, FakeChannels(), check, unsubscribed, is_paused)
        self.pausing = PauseQueue(service, acts)
        resuming = ResumeQueue(service, acts)
        work = GroupWork(acts)
        self.groups = ActOnGroups(self.pausing, resuming, FreezeQueue(service, acts), work)
        lease = due_lease(name)
        self.expiry = ExpirePauses(resuming, work, lease, lambda: 0.5)
        self.watch = WatchClock(store, clock, lambda: None)

    async def pause(self, repository: RepositoryName, length: timedelta = HALF_HOUR) -> None:
        await self.pausing.run(CALLER, repository, "deploying", lasting=For(length))

    async def pause_group(self, *names: RepositoryName) -> None:
        asked = Asked("deploying", For(HALF_HOUR))
        group = Group("release", names)
        act = GroupAct.by(CALLER, NOON, Action.PAUSE, group, asked)
        await self.groups.act(act, ignore_progress)

    async def expire(self) -> None:
        """Process what is due, and wait until it is done."""
        await self.watch.run()
        await self.expiry.run()
        await self.expiry.drain()


@dataclass
class HeldService(FakeMergeQueue):
    """Blocks reads of the pauses of `held`."""

    asked: asyncio.Event = field(default_factory=asyncio.Event)
    answers: asyncio.Event = field(default_factory=asyncio.Event)
    held: Collection[str] = ()

    @override
    def __post_init__(self) -> None:
        super().__post_init__()
        self.before_answer = self._hold

    async def _hold(self, call: Call) -> None:
        if call.method == "current_pause" and call.repository in self.held:
            self.asked.set()
            await self.answers.wait()


class RecordedClock(MovedClock):
    """Records when somebody waits, for example for a lock."""

    def __init__(self) -> None:
        super().__init__()
        self.waited = asyncio.Event()

    @override
    async def sleep(self, seconds: float) -> None:
        self.waited.set()
        await super().sleep(seconds)


async def resumed(store: Store) -> list[RepositoryName]:
    """What the audit says was resumed, in order of the names."""
    with begin(store) as transaction:
        records = Audit(transaction).oldest(AuditSelection(), 1000)
    return sorted(
        record.repository
        for record in records
        if record.action is Action.RESUME and record.result is ActResult.DONE
    )


def latest_act(store: Store) -> GroupAct:
    with begin(store) as transaction:
        act = GroupActs(transaction).latest("release", EVERY_ACT)
    assert act is not None
    return act


async def test_two_processes_that_check_together_resume_each_queue_once(store: Store) -> None:
    clock = MovedClock()
    service = FakeMergeQueue((SITE, API))
    one, other = (Process(name, store, service, clock) for name in ("one", "other"))
    await one.pause(SITE)
    await other.pause(API)
    clock.advance(HALF_HOUR.total_seconds() - 10)
    await asyncio.gather(one.expire(), other.expire())
    assert await resumed(store) == []

    clock.advance(11)
    for _ in range(2):
        await asyncio.gather(one.expire(), other.expire())

    assert await resumed(store) == [API, SITE]
    assert len(service.called("resume")) == 2


async def test_a_process_that_hung_while_resuming_resumes_nothing_twice(store: Store) -> None:
    clock = MovedClock()
    service = FakeMergeQueue((SITE,))
    one, other = (Process(name, store, service, clock) for name in ("one", "other"))
    await one.pause(SITE)
    clock.advance(HALF_HOUR.total_seconds() + 1)
    with begin(store) as transaction:
        # The lease of a process that is stopped just after it took the lease.
        Leases(transaction).claim(DUE_LEASE, holder="hung", now=clock.now(), lifetime=LEASE)
    await asyncio.gather(one.expire(), other.expire())
    assert await resumed(store) == []

    clock.advance(LEASE.total_seconds() + 1)
    await asyncio.gather(one.expire(), other.expire())

    assert await resumed(store) == [SITE]
    assert len(service.called("resume")) == 1


async def test_a_group_checked_by_two_processes_is_reported_in_one_post(store: Store) -> None:
    clock = MovedClock()
    service = FakeMergeQueue((SITE, API))
    one, other = (Process(name, store, service, clock) for name in ("one", "other"))
    await one.pause_group(SITE, API)
    clock.advance(HALF_HOUR.total_seconds() + 60)

    for _ in range(2):
        await asyncio.gather(one.expire(), other.expire())

    assert await resumed(store) == [API, SITE]
    with begin(store) as transaction:
        assert Pauses(transaction).of_group("release") == []
    act = latest_act(store)
    assert (act.action, act.origin, act.actor.name) == (Action.RESUME, Origin.TIMER, ALICE.name)
    assert act.has_changed
    assert act.left_to_try == ()


@dataclass
class SlowService(FakeMergeQueue):
    """Takes longer to resume the first queue than a lease lasts."""

    passes: Callable[[float], None] | None = None

    @override
    async def resume(
        self,
        repository: RepositoryName,
        *,
        on_answer: OnAnswer = ignore,
        may_send: Callable[[], bool] | None = None,
    ) -> bool | UnclearChange:
        passes = self.passes
        self.passes = None
        if passes is not None:
            passes(LEASE.total_seconds() + 1)
        return await super().resume(repository, on_answer=on_answer)


async def test_a_group_that_resumes_slower_than_a_lease_is_posted_as_resumed(store: Store) -> None:
    clock = MovedClock()
    service = SlowService((SITE, API))
    one, other = (Process(name, store, service, clock) for name in ("one", "other"))
    await one.pause_group(SITE, API)
    clock.advance(HALF_HOUR.total_seconds() + 60)
    service.passes = clock.advance

    await one.expire()
    await other.expire()

    assert await resumed(store) == [API, SITE]
    assert [result.outcome for result in latest_act(store).results] == [GroupOutcome.CHANGED] * 2


@pytest.mark.parametrize("together", [False, True])
async def test_a_pause_being_extended_at_its_end_time_is_not_resumed(
    store: Store, *, together: bool
) -> None:
    """The extension gets the lock first and has its new end confirmed."""
    clock = RecordedClock()
    service = HeldService((SITE, API))
    one, other = (Process(name, store, service, clock) for name in ("one", "other"))
    if together:
        await one.pause_group(SITE, API)
    else:
        await one.pause(SITE)
    clock.advance(HALF_HOUR.total_seconds() - 1)
    service.held = (SITE, API)
    extending = asyncio.create_task(one.pausing.extend(CALLER, SITE, For(HALF_HOUR)))
    await service.asked.wait()
    service.held = ()
    clock.advance(2)
    expiring = asyncio.create_task(other.expire())
    await clock.waited.wait()
    service.answers.set()
    assert isinstance(await extending, PauseChange)
    await expiring

    assert SITE in service.pauses
    assert await resumed(store) == ([API] if together else [])
    clock.advance(HALF_HOUR.total_seconds() + 1)
    await other.expire()
    assert SITE in await resumed(store)


@pytest.mark.parametrize("together", [False, True])
async def test_a_timer_does_not_wait_for_slow_ones(store: Store, *, together: bool) -> None:
    """Neither for those due earlier nor for those due at the same moment."""
    clock = MovedClock()
    slow = tuple(RepositoryName(f"acme/slow-{number}") for number in range(2))
    same = RepositoryName("acme/same")
    later = RepositoryName("acme/later")
    service = HeldService((*slow, same, later), held=slow)
    service.answers.set()
    process = Process("one", store, service, clock)
    if together:
        await process.pause_group(*slow)
    else:
        for name in slow:
            await process.pause(name)
    await process.pause(same)
    await process.pause(later, HALF_HOUR + timedelta(minutes=1))
    service.answers.clear()

    clock.advance(HALF_HOUR.total_seconds() + 1)
    await until_true(lambda: _has_resumed(process, store, same), "what was due at the same moment")
    clock.advance(60)
    await until_true(lambda: _has_resumed(process, store, later), "what was due later")

    assert await resumed(store) == [later, same]
    service.answers.set()
    await process.expiry.drain()
    assert await resumed(store) == sorted([later, same, *slow])
    assert len(service.called("resume")) == 4


async def _has_resumed(process: Process, store: Store, repository: RepositoryName) -> bool:
    """Checks every second, like the scheduler."""
    await process.expiry.run()
    return repository in await resumed(store)


HOUR = timedelta(hours=1).total_seconds()


@pytest.mark.parametrize("jump", [HOUR, -HOUR])
async def test_a_paused_group_ends_at_its_time_when_the_clock_jumps(
    store: Store, jump: float
) -> None:
    clock = MovedClock()
    service = FakeMergeQueue((SITE, API))
    process = Process("one", store, service, clock)
    await process.pause_group(SITE, API)
    await process.expire()
    end = latest_act(store).resumes_at
    assert end is not None
    clock.jump(jump)
    await process.expire()
    assert await resumed(store) == ([API, SITE] if clock.now() > end else [])

    clock.advance(max(0, (end - clock.now()).total_seconds()) + 1)
    await process.expire()

    assert await resumed(store) == [API, SITE]
    assert latest_act(store).resumes_at == end


async def test_a_pause_until_a_time_of_day_follows_the_wall_clock(store: Store) -> None:
    clock = MovedClock()
    service = FakeMergeQueue((SITE,))
    process = Process("one", store, service, clock)
    end = (clock.now() + timedelta(hours=2)).replace(minute=0, second=0, microsecond=0)
    until_then = Until(end.time(), end.date(), "UTC")
    await process.pausing.run(CALLER, SITE, "deploying", lasting=until_then)
    await process.expire()

    clock.jump((end - clock.now()).total_seconds() - 60)
    await process.expire()
    assert await resumed(store) == []
    clock.advance(61)
    await process.expire()

    assert await resumed(store) == [SITE]
