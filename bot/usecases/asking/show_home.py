"""Read everything that the Home tab shows."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from bot.domain.deliveries import OutboxSummary
from bot.domain.errors import MergeQueueError
from bot.domain.event_log import LastPoll
from bot.domain.home import Health, HomeState, ReadQueue, Viewer, by_need
from bot.domain.outages import Outage, OutageCause
from bot.domain.pause_records import PauseRecord, timed
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import Subscription
from bot.ports import Clock
from bot.store.transactions import Store, Transaction
from bot.usecases.asking.show_status import ShowStatus
from bot.usecases.choose_notices import about_people

SHOWN = 10
READ = 40
"""The most queues read for one view, because each costs two requests."""

READ_BESIDES = 10
"""Queues to read because pull requests of the viewer were seen there."""

RECENTLY = timedelta(days=7)
SUBSCRIPTIONS_SHOWN = 15
MOST_READ = 8


@dataclass(frozen=True, slots=True)
class ShowHome:
    """Reads the Home tab; a queue that can't be read is shown as such."""

    show_status: ShowStatus
    store: Store
    clock: Clock

    async def run(
        self,
        repositories: Sequence[RepositoryName],
        first: int = 0,
        logins: Collection[str] = (),
    ) -> HomeState:
        """The page from the queue at `first` on; queues known as paused come first, then frozen.

        `logins`: whose pull requests to include. Raises StoreUnavailable.
        """
        first = max(min(first, len(repositories) - 1), 0) // SHOWN * SHOWN
        now = self.clock.now()
        since = now - RECENTLY
        in_force, freezes, seen_in = await self.store.read(
            lambda transaction: (
                transaction.pauses.open(repositories),
                transaction.freezes.of(repositories),
                transaction.pull_requests.repositories_of(logins, since),
            )
        )
        paused = {one.repository for one in in_force}
        frozen = {one.repository for one in freezes if one.is_in_force(now)}
        ordered = sorted(repositories, key=lambda name: (name not in paused, name not in frozen))
        part = first // READ * READ
        asked = ordered[part : part + READ]
        besides = [name for name in seen_in if name in set(ordered).difference(asked)]
        concurrency = asyncio.Semaphore(MOST_READ)
        names = [*asked, *besides[:READ_BESIDES]]
        read = await asyncio.gather(*(self._read(name, concurrency) for name in names))
        by_place = by_need(read[: len(asked)])
        shown = by_place[first - part : first - part + SHOWN]
        polled, subscriptions, in_all, health, ending = await self.store.read(
            _known, repositories, asked
        )
        return HomeState(
            queues=shown,
            first=first,
            total=len(repositories),
            polled={name: one.at for name, one in polled.items()},
            subscriptions=subscriptions,
            health=health,
            read_at=self.clock.now(),
            timed=ending,
            others=[one for one in read if one not in shown],
            subscriptions_in_all=in_all,
        )

    async def viewers(self, may_pause: dict[str, bool]) -> dict[str, Viewer]:
        """The personal part for each viewer, by user id."""
        people = await self.store.read(about_people, may_pause)
        return {one: Viewer(may, people[one]) for one, may in may_pause.items()}

    async def _read(self, repository: RepositoryName, concurrency: asyncio.Semaphore) -> ReadQueue:
        async with concurrency:
            try:
                return await self.show_status.run(repository)
            except MergeQueueError:
                return repository


def _known(
    transaction: Transaction,
    repositories: Sequence[RepositoryName],
    shown: Sequence[RepositoryName],
) -> tuple[
    Mapping[RepositoryName, LastPoll], Sequence[Subscription], int, Health, Sequence[PauseRecord]
]:
    return (
        transaction.polls.latest(shown),
        transaction.subscriptions.all(SUBSCRIPTIONS_SHOWN),
        transaction.subscriptions.count(),
        _health(
            transaction.outbox.summary(),
            transaction.outages.active(OutageCause.LOG, OutageCause.SLACK),
        ),
        timed(transaction.pauses.open(repositories)),
    )


def _health(outbox: OutboxSummary, outages: Sequence[Outage]) -> Health:
    return Health(
        waiting=outbox.pending + outbox.sending,
        in_doubt=outbox.in_doubt,
        oldest_at=outbox.oldest_created_at,
        suspended=[(one.channel_id, one.code) for one in outbox.suspended],
        outages=outages,
    )
