"""Repositories: progress in the event log, failures in a row, and the state on boards."""

from collections.abc import Mapping, Sequence

from sqlalchemy import BigInteger, Table, Text, select

from bot.domain.boards import Picture
from bot.domain.event_log import LastPoll, Position
from bot.domain.repository import RepositoryName
from bot.store.column_types import Json, Repository, SortedSet, UtcTime
from bot.store.schema import key, metadata, optional
from bot.store.statements import Part, as_row, columns_of

repositories = Table(
    "repositories",
    metadata,
    *key(Repository, "repository"),
    *optional(UtcTime, "origin", "watermark", "polled_at", "read_at"),
    *optional(UtcTime, "walk_window_received_from", "walk_window_received_to", "walk_newest"),
    *optional(Text, "walk_cursor"),
    *optional(SortedSet, "polled_types"),
    *optional(BigInteger, "failures", "failed_pull_request"),
    *optional(Json(Picture), "picture"),
    comment="One repository: what is read of its log, its failures in a row, what boards show.",
)
"""Each writer sets its own columns; columns without a value yet are None.

To avoid deadlocks, a transaction writes here before it locks live messages and channels.
"""

_OF = repositories.c.repository
_BEGUN = (
    select(*columns_of(repositories, Position))
    .where(repositories.c.origin.is_not(None))
    # In one order, to avoid deadlocks.
    .order_by(_OF)
    .with_for_update()
)


class Positions(Part):
    """Progress in each log; a loaded position is locked until the transaction ends."""

    def load(self, names: Sequence[RepositoryName]) -> Mapping[RepositoryName, Position]:
        return self._get(Position, _BEGUN, _OF, names)

    def save(self, position: Position) -> None:
        self._put(repositories, as_row(repositories, position))


class Polls(Part):
    """When each log was last read to the end, and for which types."""

    def save(self, polled: Mapping[RepositoryName, LastPoll]) -> None:
        rows = [
            {"repository": name, "polled_at": polled[name].at, "polled_types": polled[name].types}
            for name in sorted(polled)
        ]
        self._put(repositories, *rows)

    def latest(self, names: Sequence[RepositoryName]) -> Mapping[RepositoryName, LastPoll]:
        """The last polls; logs never read are left out."""
        polled = select(_OF, repositories.c.polled_at, repositories.c.polled_types).where(
            repositories.c.polled_at.is_not(None)
        )
        rows = self._by_keys(polled, _OF, names)
        return {row.repository: LastPoll(row.polled_at, row.polled_types) for row in rows}
