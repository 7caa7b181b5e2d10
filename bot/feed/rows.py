"""The subjects of threads: queue entries of pull requests, and bisections of batches."""

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import bindparam, select

from bot.feed.tables import bisections, queue_entries
from bot.feed.threads import Bisection, QueueEntry
from bot.kernel.repository import RepositoryName
from bot.store.statements import Part, as_row, from_rows

# Built once, because building a statement takes several times as long as running it.
_ENTRIES = select(queue_entries).where(queue_entries.c.repository == bindparam("repository"))
_ENTRY = _ENTRIES.where(queue_entries.c.key == bindparam("key"))
_RECENT_ENTRIES = _ENTRIES.where(queue_entries.c.last_at >= bindparam("since"))
_BISECTIONS = select(bisections).where(bisections.c.repository == bindparam("repository"))
_BISECTION = _BISECTIONS.where(bisections.c.key == bindparam("key"))
_RECENT_BISECTIONS = _BISECTIONS.where(bisections.c.last_at >= bindparam("since"))


class QueueEntries(Part):
    """Pull requests' times in their queues."""

    def save(self, changed: Sequence[QueueEntry]) -> None:
        """Insert, or replace rows with the same key."""
        self._put(queue_entries, *(as_row(queue_entries, entry) for entry in changed))

    def one(self, repository: RepositoryName, key: str) -> QueueEntry | None:
        return self._first(QueueEntry, _ENTRY, repository=repository, key=key)

    def of(
        self, repository: RepositoryName, numbers: Collection[int], since: datetime
    ) -> Sequence[QueueEntry]:
        """Those of the pull requests with events since then."""
        number = queue_entries.c.pull_request
        these = {"repository": repository, "since": since}
        rows = self._by_keys(_RECENT_ENTRIES, number, numbers, **these)
        return from_rows(QueueEntry, rows)


class Bisections(Part):
    """Searches for the pull requests that broke batches."""

    def save(self, changed: Sequence[Bisection]) -> None:
        """Insert, or replace rows with the same key."""
        self._put(bisections, *(as_row(bisections, bisection) for bisection in changed))

    def one(self, repository: RepositoryName, key: str) -> Bisection | None:
        return self._first(Bisection, _BISECTION, repository=repository, key=key)

    def since(self, repository: RepositoryName, since: datetime) -> Sequence[Bisection]:
        """Those with events since then."""
        return self._records(Bisection, _RECENT_BISECTIONS, repository=repository, since=since)
