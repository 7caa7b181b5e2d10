"""Tell channels, once, that nothing new can be read for them, and once that it can again."""

import uuid
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.domain.deliveries import NewDelivery, Subject, SubjectKind
from bot.domain.repository import RepositoryName
from bot.domain.staleness import Staleness, changes
from bot.ports import Clock, Nudge, Store, Transaction


@dataclass(frozen=True, slots=True)
class TellStaleness:
    """Of the logs that this process polls. With nothing stale it costs one look at an index.

    `read_at`: when each of them was last read or taken on, `read` those that were read when they
    were last polled. `repositories` are all that any process polls.
    """

    store: Store
    clock: Clock
    nudge: Nudge
    limit: timedelta
    read_at: Callable[[], Mapping[RepositoryName, datetime]]
    read: Callable[[], Collection[RepositoryName]]
    repositories: Collection[RepositoryName]

    async def run(self) -> None:
        """Raises StoreError."""
        now, read_at = self.clock.now(), self.read_at()
        async with self.store.begin() as transaction:
            ours = [
                one
                for one in await transaction.stalenesses.active()
                if any(name in read_at for name in one.repositories)
            ]
            back = await self._back(transaction, ours, now) if ours else ()
            change = changes(read_at, ours, now, self.limit, back)
            if change.begun is not None:
                number = await transaction.stalenesses.add(change.begun)
                begun = replace(change.begun, staleness_id=number)
                await _tell(transaction, SubjectKind.STALE, begun, now)
            for one in change.ended:
                if await transaction.stalenesses.end(one.staleness_id, now):
                    await _tell(transaction, SubjectKind.READ_AGAIN, one, now)
        if change.begun is not None or change.ended:
            self.nudge()

    async def _back(
        self, transaction: Transaction, active: Sequence[Staleness], now: datetime
    ) -> Collection[RepositoryName]:
        told = {name for one in active for name in one.repositories}
        polled = told.intersection(self.repositories)
        ours = polled.intersection(self.read_at())
        elsewhere = await transaction.polls.latest(sorted(polled - ours))
        fresh = {name for name, at in elsewhere.items() if now - at <= self.limit}
        return (told - polled) | ours.intersection(self.read()) | fresh


async def _tell(
    transaction: Transaction, kind: SubjectKind, staleness: Staleness, now: datetime
) -> None:
    subject = Subject(kind, staleness.repositories[0], staleness.staleness_id)
    await transaction.outbox.add(
        [
            NewDelivery(uuid.uuid4().hex, channel_id, subject, now, urgent=True)
            for channel_id in await _hearing(transaction, staleness.repositories)
        ]
    )


async def _hearing(transaction: Transaction, repositories: Iterable[RepositoryName]) -> list[str]:
    channels: set[str] = set()
    for repository in repositories:
        found = await transaction.subscriptions.of_repository(repository)
        channels.update(one.channel_id for one in found)
    return sorted(channels)
