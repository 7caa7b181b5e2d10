"""The end of an outage is told by who has read the logs again, and by nobody else."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.domain.deliveries import SubjectKind
from bot.domain.repository import RepositoryName
from bot.usecases.tell_staleness import TellStaleness
from tests.support.clock import FakeClock
from tests.support.make import API, SITE, make_subscription
from tests.support.store import InMemoryDatabase, InMemoryStore

LIMIT = timedelta(seconds=50)


@dataclass
class Process:
    """One that polls some of the repositories, as far as its last polls went well."""

    clock: FakeClock
    database: InMemoryDatabase
    read_at: dict[RepositoryName, datetime]
    read: set[RepositoryName] = field(default_factory=set)
    repositories: Sequence[RepositoryName] = (SITE, API)

    @property
    def store(self) -> InMemoryStore:
        return InMemoryStore(self.database)

    async def look(self) -> None:
        await TellStaleness(
            self.store,
            self.clock,
            _unheard,
            LIMIT,
            lambda: self.read_at,
            lambda: self.read,
            self.repositories,
        ).run()

    def told(self) -> list[SubjectKind]:
        return [one.subject.kind for one in self.database.contents.deliveries.values()]


def _unheard(after: float = 0.0) -> None:
    """What is to be posted is looked at in the outbox."""


async def in_an_outage(*stale: RepositoryName) -> Process:
    clock = FakeClock()
    process = Process(clock, InMemoryDatabase(), dict.fromkeys(stale, clock.now()))
    async with process.store.begin() as transaction:
        await transaction.subscriptions.save(make_subscription("enter"))
    clock.advance(60)
    await process.look()
    assert process.told() == [SubjectKind.STALE]
    return process


async def test_a_process_that_is_started_in_an_outage_does_not_announce_its_end() -> None:
    first = await in_an_outage(SITE)
    started = Process(first.clock, first.database, {SITE: first.clock.now()})
    await started.look()
    started.clock.advance(60)
    await started.look()
    assert started.told() == [SubjectKind.STALE]

    started.read_at[SITE], started.read = started.clock.now(), {SITE}
    await started.look()
    await started.look()
    assert started.told() == [SubjectKind.STALE, SubjectKind.READ_AGAIN]


async def test_what_another_process_polls_is_read_when_that_says_so() -> None:
    first = await in_an_outage(SITE, API)
    now = first.clock.now()
    one = Process(first.clock, first.database, {SITE: now}, {SITE})
    await one.look()
    assert one.told() == [SubjectKind.STALE]

    async with one.store.begin() as transaction:
        await transaction.polls.save({API: now})
    await one.look()
    assert one.told() == [SubjectKind.STALE, SubjectKind.READ_AGAIN]


async def test_what_nobody_polls_any_more_keeps_no_outage_going() -> None:
    first = await in_an_outage(SITE, API)
    now = first.clock.now()
    left = Process(first.clock, first.database, {SITE: now}, {SITE}, repositories=[SITE])
    await left.look()
    assert left.told() == [SubjectKind.STALE, SubjectKind.READ_AGAIN]
