"""Each channel is notified once of an outage and once of its end, whatever workers do."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import combinations
from random import Random

from hypothesis import given, settings, strategies as st

from bot.channels.rows import Subscriptions
from bot.feed.polling import stale_after
from bot.health.notifying_outages import NotifyOutages
from bot.health.outage import PollObservation
from bot.kernel.pacing import retry_delay
from bot.kernel.repository import RepositoryName
from bot.log.position import LastPoll
from bot.log.rows import Positions
from bot.posts.delivery import SubjectKind
from tests.support.clock import NOON, FakeClock
from tests.support.make import make_subscription
from tests.support.store import InMemoryDatabase, InMemoryStore
from tests.support.transactions import begin

INTERVAL = 10
LIMIT = stale_after(timedelta(seconds=INTERVAL))
LOOK_SECONDS = 5
REPORTED_EVERY = 15
INHERITED_AFTER = 12
"""Seconds until others poll what a dead worker polled."""

ALL_RECOVERED = 400
"""Seconds after which each log was polled again: five minutes are the longest wait."""

SURELY_POSTED = 90
REPOSITORIES = [RepositoryName(f"acme/r{number}") for number in range(6)]
GETS_ALL = "C1"
GETS_SOME = "C2"


@dataclass
class Log:
    """What a worker remembers of one log that it polls; times are of its own clock."""

    taken_on_at: datetime
    due: int
    polled_at: datetime | None = None
    failures: int = 0


@dataclass
class Worker:
    """One process with a clock of its own, a few seconds off."""

    store: InMemoryStore
    clock: FakeClock
    phase: int
    logs: dict[RepositoryName, Log] = field(default_factory=dict)

    def take_on(self, names: Sequence[RepositoryName], second: int) -> None:
        for name in names:
            self.logs[name] = Log(self.clock.now(), second)

    async def work(self, second: int, *, answers: bool, chance: Random) -> None:
        for name, log in self.logs.items():
            if log.due <= second:
                await self._poll(name, log, second, answers=answers, chance=chance)
        if (second + self.phase) % LOOK_SECONDS == 0:
            await self._check()

    async def _poll(
        self, name: RepositoryName, log: Log, second: int, *, answers: bool, chance: Random
    ) -> None:
        if not answers:
            log.failures += 1
            wait = retry_delay(log.failures, hint=None, jitter=chance.random())
            log.due = second + max(INTERVAL, round(wait))
            return
        log.failures = 0
        log.polled_at = self.clock.now()
        log.due = second + INTERVAL
        if second % REPORTED_EVERY < INTERVAL:
            with begin(self.store) as transaction:
                Positions(transaction).save_polls({name: LastPoll(log.polled_at)})

    async def _check(self) -> None:
        now = self.clock.now()
        unread_since = {
            name: (log.polled_at or log.taken_on_at) if log.failures else now
            for name, log in self.logs.items()
        }
        read = {
            name: log.polled_at
            for name, log in self.logs.items()
            if log.polled_at is not None and not log.failures
        }
        observation = PollObservation(now, unread_since, read, REPOSITORIES)
        await NotifyOutages(self.store, _unconfirmed, LIMIT, lambda: observation).run()


def _unconfirmed(after: float = 0.0) -> None:
    """What is to be posted is looked at in the outbox."""


@dataclass
class World:
    """Workers, of which some die and some are started, and a service that is down at times."""

    outages: Sequence[tuple[int, int]]
    chance: Random
    database: InMemoryDatabase = field(default_factory=InMemoryDatabase)
    workers: list[Worker] = field(default_factory=list)
    orphans: list[tuple[int, list[RepositoryName]]] = field(default_factory=list)

    def start(self, second: int) -> Worker:
        skew = self.chance.uniform(-4, 4)
        clock = FakeClock(NOON + timedelta(seconds=second + skew))
        worker = Worker(InMemoryStore(self.database), clock, self.chance.randrange(LOOK_SECONDS))
        self.workers.append(worker)
        return worker

    async def run(self, deaths: Sequence[int], births: Sequence[int]) -> None:
        await self.subscribe()
        for number in range(3):
            self.start(0).take_on(REPOSITORIES[number::3], number)
        last = max(begun + length for begun, length in self.outages)
        for second in range(last + ALL_RECOVERED + 60):
            if second in deaths and len(self.workers) > 1:
                self.die(second)
            if second in births:
                self.be_born(second)
            self.inherit(second)
            answers = not any(begun <= second < begun + long for begun, long in self.outages)
            for worker in self.workers:
                await worker.work(second, answers=answers, chance=self.chance)
                worker.clock.advance(1)

    async def subscribe(self) -> None:
        with begin(InMemoryStore(self.database)) as transaction:
            for name in REPOSITORIES:
                Subscriptions(transaction).save(
                    make_subscription("enter", repository=name, channel_id=GETS_ALL)
                )
            for name in REPOSITORIES[::3]:
                Subscriptions(transaction).save(
                    make_subscription("enter", repository=name, channel_id=GETS_SOME)
                )

    def die(self, second: int) -> None:
        dead = self.workers.pop(self.chance.randrange(len(self.workers)))
        self.orphans.append((second + INHERITED_AFTER, list(dead.logs)))

    def inherit(self, second: int) -> None:
        for when, names in self.orphans:
            if when == second:
                for name in names:
                    self.chance.choice(self.workers).take_on([name], second)

    def be_born(self, second: int) -> None:
        giver = max(self.workers, key=lambda worker: len(worker.logs))
        given = list(giver.logs)[::2]
        for name in given:
            del giver.logs[name]
        self.start(second).take_on(given, second)

    def reported(self, channel_id: str) -> list[SubjectKind]:
        return [kind for kinds in self.reported_of_each(channel_id).values() for kind in kinds]

    def reported_of_each(self, channel_id: str) -> Mapping[int, list[SubjectKind]]:
        """By outage, in the order of their first posts."""
        reported: dict[int, list[SubjectKind]] = {}
        for delivery in self.database.contents.deliveries.values():
            if delivery.channel_id == channel_id:
                kinds = reported.setdefault(delivery.subject.subject_id, [])
                kinds.append(delivery.subject.kind)
        return reported


def apart(gaps: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Outages as when they begin and how long they last, from the time between them."""
    outages: list[tuple[int, int]] = []
    second = 0
    for gap, length in gaps:
        outages.append((second + gap, length))
        second += gap + length
    return outages


def since(gaps: Sequence[tuple[int, int]], moments: Sequence[int]) -> list[int]:
    return [gaps[0][0] + moment for moment in moments]


LONG = st.integers(SURELY_POSTED, 1500)
MOMENTS = st.lists(st.integers(-60, 200), max_size=2)
"""Seconds since the first outage began."""

CHANCES = st.integers(0, 2**32).map(Random)


@settings(max_examples=settings().max_examples // 5)
@given(
    gaps=st.lists(st.tuples(st.integers(ALL_RECOVERED, 600), LONG), min_size=1, max_size=2),
    deaths=MOMENTS,
    births=MOMENTS,
    chance=CHANCES,
)
def test_outages_are_reported_once_each(
    gaps: list[tuple[int, int]], deaths: list[int], births: list[int], chance: Random
) -> None:
    world = World(apart(gaps), chance)
    asyncio.run(world.run(since(gaps, deaths), since(gaps, births)))
    once = [SubjectKind.OUTAGE, SubjectKind.OUTAGE_OVER]
    assert world.reported(GETS_ALL) == once * len(gaps)
    some = world.reported(GETS_SOME)
    assert some == once * (len(some) // 2)
    assert len(some) <= 2 * len(gaps)


@settings(max_examples=settings().max_examples // 5)
@given(
    gaps=st.lists(st.tuples(st.integers(1, 120), st.integers(1, 400)), min_size=1, max_size=6),
    deaths=MOMENTS,
    births=MOMENTS,
    chance=CHANCES,
)
def test_a_flapping_alert_always_ends_before_it_starts_again(
    gaps: list[tuple[int, int]], deaths: list[int], births: list[int], chance: Random
) -> None:
    world = World(apart(gaps), chance)
    asyncio.run(world.run(since(gaps, deaths), since(gaps, births)))
    for channel_id in (GETS_ALL, GETS_SOME):
        reported = world.reported_of_each(channel_id)
        once = [SubjectKind.OUTAGE, SubjectKind.OUTAGE_OVER]
        assert all(kinds == once for kinds in reported.values()), reported
        assert len(reported) <= len(gaps)
    outages = list(world.database.contents.outages.values())  # in the order they were stored
    assert all(outage.ended_at for outage in outages)
    # Two outages may last at once, of logs that became unreadable far apart; no log is in both.
    for first, second in combinations(outages, 2):
        for name in set(first.repositories) & set(second.repositories):
            assert second.notified_at is None or first.recovered[name] < second.notified_at
