"""What threads tell of: queue entries of pull requests, and bisections."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from sqlalchemy import bindparam, select

from bot.domain.live_messages import LiveKind
from bot.domain.repository import RepositoryName
from bot.domain.threads import Bisection, QueueEntry
from bot.store.statements import Part, as_row, from_row
from bot.store.tables import threads

_OF_REPOSITORY = select(threads).where(threads.c.repository == bindparam("name"))
_ENTRIES = _OF_REPOSITORY.where(threads.c.kind == LiveKind.ENTRY)
_RECENT_ENTRIES = _ENTRIES.where(threads.c.last_at >= bindparam("since"))
_LASTING = _RECENT_ENTRIES.where(threads.c.ended_at.is_(None)).order_by(
    threads.c.began_at, threads.c.key
)
_BISECTIONS = _OF_REPOSITORY.where(threads.c.kind == LiveKind.BISECTION)
_RECENT_BISECTIONS = _BISECTIONS.where(threads.c.last_at >= bindparam("since"))


class QueueEntries(Part):
    """One row per queue entry of a pull request."""

    def save(self, changed: Sequence[QueueEntry]) -> None:
        """Insert, or replace those with the same key."""
        rows = [as_row(threads, one, kind=LiveKind.ENTRY) for one in changed]
        self._statements.put(threads, *rows)

    def of(
        self, repository: RepositoryName, numbers: Collection[int], since: datetime
    ) -> Sequence[QueueEntry]:
        """Those of the pull requests that something happened in since."""
        rows = self._statements.by_keys(
            _RECENT_ENTRIES, threads.c.pull_request, numbers, name=repository, since=since
        )
        return [from_row(QueueEntry, row) for row in rows]

    def lasting(self, repository: RepositoryName, since: datetime) -> Sequence[QueueEntry]:
        """Those without an end that something happened in since."""
        rows = self._statements.run(_LASTING, {"name": repository, "since": since})
        return [from_row(QueueEntry, row) for row in rows]

    def get(self, repository: RepositoryName, keys: Collection[str]) -> Mapping[str, QueueEntry]:
        rows = self._statements.by_keys(_ENTRIES, threads.c.key, keys, name=repository)
        return {row.key: from_row(QueueEntry, row) for row in rows}


class Bisections(Part):
    """One row per bisection of a batch."""

    def save(self, changed: Sequence[Bisection]) -> None:
        """Insert, or replace those with the same key."""
        rows = [as_row(threads, one, kind=LiveKind.BISECTION) for one in changed]
        self._statements.put(threads, *rows)

    def since(self, repository: RepositoryName, since: datetime) -> Sequence[Bisection]:
        """Those of the repository whose last event is not older."""
        rows = self._statements.run(_RECENT_BISECTIONS, {"name": repository, "since": since})
        return [from_row(Bisection, row) for row in rows]

    def get(self, repository: RepositoryName, keys: Collection[str]) -> Mapping[str, Bisection]:
        rows = self._statements.by_keys(_BISECTIONS, threads.c.key, keys, name=repository)
        return {row.key: from_row(Bisection, row) for row in rows}
