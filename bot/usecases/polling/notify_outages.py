"""Notify channels once that event logs can't be read, and once that they can again."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.domain.deliveries import Subject, SubjectKind
from bot.domain.outages import (
    Outage,
    OutageChange,
    PollObservation,
    has_new_outage,
    outage_changes,
)
from bot.domain.repository import RepositoryName
from bot.ports import Wake
from bot.store.transactions import Store, Transaction
from bot.usecases.enqueue_urgent import enqueue_urgent


@dataclass(frozen=True, slots=True)
class NotifyOutages:
    """Compares the logs that this process polls with the outages known to all processes.

    The first process to notice announces an outage, the others add their logs to it, and the
    process that reads the last of them again announces its end. Without unread logs a run costs one
    statement. `limit`: how long a log may go unread.
    """

    store: Store
    wake: Wake
    limit: timedelta
    observe: Callable[[], PollObservation]

    async def run(self) -> None:
        """Update the stored outages; raises StoreError."""
        if await self.store.run(self._store_changes, self.observe()):
            self.wake()

    def _store_changes(self, transaction: Transaction, observation: PollObservation) -> int:
        """Store the changes and return how many notices there are."""
        if not self._changes(transaction, observation):
            return 0
        transaction.outages.hold()
        # Another process may have been first.
        changed = self._changes(transaction, observation)
        return sum(_store(transaction, change, observation.at) for change in changed)

    def _changes(
        self, transaction: Transaction, observation: PollObservation
    ) -> Sequence[OutageChange]:
        active = transaction.outages.active()
        if has_new_outage(observation, active, self.limit):
            last = transaction.polls.latest(sorted(observation.unread(self.limit)))
            read = {name: one.at for name, one in last.items()}
            observation = observation.corrected(read, transaction.outages.last_end())
        return outage_changes(observation, active, self.limit)


def _store(transaction: Transaction, change: OutageChange, now: datetime) -> int:
    """Store a change and return how many notices it makes."""
    one = change.outage
    if not one.alert_id:
        one = replace(one, alert_id=transaction.outages.add(one))
    elif not transaction.outages.save(one):
        return 0
    added = _notify(transaction, SubjectKind.OUTAGE, one, change.notify, now)
    if one.ended_at is not None and one.notified_at is not None:
        added += _notify(transaction, SubjectKind.OUTAGE_OVER, one, one.repositories, now)
    return added


def _notify(
    transaction: Transaction,
    kind: SubjectKind,
    outage: Outage,
    repositories: Collection[RepositoryName],
    now: datetime,
) -> int:
    if not repositories:
        return 0
    matching = transaction.subscriptions.of_repositories(repositories)
    channels = {one.channel_id for found in matching.values() for one in found}
    subject = Subject(kind, outage.repositories[0], outage.alert_id)
    return enqueue_urgent(transaction, subject, channels, now, identity=outage.began_at.isoformat())
