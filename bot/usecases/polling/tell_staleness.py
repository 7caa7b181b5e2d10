"""Tell channels, once, that nothing new can be read for them, and once that it can again."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.domain.deliveries import Subject, SubjectKind
from bot.domain.repository import RepositoryName
from bot.domain.staleness import Change, Look, Staleness, changes, newly_stale
from bot.ports import Clock, Nudge
from bot.store.transactions import Store, Transaction
from bot.usecases.tell_urgently import tell_urgently


@dataclass(frozen=True, slots=True)
class TellStaleness:
    """Of the logs that this process polls, as part of what all processes know of an outage.

    What is stored decides what is told: whoever comes first announces an outage, the others add
    their logs to it, and who reads the last of them again announces its end. With nothing stale a
    look costs one statement. `unread_since`: when each log was last read or taken on, `read` when
    those were that were read when they were last polled. `repositories` are all that any process
    polls.
    """

    store: Store
    clock: Clock
    nudge: Nudge
    limit: timedelta
    unread_since: Callable[[], Mapping[RepositoryName, datetime]]
    read: Callable[[], Mapping[RepositoryName, datetime]]
    repositories: Collection[RepositoryName]

    async def run(self) -> None:
        """Raises StoreError."""
        look = Look(self.clock.now(), self.unread_since(), self.read(), self.repositories)
        if await self.store.run(self._tell_changes, look):
            self.nudge()

    def _tell_changes(self, transaction: Transaction, look: Look) -> int:
        """How many notices there are."""
        if not self._changes(transaction, look):
            return 0
        transaction.stalenesses.hold()
        # Somebody else may have been first.
        changed = self._changes(transaction, look)
        return sum(_store(transaction, change, look.at) for change in changed)

    def _changes(self, transaction: Transaction, look: Look) -> Sequence[Change]:
        active = transaction.stalenesses.active()
        if newly_stale(look, active, self.limit):
            last = transaction.polls.latest(sorted(look.stale(self.limit)))
            read = {name: one.at for name, one in last.items()}
            look = look.corrected(read, transaction.stalenesses.last_end())
        return changes(look, active, self.limit)


def _store(transaction: Transaction, change: Change, now: datetime) -> int:
    """How many notices there are."""
    one = change.staleness
    if not one.staleness_id:
        one = replace(one, staleness_id=transaction.stalenesses.add(one))
    elif not transaction.stalenesses.save(one):
        return 0
    told = _tell(transaction, SubjectKind.STALE, one, change.tell, now)
    if one.ended_at is not None and one.told_at is not None:
        told += _tell(transaction, SubjectKind.READ_AGAIN, one, one.repositories, now)
    return told


def _tell(
    transaction: Transaction,
    kind: SubjectKind,
    staleness: Staleness,
    repositories: Collection[RepositoryName],
    now: datetime,
) -> int:
    if not repositories:
        return 0
    hearing = transaction.subscriptions.of_repositories(repositories)
    channels = {one.channel_id for found in hearing.values() for one in found}
    subject = Subject(kind, staleness.repositories[0], staleness.staleness_id)
    since = staleness.since.isoformat()
    return tell_urgently(transaction, subject, channels, now, identity=since)
