"""Workers against a service that answers in 250 ms, in virtual time: more of them poll more."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta

from typing_extensions import override

from bot.domain.event_log import Window
from bot.domain.event_records import EventPage
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import Topic
from bot.usecases.polling.share_repositories import SHARE_SECONDS, ShareRepositories
from bot.usecases.tasks import POLL_REQUESTS
from tests.support.loops import Loop, fixed
from tests.support.make import make_configured, make_event, make_subscription
from tests.support.merge_queue import FakeMergeQueue
from tests.support.store import InMemoryDatabase, InMemoryStore
from tests.support.transactions import begin
from tests.support.virtual_time import VirtualClock, run_virtually

REPOSITORIES = tuple(RepositoryName(f"acme/r{number:03}") for number in range(100))
ANSWER_SECONDS = 0.25
IN_FLIGHT = 8
TICK_SECONDS = 0.25
SETTLE_SECONDS = 15.0
COUNTED_SECONDS = 4.0
EVENT_SECONDS = 0.25


@dataclass
class SlowService(FakeMergeQueue):
    """Answers in 250 ms; a process has 8 requests in flight at most, as its client has."""

    polls: int = 0
    being_read: Counter[RepositoryName] = field(default_factory=Counter)
    slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(IN_FLIGHT))

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
        async with self.slots:
            self.being_read[repository] += 1
            # Never by two at a time, whoever they are.
            assert self.being_read[repository] == 1, repository
            try:
                await asyncio.sleep(ANSWER_SECONDS)
            finally:
                self.being_read[repository] -= 1
            self.polls += 1
            return await super().event_page(repository, window, types=(), cursor=cursor)


class Worker:
    """What a process does for its share, until it is killed."""

    def __init__(self, number: int, world: "World") -> None:
        store = InMemoryStore(world.database)
        self.service = SlowService(
            REPOSITORIES, clock=world.clock, logs=world.service.logs, being_read=world.being_read
        )
        holder = f"worker {number}"
        interval = fixed(timedelta(seconds=1))
        self._polls = Loop(
            store, self.service, world.clock, REPOSITORIES, holder, interval=interval
        ).only_logs()
        share = ShareRepositories(
            store, world.clock, self._polls, make_configured(*REPOSITORIES), holder
        )
        self._jobs = [
            asyncio.create_task(_repeat(share.run, SHARE_SECONDS)),
            asyncio.create_task(_repeat(self._polls.run, TICK_SECONDS)),
        ]

    async def kill(self) -> None:
        """Everything ends where it stands; nothing is given back."""
        tasks = [*self._jobs, *self._polls.tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def stop(self) -> None:
        for task in self._jobs:
            task.cancel()
        await asyncio.gather(*self._jobs, return_exceptions=True)
        await self._polls.drain()


async def _repeat(work: Callable[[], Awaitable[None]], seconds: float) -> None:
    while True:
        await work()
        await asyncio.sleep(seconds)


class World:
    """The database and the service's log that all workers share."""

    def __init__(self) -> None:
        self.clock, self.database = VirtualClock(), InMemoryDatabase()
        self.service = FakeMergeQueue(REPOSITORIES, clock=self.clock)
        self.being_read: Counter[RepositoryName] = Counter()
        self.events = 0

    async def subscribe(self) -> None:
        with begin(InMemoryStore(self.database)) as transaction:
            for name in REPOSITORIES:
                transaction.subscriptions.save(make_subscription(Topic.ENTER, repository=name))

    async def write_events(self) -> None:
        while True:
            await asyncio.sleep(EVENT_SECONDS)
            name = REPOSITORIES[self.events * 7 % len(REPOSITORIES)]
            self.events += 1
            event = make_event(self.events, repository=name, received_at=self.clock.now())
            self.service.logs[name].append(event)


async def _throughput(number: int, *, killed: int = 0) -> tuple[float, Counter[object], int]:
    """Polls per second once settled, how often each event is posted, and how many there were."""
    world = World()
    await world.subscribe()
    workers = [Worker(each, world) for each in range(number)]
    await asyncio.sleep(SETTLE_SECONDS)
    writing = asyncio.create_task(world.write_events())
    for one in workers[:killed]:
        await asyncio.sleep(3.3)
        await one.kill()
        await asyncio.sleep(SETTLE_SECONDS)
    alive = workers[killed:]
    before = sum(one.service.polls for one in alive)
    await asyncio.sleep(COUNTED_SECONDS)
    polls = sum(one.service.polls for one in alive) - before
    writing.cancel()
    await asyncio.sleep(2 * SETTLE_SECONDS)
    for one in alive:
        await one.stop()
    reported = Counter(one.subject for one in world.database.contents.deliveries.values())
    return polls / COUNTED_SECONDS, Counter(reported), world.events


def test_throughput_grows_with_the_workers() -> None:
    speeds = {number: run_virtually(_throughput(number))[0] for number in (1, 3)}
    most = POLL_REQUESTS / ANSWER_SECONDS
    assert 0.9 * most < speeds[1] <= most * 1.01
    assert speeds[3] > 2.7 * speeds[1]


def test_a_killed_worker_costs_its_share_of_throughput_and_no_event() -> None:
    speed, reported, events = run_virtually(_throughput(4, killed=1))
    assert speed > 2.7 * POLL_REQUESTS / ANSWER_SECONDS
    assert len(reported) == events > 0
    assert set(reported.values()) == {1}
