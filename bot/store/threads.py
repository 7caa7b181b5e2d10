"""What threads tell of: queue entries of pull requests, and bisections."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from sqlalchemy import BigInteger, Boolean, Index, Table, Text, select

from bot.domain.live_messages import LiveKind
from bot.domain.repository import RepositoryName
from bot.domain.threads import Bisection, QueueEntry
from bot.store.column_types import AsText, OutsideText, Repository, SortedSet, UtcTime
from bot.store.schema import key, metadata, optional, required
from bot.store.statements import Part, Rows, as_row, from_row

threads = Table(
    "threads",
    metadata,
    *key(AsText(LiveKind), "kind"),
    *key(Repository, "repository"),
    *key(Text, "key"),
    *required(UtcTime, "last_at"),
    *optional(UtcTime, "ended_at"),
    *optional(BigInteger, "pull_request"),
    *optional(OutsideText, "session_id"),
    *optional(UtcTime, "began_at"),
    *optional(Boolean, "entered"),
    *optional(OutsideText, "batch_id"),
    *optional(SortedSet, "pull_requests"),
    *optional(BigInteger, "latest_event_id"),
    Index("ix_threads_pull_request", "kind", "repository", "pull_request"),
    Index("ix_threads_last_at", "last_at"),
    Index("ix_threads_of", "kind", "repository", "last_at"),
    comment="One thing told of in threads: a pull request's queue entry, or a bisection.",
)
"""Its key is that of the `LiveSubject` that its live messages show.

`pull_request` to `entered` are of a queue entry, `batch_id` to `latest_event_id` of a bisection.
"""


def _of(kind: LiveKind, repository: RepositoryName) -> Rows:
    return select(threads).where(threads.c.kind == kind, threads.c.repository == repository)


class QueueEntries(Part):
    """Queue entries of pull requests."""

    def save(self, changed: Sequence[QueueEntry]) -> None:
        """Insert, or replace those with the same key."""
        self._put(threads, *(as_row(threads, one, kind=LiveKind.ENTRY) for one in changed))

    def of(
        self, repository: RepositoryName, numbers: Collection[int], since: datetime
    ) -> Sequence[QueueEntry]:
        """Those of the pull requests that something happened in since."""
        recent = _of(LiveKind.ENTRY, repository).where(threads.c.last_at >= since)
        rows = self._by_keys(recent, threads.c.pull_request, numbers)
        return [from_row(QueueEntry, row) for row in rows]

    def lasting(self, repository: RepositoryName, since: datetime) -> Sequence[QueueEntry]:
        """Those without an end that something happened in since."""
        lasting = _of(LiveKind.ENTRY, repository).where(
            threads.c.last_at >= since, threads.c.ended_at.is_(None)
        )
        return self._records(QueueEntry, lasting.order_by(threads.c.began_at, threads.c.key))

    def get(self, repository: RepositoryName, keys: Collection[str]) -> Mapping[str, QueueEntry]:
        rows = self._by_keys(_of(LiveKind.ENTRY, repository), threads.c.key, keys)
        return {row.key: from_row(QueueEntry, row) for row in rows}


class Bisections(Part):
    """Bisections of batches."""

    def save(self, changed: Sequence[Bisection]) -> None:
        """Insert, or replace those with the same key."""
        self._put(threads, *(as_row(threads, one, kind=LiveKind.BISECTION) for one in changed))

    def since(self, repository: RepositoryName, since: datetime) -> Sequence[Bisection]:
        """Those of the repository whose last event is not older."""
        recent = _of(LiveKind.BISECTION, repository).where(threads.c.last_at >= since)
        return self._records(Bisection, recent)

    def get(self, repository: RepositoryName, keys: Collection[str]) -> Mapping[str, Bisection]:
        rows = self._by_keys(_of(LiveKind.BISECTION, repository), threads.c.key, keys)
        return {row.key: from_row(Bisection, row) for row in rows}
