"""How far each repository's event log is read."""

from collections.abc import Mapping, Sequence

from sqlalchemy import select

from bot.domain.event_log import LastPoll, Position, Walk, Window
from bot.domain.repository import RepositoryName
from bot.storage.statements import Part, ResultRow, as_row
from bot.storage.tables import polls, positions


class SqlPositions(Part):
    """One row per repository; a loaded one stays locked until the transaction ends."""

    def load(self, repositories: Sequence[RepositoryName]) -> Mapping[RepositoryName, Position]:
        # In one order, so that two processes never wait for each other.
        locking = select(positions).order_by(positions.c.repository).with_for_update()
        rows = self._statements.by_keys(locking, positions.c.repository, repositories)
        return {row.repository: _position(row) for row in rows}

    def save(self, position: Position) -> None:
        walk = position.walk
        self._statements.put(
            positions,
            as_row(
                positions,
                position,
                walk_received_from=walk.window.received_from if walk else None,
                walk_received_to=walk.window.received_to if walk else None,
                walk_cursor=walk.cursor if walk else None,
                walk_newest=walk.newest if walk else None,
            ),
        )


class SqlPolls(Part):
    """One row per repository: when its log was last read to the end, and for which types."""

    def save(self, polled: Mapping[RepositoryName, LastPoll]) -> None:
        rows = [
            {"repository": name, "polled_at": polled[name].at, "types": polled[name].types}
            for name in sorted(polled)
        ]
        self._statements.put(polls, *rows)

    def latest(self, repositories: Sequence[RepositoryName]) -> Mapping[RepositoryName, LastPoll]:
        rows = self._statements.by_keys(select(polls), polls.c.repository, repositories)
        return {row.repository: LastPoll(row.polled_at, row.types) for row in rows}


def _position(row: ResultRow) -> Position:
    walk = None
    if row.walk_received_from is not None:
        window = Window(row.walk_received_from, row.walk_received_to)
        walk = Walk(window, cursor=row.walk_cursor, newest=row.walk_newest)
    return Position(row.repository, row.origin, row.watermark, walk)
