"""RepositoryLocks: one action on a queue at a time, across processes."""

import asyncio
from datetime import timedelta

import pytest

from bot.acts.check_permission import CheckPermission
from bot.acts.errors import QueueBusy
from bot.acts.locks import RepositoryLocks
from bot.acts.recording import RecordActs
from bot.kernel.actor import Actor, Caller, Origin
from bot.kernel.clock import Clock
from bot.pauses.outcomes import AlreadyPaused, NotPaused, PauseChange
from bot.pauses.pausing import PauseQueue
from bot.pauses.resuming import ResumeQueue
from bot.pauses.rows import is_paused
from bot.runtime.clock import SystemClock
from bot.store.coordination import Leases
from bot.store.job_lease import JOB_LEASE, LEASE_PATIENCE
from bot.store.transactions import Store
from tests.support.clock import FakeClock
from tests.support.directories import FakeChannels, FakePeople
from tests.support.loops import unsubscribed
from tests.support.make import ALICE, API, BOB, SITE, make_configured
from tests.support.merge_queue import FakeMergeQueue
from tests.support.transactions import begin


async def hold(store: Store, clock: Clock, lifetime: timedelta) -> None:
    """Take the lock and never release it, like a process that died."""
    with begin(store) as transaction:
        claimed = Leases(transaction).claim(
            f"act:{SITE}", holder="dead", now=clock.now(), lifetime=lifetime
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
    await hold(store, clock, JOB_LEASE)
    async with RepositoryLocks(store, clock).of(SITE):
        assert 9 <= sum(clock.slept) <= 11

    clock = FakeClock()
    await hold(store, clock, timedelta(minutes=5))
    with pytest.raises(QueueBusy):
        async with RepositoryLocks(store, clock).of(SITE):
            pytest.fail("it was not our turn")
    assert round(sum(clock.slept)) >= LEASE_PATIENCE.total_seconds()


@pytest.mark.parametrize("is_one_process", [True, False])
async def test_people_wait_only_so_long_for_an_act_of_the_same_process_too(
    store: Store, *, is_one_process: bool
) -> None:
    clock = SystemClock()
    patience = timedelta(seconds=0.5)
    busy = RepositoryLocks(store, clock, patience=patience)
    other = busy if is_one_process else RepositoryLocks(store, clock, patience=patience)
    async with asyncio.timeout(30), busy.of(SITE):
        with pytest.raises(QueueBusy):
            async with other.of(SITE):
                pytest.fail("it was not our turn")
    async with other.of(SITE):
        pass


async def test_the_wait_for_another_process_begins_with_that_for_the_own(store: Store) -> None:
    """Two people, one after the other, wait for a process that died."""
    clock = FakeClock()
    await hold(store, clock, timedelta(minutes=5))
    locks = RepositoryLocks(store, clock)

    async def wait() -> None:
        with pytest.raises(QueueBusy):
            async with locks.of(SITE):
                pytest.fail("it was not our turn")

    await asyncio.gather(wait(), wait())

    assert sum(clock.slept) < LEASE_PATIENCE.total_seconds() + 1


async def test_a_long_action_keeps_its_lock(store: Store) -> None:
    clock = FakeClock()
    async with RepositoryLocks(store, clock, renewed_seconds=0.01).of(SITE):
        for _ in range(3):
            clock.advance(JOB_LEASE.total_seconds() - 1)
            assert await is_renewed(store, clock)


async def is_renewed(store: Store, clock: FakeClock) -> bool:
    """Whether the lease is renewed soon, for its whole length from now."""
    for _ in range(3000):
        with begin(store) as transaction:
            taken = Leases(transaction).claim(
                f"act:{SITE}",
                holder="another",
                now=clock.now() + JOB_LEASE - timedelta(milliseconds=1),
                lifetime=timedelta(),
            )
            if taken is not None:
                Leases(transaction).release(taken)
        if taken is None:
            return True
        await asyncio.sleep(0.01)
    return False


class Process:
    """A bot on the shared database and service."""

    def __init__(self, store: Store, service: FakeMergeQueue) -> None:
        clock = SystemClock()
        check = CheckPermission(FakePeople(), make_configured())
        acts = RecordActs(store, clock, FakeChannels(), check, unsubscribed, is_paused)
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
    one = Process(store, service)
    other = Process(store, service)

    paused = await asyncio.gather(one.pause(ALICE), other.pause(BOB))
    assert {type(outcome) for outcome in paused} == {PauseChange, AlreadyPaused}
    (loser,) = [outcome for outcome in paused if isinstance(outcome, AlreadyPaused)]
    assert loser.known.line.by is not None
    assert service.pauses[SITE].reason == (
        f"{loser.known.line.by.name} has a reason (by {loser.known.line.by.name} via Slack)"
    )
    assert len(service.called("pause")) == 1

    resumed = await asyncio.gather(one.resume(ALICE), other.resume(BOB))
    assert {type(outcome) for outcome in resumed} == {PauseChange, NotPaused}
    assert len(service.called("resume")) == 1
