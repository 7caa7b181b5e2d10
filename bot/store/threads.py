"""Subjects of threads: queue entries of pull requests, and bisections."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Generic, TypeVar

from sqlalchemy import BigInteger, Boolean, Index, Table, Text, bindparam, select

from bot.domain.live_messages import LiveKind
from bot.domain.repository import RepositoryName
from bot.domain.threads import Bisection, QueueEntry
from bot.store.column_types import AsText, OutsideText, Repository, SortedSet, UtcTime
from bot.store.schema import key, metadata, optional, required
from bot.store.statements import Part, as_row, from_row

threads = Table(
    "threads",
    metadata,
    *key(AsText(LiveKind), "kind"),
    *key(Repository, "repository"),
    *key(Text, "key"),
    *required(UtcTime, "last_at"),
    *optional(UtcTime, "began_at", "ended_at"),
    *optional(BigInteger, "pull_request", "latest_event_id"),
    *optional(OutsideText, "session_id", "batch_id"),
    *optional(Boolean, "entered"),
    *optional(SortedSet, "pull_requests"),
    Index(None, "kind", "repository", "pull_request"),
    Index(None, "last_at"),
    Index(None, "kind", "repository", "last_at"),
    comment="The subject of a thread: a pull request's queue entry, or a bisection.",
)
"""The key is that of the `LiveSubject` shown by its live messages.

`batch_id`, `pull_requests` and `latest_event_id` belong to bisections, the rest to queue entries.
"""

_OF_KIND = select(threads).where(
    threads.c.kind == bindparam("kind"), threads.c.repository == bindparam("repository")
)
_RECENT = _OF_KIND.where(threads.c.last_at >= bindparam("since"))
_LASTING = _RECENT.where(threads.c.ended_at.is_(None)).order_by(threads.c.began_at, threads.c.key)

_Thread = TypeVar("_Thread", QueueEntry, Bisection)


class _Threads(Part, Generic[_Thread]):
    """The subjects of one kind."""

    _kind: LiveKind
    _record: type[_Thread]

    def save(self, changed: Sequence[_Thread]) -> None:
        """Insert, or replace rows with the same key."""
        self._put(threads, *(as_row(threads, one, kind=self._kind) for one in changed))

    def get(self, repository: RepositoryName, keys: Collection[str]) -> Mapping[str, _Thread]:
        return self._get(self._record, _OF_KIND, threads.c.key, keys, **self._these(repository))

    def _these(self, repository: RepositoryName, **others: object) -> dict[str, object]:
        return {"kind": self._kind, "repository": repository} | others


class QueueEntries(_Threads[QueueEntry]):
    """Queue entries of pull requests."""

    _kind, _record = LiveKind.ENTRY, QueueEntry

    def of(
        self, repository: RepositoryName, numbers: Collection[int], since: datetime
    ) -> Sequence[QueueEntry]:
        """The pull requests' entries with events since then."""
        these = self._these(repository, since=since)
        rows = self._by_keys(_RECENT, threads.c.pull_request, numbers, **these)
        return [from_row(QueueEntry, row) for row in rows]

    def lasting(self, repository: RepositoryName, since: datetime) -> Sequence[QueueEntry]:
        """Open entries with events since then."""
        return self._records(QueueEntry, _LASTING, **self._these(repository, since=since))


class Bisections(_Threads[Bisection]):
    """Bisections of batches."""

    _kind, _record = LiveKind.BISECTION, Bisection

    def since(self, repository: RepositoryName, since: datetime) -> Sequence[Bisection]:
        """The repository's bisections with events since then."""
        return self._records(Bisection, _RECENT, **self._these(repository, since=since))
