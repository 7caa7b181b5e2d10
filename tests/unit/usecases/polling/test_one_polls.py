"""One process polls; another takes over when it stops, dies, freezes or loses its database.

In virtual time, against a service that answers in 250 ms.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from typing_extensions import override

from bot.channels.rows import Subscriptions
from bot.channels.subscription import Topic
from bot.feed.outage_observation import observation
from bot.feed.poll_repositories import ASKED_EVERY, POLL_TICK_SECONDS, POLLING_LEASE
from bot.kernel.repository import RepositoryName
from bot.merge_queue.event_records import EventPage
from bot.merge_queue.window import Window
from bot.store.engines import IDLE_SECONDS
from bot.store.errors import StoreUnavailable
from tests.support.clock import FakeClock
from tests.support.loops import Loop, fixed
from tests.support.make import make_configured, make_event, make_subscription
from tests.support.merge_queue import FakeMergeQueue
from tests.support.store import InMemoryDatabase, InMemoryStore
from tests.support.transactions import begin
from tests.support.virtual_time import VirtualClock, run_virtually

REPOSITORIES = tuple(RepositoryName(f"acme/r{number}") for number in range(12))
ANSWER_SECONDS = 0.25
EVENT_SECONDS = 0.25
SETTLE_SECONDS = 5.0
TAKEN_OVER_SECONDS = 15.0
FROZEN_SECONDS = 30.0


@dataclass
class SlowService(FakeMergeQueue):
    """Answers in 250 ms, or when its process is no longer frozen."""

    polled: Counter[RepositoryName] = field(default_factory=Counter)
    runs: asyncio.Event = field(default_factory=asyncio.Event)

    @override
    async def event_page(
        self,
        repository: RepositoryName,
        window: Window,
        *,
        types: object = (),
        cursor: str | None = None,
        **_filters: object,
    ) -> EventPage:
        self.polled[repository] += 1
        page = await super().event_page(repository, window, types=(), cursor=cursor)
        await asyncio.sleep(ANSWER_SECONDS)
        await self.runs.wait()
        return page


class Process:
    """What a process does to poll, until it ends."""

    def __init__(self, holder: str, world: "World") -> None:
        self.holder = holder
        self.store = InMemoryStore(world.database)
        self.service = SlowService(REPOSITORIES, clock=world.clock, logs=world.service.logs)
        self.service.runs.set()
        interval = fixed(timedelta(seconds=1))
        loop = Loop(self.store, self.service, world.clock, REPOSITORIES, holder, interval=interval)
        self.polls = loop.only_logs()
        self._job = asyncio.create_task(_repeat(self._tick))

    async def _tick(self) -> None:
        await self.service.runs.wait()
        # The scheduler logs it and runs the job again.
        with suppress(StoreUnavailable):
            await self.polls.run()

    @property
    def polled(self) -> int:
        return self.service.polled.total()

    def freeze(self) -> None:
        self.service.runs.clear()

    def go_on(self) -> None:
        self.service.runs.set()

    async def kill(self) -> None:
        """Everything ends where it stands; nothing is given back."""
        tasks = [self._job, *self.polls.tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def stop(self) -> None:
        self._job.cancel()
        await asyncio.gather(self._job, return_exceptions=True)
        await self.polls.drain()
        await self.polls.release()


async def _repeat(work: Callable[[], Awaitable[None]]) -> None:
    while True:
        await work()
        await asyncio.sleep(POLL_TICK_SECONDS)


class World:
    """The database and the service's logs, in which something always happens."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.database = InMemoryDatabase()
        self.service = FakeMergeQueue(REPOSITORIES, clock=self.clock)
        self.events = 0
        with begin(InMemoryStore(self.database)) as transaction:
            for name in REPOSITORIES:
                Subscriptions(transaction).save(make_subscription(Topic.ENTER, repository=name))

    async def begin(self) -> tuple[Process, Process]:
        """The process that polls, and the one that stands by."""
        polling = Process("one", self)
        await asyncio.sleep(SETTLE_SECONDS)
        standby = Process("two", self)
        await asyncio.sleep(SETTLE_SECONDS)
        assert polling.polled > 0
        assert standby.polled == 0
        return polling, standby

    async def write_events(self) -> None:
        while True:
            await asyncio.sleep(EVENT_SECONDS)
            name = REPOSITORIES[self.events * 7 % len(REPOSITORIES)]
            self.events += 1
            event = make_event(self.events, repository=name, received_at=self.clock.now())
            self.service.logs[name].append(event)

    def posted(self) -> Counter[object]:
        deliveries = self.database.contents.deliveries.values()
        return Counter(delivery.subject for delivery in deliveries)

    async def taken_over(self, by: Process) -> float:
        """Seconds until each repository was polled by that process."""
        begun = self.clock.monotonic()
        while len(by.service.polled) < len(REPOSITORIES):
            assert self.clock.monotonic() - begun < 2 * TAKEN_OVER_SECONDS
            await asyncio.sleep(POLL_TICK_SECONDS)
        return self.clock.monotonic() - begun


async def _each_event_once(
    disturb: Callable[[Process], Awaitable[None]],
    restore: Callable[[Process], Awaitable[None]],
) -> float:
    """The seconds until the other process polls everything; each event is posted once."""
    world = World()
    polling, standby = await world.begin()
    writing = asyncio.create_task(world.write_events())
    await asyncio.sleep(SETTLE_SECONDS)
    await disturb(polling)
    seconds = await world.taken_over(standby)
    await asyncio.sleep(FROZEN_SECONDS - seconds)
    await restore(polling)
    before = polling.polled
    await asyncio.sleep(FROZEN_SECONDS)
    assert polling.polled == before
    assert observation(polling.polls).unread_since == {}
    assert polling.polls.freshness().polled == 0
    writing.cancel()
    await asyncio.sleep(SETTLE_SECONDS)
    await polling.kill()
    await standby.stop()
    posted = world.posted()
    assert len(posted) == world.events > 0
    assert set(posted.values()) == {1}
    return seconds


async def _kill(process: Process) -> None:
    await process.kill()
    process.polls.schedules.clear()


async def _freeze(process: Process) -> None:
    process.freeze()


async def _lose_database(process: Process) -> None:
    process.store.unavailable = "gone"


async def _nothing(_: Process) -> None:
    """It is dead."""


async def _go_on(process: Process) -> None:
    process.go_on()


async def _find_database(process: Process) -> None:
    process.store.unavailable = None


@pytest.mark.parametrize(
    ("disturb", "restore"),
    [(_kill, _nothing), (_freeze, _go_on), (_lose_database, _find_database)],
    ids=["killed", "frozen", "without its database"],
)
def test_another_process_takes_over_within_15_seconds_and_each_event_is_posted_once(
    disturb: Callable[[Process], Awaitable[None]],
    restore: Callable[[Process], Awaitable[None]],
) -> None:
    seconds = run_virtually(_each_event_once(disturb, restore))
    # A dead or frozen process may keep the lease for as long as it lasts.
    shortest = (POLLING_LEASE - timedelta(seconds=5)).total_seconds()
    assert shortest < seconds <= TAKEN_OVER_SECONDS


def test_a_process_that_stops_leaves_the_polls_to_another_at_once() -> None:
    async def stop() -> float:
        world = World()
        polling, standby = await world.begin()
        await polling.stop()
        seconds = await world.taken_over(standby)
        await standby.stop()
        return seconds

    assert run_virtually(stop()) <= (ASKED_EVERY + timedelta(seconds=1)).total_seconds()


def test_a_short_outage_of_the_database_changes_nobody() -> None:
    async def shortly() -> None:
        world = World()
        polling, standby = await world.begin()
        polling.store.unavailable = "gone"
        await asyncio.sleep(SETTLE_SECONDS)
        polling.store.unavailable = None
        before = polling.polled
        await asyncio.sleep(FROZEN_SECONDS)
        assert polling.polled > before
        assert standby.polled == 0
        await polling.stop()
        await standby.stop()

    run_virtually(shortly())


def test_a_lease_that_expired_unnoticed_is_taken_again() -> None:
    async def expire() -> None:
        world = World()
        polling, standby = await world.begin()
        await standby.kill()
        polling.store.unavailable = "gone"
        await asyncio.sleep(FROZEN_SECONDS)
        polling.store.unavailable = None
        writing = asyncio.create_task(world.write_events())
        await asyncio.sleep(FROZEN_SECONDS)
        writing.cancel()
        await asyncio.sleep(SETTLE_SECONDS)
        await polling.stop()
        posted = world.posted()
        assert len(posted) == world.events > 0
        assert set(posted.values()) == {1}

    run_virtually(expire())


def test_a_process_on_standby_asks_for_the_lease_once_a_second() -> None:
    async def stand_by() -> int:
        world = World()
        polling, standby = await world.begin()
        before = standby.store.transactions
        await asyncio.sleep(FROZEN_SECONDS)
        asked = standby.store.transactions - before
        await polling.stop()
        await standby.stop()
        return asked

    asked = run_virtually(stand_by())
    assert asked <= FROZEN_SECONDS / ASKED_EVERY.total_seconds() + 1


def test_reloaded_repositories_are_polled_and_removed_ones_are_not() -> None:
    async def reload() -> None:
        world = World()
        polling, standby = await world.begin()
        kept = REPOSITORIES[3:]
        polling.polls.configured.replace(make_configured(*kept))
        await asyncio.sleep(SETTLE_SECONDS)
        polling.service.polled.clear()
        await asyncio.sleep(SETTLE_SECONDS)
        assert set(polling.service.polled) == set(kept)
        assert set(polling.polls.schedules) == set(kept)
        polling.polls.configured.replace(make_configured(*REPOSITORIES))
        await asyncio.sleep(SETTLE_SECONDS)
        assert set(polling.service.polled) == set(REPOSITORIES)
        await polling.stop()
        await standby.stop()

    run_virtually(reload())


async def test_a_process_whose_clock_is_behind_finds_at_its_next_tick_that_another_polls() -> None:
    """By its own clock its lease still lasts; by the database's it has ended."""
    database = InMemoryDatabase()
    clocks = FakeClock(), FakeClock()
    service = FakeMergeQueue(REPOSITORIES, clock=clocks[0])
    one, two = (
        Loop(InMemoryStore(database), service, clock, REPOSITORIES, holder).only_logs()
        for clock, holder in zip(clocks, ("one", "two"), strict=True)
    )
    await one.run()
    await one.drain()
    clocks[1].advance(POLLING_LEASE.total_seconds() + 1)
    await two.run()
    await two.drain()
    assert two.freshness().polled == len(REPOSITORIES)

    for schedule in one.schedules.values():
        schedule.due_at = clocks[0].now()
    service.calls.clear()
    for _ in range(2):
        clocks[0].advance(POLL_TICK_SECONDS)
        await one.run()
        await one.drain()
    assert service.calls == []
    assert one.freshness().polled == 0


def test_a_transaction_of_a_frozen_process_ends_before_its_lease() -> None:
    assert POLLING_LEASE.total_seconds() > IDLE_SECONDS
    assert (POLLING_LEASE + ASKED_EVERY).total_seconds() <= TAKEN_OVER_SECONDS
