"""How far each repository's event log is read."""

from collections.abc import Mapping, Sequence

from sqlalchemy import select

from bot.domain.event_log import LastPoll, Position, Walk, Window
from bot.domain.repository import RepositoryName
from bot.store.statements import Part, ResultRow
from bot.store.tables import repositories

_POSITION = (
    repositories.c.repository,
    repositories.c.origin,
    repositories.c.watermark,
    repositories.c.walk_received_from,
    repositories.c.walk_received_to,
    repositories.c.walk_cursor,
    repositories.c.walk_newest,
)
# In one order, so that two processes never wait for each other.
_LOCKED_POSITIONS = (
    select(*_POSITION)
    .where(repositories.c.origin.is_not(None))
    .order_by(repositories.c.repository)
    .with_for_update()
)
_LAST_POLLS = select(
    repositories.c.repository, repositories.c.polled_at, repositories.c.polled_types
).where(repositories.c.polled_at.is_not(None))


class Positions(Part):
    """One per repository; a loaded one stays locked until the transaction ends."""

    def load(self, names: Sequence[RepositoryName]) -> Mapping[RepositoryName, Position]:
        rows = self._statements.by_keys(_LOCKED_POSITIONS, repositories.c.repository, names)
        return {row.repository: _position(row) for row in rows}

    def save(self, position: Position) -> None:
        walk = position.walk
        self._statements.put(
            repositories,
            {
                "repository": position.repository,
                "origin": position.origin,
                "watermark": position.watermark,
                "walk_received_from": walk.window.received_from if walk else None,
                "walk_received_to": walk.window.received_to if walk else None,
                "walk_cursor": walk.cursor if walk else None,
                "walk_newest": walk.newest if walk else None,
            },
        )


class Polls(Part):
    """One per repository: when its log was last read to the end, and for which types."""

    def save(self, polled: Mapping[RepositoryName, LastPoll]) -> None:
        rows = [
            {"repository": name, "polled_at": polled[name].at, "polled_types": polled[name].types}
            for name in sorted(polled)
        ]
        self._statements.put(repositories, *rows)

    def latest(self, names: Sequence[RepositoryName]) -> Mapping[RepositoryName, LastPoll]:
        """Those that were never read are left out."""
        rows = self._statements.by_keys(_LAST_POLLS, repositories.c.repository, names)
        return {row.repository: LastPoll(row.polled_at, row.polled_types) for row in rows}


def _position(row: ResultRow) -> Position:
    walk = None
    if row.walk_received_from is not None:
        window = Window(row.walk_received_from, row.walk_received_to)
        walk = Walk(window, cursor=row.walk_cursor, newest=row.walk_newest)
    return Position(row.repository, row.origin, row.watermark, walk)
