"""RepositoryLocks: one action on a queue at a time, across processes."""

import asyncio
from datetime import timedelta

import pytest

from bot.clock import SystemClock
from bot.domain.audit import Actor, Caller, Origin
from bot.domain.errors import QueueBusy
from bot.domain.pauses import AlreadyPaused, NotPaused, PauseChange
from bot.ports import Clock
from bot.store.transactions import Store
from bot.usecases.check_permission import CheckPermission
from bot.usecases.leases import LEASE, PATIENCE, RepositoryLocks
from bot.usecases.pausing.acts import ActLog
from bot.usecases.pausing.pause_queue import PauseQueue
from bot.usecases.pausing.resume_queue import ResumeQueue
from tests.support.clock import FakeClock
from tests.support.directories import FakeChannels, FakePeople
from tests.support.loops import unsubscribed
from tests.support.make import ALICE, API, BOB, SITE, make_configured
from tests.support.merge_queue import FakeMergeQueue
from tests.support.transactions import begin


async def hold(store: Store, clock: Clock, lifetime: timedelta) -> None:
    """Take the lock and never release it, like a process that died."""
    with begin(store) as transaction:
        claimed = transaction.leases.claim(
            [f"act:{SITE}"], holder="dead", now=clock.now(), lifetime=lifetime
        )
    assert claimed


async def test_two_processes_never_act_on_a_queue_at_once(store: Store) -> None:
    inside: list[str] = []
    seen: list[int] = []

    async def act(locks: RepositoryLocks) -> None:
        for _ in range(3):
            async with locks.of(SITE):
                inside.append(locks.holder)
                await asyncio.sleep(0.01)
                seen.append(len(inside))
                inside.pop()

    await asyncio.gather(*(act(RepositoryLocks(store, SystemClock())) for _ in range(2)))

    assert seen == [1] * 6


async def test_a_released_lock_and_those_of_other_queues_are_free_at_once(store: Store) -> None:
    clock = FakeClock()
    with pytest.raises(ZeroDivisionError):
        async with RepositoryLocks(store, clock).of(SITE):
            raise ZeroDivisionError
    for _ in range(3):
        async with RepositoryLocks(store, clock).of(SITE), RepositoryLocks(store, clock).of(API):
            assert clock.slept == []


async def test_a_dead_process_blocks_others_for_ten_seconds_and_people_wait_only_so_long(
    store: Store,
) -> None:
    clock = FakeClock()
    await hold(store, clock, LEASE)
    async with RepositoryLocks(store, clock).of(SITE):
        assert 9 <= sum(clock.slept) <= 11

    clock = FakeClock()
    await hold(store, clock, timedelta(minutes=5))
    with pytest.raises(QueueBusy):
        async with RepositoryLocks(store, clock).of(SITE):
            pytest.fail("it was not our turn")
    assert round(sum(clock.slept)) >= PATIENCE.total_seconds()


async def test_a_long_action_keeps_its_lock(store: Store) -> None:
    clock = FakeClock()
    async with RepositoryLocks(store, clock, renewed_seconds=0.01).of(SITE):
        for _ in range(3):
            clock.advance(LEASE.total_seconds() - 1)
            assert await is_renewed(store, clock)


async def is_renewed(store: Store, clock: FakeClock) -> bool:
    """Whether the lease is renewed soon, for its whole length from now."""
    for _ in range(3000):
        with begin(store) as transaction:
            taken = transaction.leases.claim(
                [f"act:{SITE}"],
                holder="another",
                now=clock.now() + LEASE - timedelta(milliseconds=1),
                lifetime=timedelta(),
            )
            transaction.leases.release(list(taken.values()))
        if not taken:
            return True
        await asyncio.sleep(0.01)
    return False


class Process:
    """A bot on the shared database and service."""

    def __init__(self, store: Store, service: FakeMergeQueue) -> None:
        clock = SystemClock()
        check = CheckPermission(FakePeople(), make_configured())
        acts = ActLog(store, clock, FakeChannels(), check, unsubscribed)
        self.pausing = PauseQueue(service, acts)
        self.resuming = ResumeQueue(service, acts)

    async def pause(self, actor: Actor) -> object:
        caller = Caller(actor, Origin.COMMAND, "C1")
        return await self.pausing.run(caller, SITE, f"{actor.name} has a reason")

    async def resume(self, actor: Actor) -> object:
        return await self.resuming.run(Caller(actor, Origin.COMMAND, "C1"), SITE)


async def test_two_actions_at_once_in_two_processes_each_report_the_true_state(
    store: Store,
) -> None:
    service = FakeMergeQueue((SITE,))
    one, other = Process(store, service), Process(store, service)

    paused = await asyncio.gather(one.pause(ALICE), other.pause(BOB))
    assert {type(outcome) for outcome in paused} == {PauseChange, AlreadyPaused}
    (loser,) = [outcome for outcome in paused if isinstance(outcome, AlreadyPaused)]
    assert loser.known.by is not None
    assert service.pauses[SITE].reason == (
        f"{loser.known.by.name} has a reason (by {loser.known.by.name} via Slack)"
    )
    assert len(service.called("pause")) == 1

    resumed = await asyncio.gather(one.resume(ALICE), other.resume(BOB))
    assert {type(outcome) for outcome in resumed} == {PauseChange, NotPaused}
    assert len(service.called("resume")) == 1
