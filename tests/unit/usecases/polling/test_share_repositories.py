"""Repositories are shared out evenly, and anew when a worker comes, goes or hangs."""

import asyncio
from contextlib import AsyncExitStack

import pytest
from hypothesis import given, strategies as st

from bot.domain.errors import StoreUnavailable
from bot.domain.leases import POLL_LEASES, share_of
from bot.domain.repository import RepositoryName
from bot.store.engines import IDLE_SECONDS
from bot.usecases.polling.share_repositories import (
    ALIVE,
    SHARE_SECONDS,
    ShareRepositories,
    follow,
    give_up,
)
from bot.usecases.tasks import POLL_REQUESTS
from tests.support.clock import FakeClock
from tests.support.loops import Loop
from tests.support.make import make_configured
from tests.support.merge_queue import FakeMergeQueue
from tests.support.store import InMemoryDatabase, InMemoryStore

REPOSITORIES = tuple(RepositoryName(f"acme/r{number}") for number in range(8))
SOON_SECONDS = 15
INTERVAL = 10


class Worker:
    """One process of several on a database, a second at a time."""

    def __init__(self, holder: str, clock: FakeClock, database: InMemoryDatabase) -> None:
        self.store = InMemoryStore(database)
        self.merge_queue = FakeMergeQueue(REPOSITORIES, clock=clock)
        self.polls = Loop(self.store, self.merge_queue, clock, REPOSITORIES, holder).only_logs()
        self.configured = make_configured(*REPOSITORIES)
        self.share = ShareRepositories(self.store, clock, self.polls, self.configured, holder)

    async def second(self) -> None:
        await self.share.run()
        await self.polls.run()
        await self.polls.drain()

    def polled(self) -> set[RepositoryName]:
        found = {call.repository for call in self.merge_queue.called("event_page")}
        self.merge_queue.calls.clear()
        return {RepositoryName(str(name)) for name in found}

    async def stop(self) -> None:
        await self.polls.release()
        await self.share.leave()


class Workers:
    def __init__(self) -> None:
        self.clock, self.database = FakeClock(), InMemoryDatabase()

    def start(self, holder: str) -> Worker:
        return Worker(holder, self.clock, self.database)

    async def seconds(self, number: int, *workers: Worker) -> None:
        for _ in range(number):
            self.clock.advance(1)
            for one in workers:
                await one.second()

    def held_by(self, holder: str) -> set[RepositoryName]:
        return {
            RepositoryName(name.removeprefix(POLL_LEASES))
            for name, lease in self.database.contents.leases.items()
            if name.startswith(POLL_LEASES)
            and lease.holder == holder
            and lease.expires_at > self.clock.now()
        }

    async def shares(self, *workers: Worker) -> list[set[RepositoryName]]:
        """What each polls in one interval."""
        for one in workers:
            one.polled()
        await self.seconds(INTERVAL, *workers)
        return [one.polled() for one in workers]


def assert_shared_out(shares: list[set[RepositoryName]]) -> None:
    assert sorted(name for share in shares for name in share) == sorted(REPOSITORIES)
    most = -(-len(REPOSITORIES) // len(shares))
    assert [len(share) <= most for share in shares] == [True] * len(shares)


async def test_a_new_worker_gets_its_share_soon_and_leaves_it_to_be_polled_at_once() -> None:
    workers = Workers()
    one = workers.start("one")
    await workers.seconds(INTERVAL, one)
    two = workers.start("two")
    await workers.seconds(SOON_SECONDS - INTERVAL, one, two)
    assert_shared_out(await workers.shares(one, two))

    await two.stop()
    one.polled()
    await workers.seconds(2, one)
    assert len(one.polled()) >= len(REPOSITORIES) // 2
    assert_shared_out(await workers.shares(one))


async def test_a_hanging_workers_share_is_polled_within_15_seconds() -> None:
    workers = Workers()
    one, two = workers.start("one"), workers.start("two")
    await workers.seconds(2 * INTERVAL, one, two)
    theirs = set(two.polls.followed)
    one.polled()
    await workers.seconds(SOON_SECONDS, one)
    assert theirs
    assert theirs <= one.polled()
    assert_shared_out(await workers.shares(one))
    await workers.seconds(SOON_SECONDS - INTERVAL, one, two)
    assert_shared_out(await workers.shares(one, two))


async def test_a_repository_being_polled_is_released_after_the_poll() -> None:
    workers = Workers()
    one, two = workers.start("one"), workers.start("two")
    async with AsyncExitStack() as turns:
        for _ in range(POLL_REQUESTS):
            await turns.enter_async_context(one.polls.concurrency.slot())
        await one.share.run()
        await one.polls.run()
        assert len(one.polls.tasks) == len(REPOSITORIES)
        await two.share.run()
        await one.share.run()
        names = set(two.polls.followed)
        assert workers.held_by("one") == set(REPOSITORIES)
    await one.polls.drain()
    await one.share.run()
    assert workers.held_by("one") == set(REPOSITORIES) - names


async def test_releasing_a_repository_during_a_tick_is_harmless() -> None:
    workers = Workers()
    one = workers.start("one")
    await workers.seconds(1, one)
    workers.clock.advance(INTERVAL)
    async with workers.database.turn:
        # The tick waits for the store; meanwhile all is left to others.
        tick = asyncio.create_task(one.polls.run())
        await asyncio.sleep(0)
        follow(one.polls, (), REPOSITORIES)
        giving_up = asyncio.create_task(give_up(one.polls))
        await asyncio.sleep(0)
    await asyncio.gather(tick, giving_up)
    await one.polls.drain()
    await give_up(one.polls)
    assert workers.held_by("one") == set()


async def test_a_long_tick_stops_no_heartbeats_and_an_unavailable_store_changes_no_shares() -> None:
    workers = Workers()
    one, two = workers.start("one"), workers.start("two")
    await workers.seconds(2 * INTERVAL, one, two)
    # Until the tick of a slow machine has ended, it has this.
    async with one.polls.turn, asyncio.timeout(10):
        for _ in range(4):
            workers.clock.advance(ALIVE.total_seconds() / 3)
            await one.share.run()
            await two.share.run()
    assert two.share.known == {"one", "two"}

    before = list(one.polls.followed)
    one.store.unavailable = "gone"
    with pytest.raises(StoreUnavailable):
        await one.share.run()
    assert list(one.polls.followed) == before


def test_locks_of_a_stopped_process_are_free_when_others_take_over() -> None:
    assert ALIVE.total_seconds() - SHARE_SECONDS > IDLE_SECONDS
    assert ALIVE.total_seconds() + 2 * SHARE_SECONDS < SOON_SECONDS


async def test_reloaded_repositories_are_shared_out_and_removed_ones_released() -> None:
    """The polls of both workers together, whichever of them reloads first."""
    workers = Workers()
    one, two = workers.start("one"), workers.start("two")
    await workers.seconds(SOON_SECONDS, one, two)
    removed, kept = set(REPOSITORIES[:3]), REPOSITORIES[3:]
    added = RepositoryName("acme/new")
    for worker in (one, two):
        worker.configured.replace(make_configured(*kept, added))
        await workers.seconds(1, one, two)
    await workers.seconds(SOON_SECONDS, one, two)
    shares = await workers.shares(one, two)
    assert sorted(name for share in shares for name in share) == sorted({*kept, added})
    assert not removed & (workers.held_by("one") | workers.held_by("two"))


async def test_a_repository_followed_during_a_tick_waits_for_the_next() -> None:
    workers = Workers()
    one = workers.start("one")
    polls = Loop(one.store, one.merge_queue, workers.clock, REPOSITORIES, "one").with_queues()
    follow(polls, REPOSITORIES[:2], REPOSITORIES)
    tick = asyncio.create_task(polls.run())
    # The tick is reading the pauses on record.
    await asyncio.sleep(0)
    follow(polls, REPOSITORIES, REPOSITORIES)
    await tick
    await polls.drain()
    assert one.polled() == set(REPOSITORIES[:2])
    await polls.run()
    await polls.drain()
    assert one.polled() == set(REPOSITORIES[2:])


MANY = [RepositoryName(f"acme/r{number}") for number in range(97)]
HOLDERS = st.sets(st.text(min_size=1, max_size=8), min_size=1, max_size=7)


def shares(workers: set[str]) -> dict[str, frozenset[RepositoryName]]:
    return {one: share_of(one, workers, MANY) for one in workers}


@given(workers=HOLDERS)
def test_each_repository_has_one_worker_and_no_worker_exceeds_its_share(workers: set[str]) -> None:
    found = shares(workers)
    assert sorted(name for share in found.values() for name in share) == sorted(MANY)
    assert max(len(share) for share in found.values()) <= -(-len(MANY) // len(workers))
    assert share_of("who does not poll", workers, MANY) == frozenset()
    for one in workers:
        assert share_of(one, workers, []) == frozenset()
        # The order of both changes nothing.
        assert share_of(one, sorted(workers), MANY[::-1]) == found[one]
        assert share_of(one, sorted(workers, reverse=True), MANY) == found[one]


def test_most_repositories_stay_where_they_are_when_a_worker_joins() -> None:
    before, after = shares({"a", "b", "c"}), shares({"a", "b", "c", "d"})
    stayed = sum(len(before[one] & after[one]) for one in before)
    # A fourth has to move; the room of each moves a few more.
    assert stayed >= len(MANY) * 0.55
