"""Where the reading of each repository's event log stands."""

from collections.abc import Mapping, Sequence

from sqlalchemy import Executable, bindparam, select

from bot.domain.event_log import Position, Walk, Window
from bot.domain.repository import RepositoryName
from bot.storage.statements import Insertion, Prepared, PreparedList, ResultRow, Statements
from bot.storage.tables import positions


class SqlPositions:
    """Positions as rows; a loaded one stays locked until the transaction ends."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    def load(self, repositories: Sequence[RepositoryName]) -> Mapping[RepositoryName, Position]:
        rows = self._statements.rows_in(_LOAD, sorted(set(repositories)))
        return {row.repository: _position(row) for row in rows}

    def save(self, position: Position) -> None:
        self._statements.changed(_SAVE, **_values(position))


_LOAD = PreparedList(
    "repository",
    positions.c.repository.type,
    lambda _, names: (
        select(positions)
        .where(positions.c.repository.in_(names))
        .order_by(positions.c.repository)
        .with_for_update()
    ),
)

_CHANGING = (
    "origin",
    "watermark",
    "walk_received_from",
    "walk_received_to",
    "walk_cursor",
    "walk_newest",
)


def _save(insert: Insertion) -> Executable:
    added = insert(positions).values({name: bindparam(name) for name in ("repository", *_CHANGING)})
    return added.on_conflict_do_update(
        index_elements=[positions.c.repository],
        set_={name: added.excluded[name] for name in _CHANGING},
    )


_SAVE = Prepared(_save)


def _values(position: Position) -> dict[str, object]:
    walk = position.walk
    return {
        "repository": position.repository,
        "origin": position.origin,
        "watermark": position.watermark,
        "walk_received_from": walk.window.received_from if walk else None,
        "walk_received_to": walk.window.received_to if walk else None,
        "walk_cursor": walk.cursor if walk else None,
        "walk_newest": walk.newest if walk else None,
    }


def _position(row: ResultRow) -> Position:
    walk = None
    if row.walk_received_from is not None:
        window = Window(row.walk_received_from, row.walk_received_to)
        walk = Walk(window=window, cursor=row.walk_cursor, newest=row.walk_newest)
    return Position(
        repository=row.repository, origin=row.origin, watermark=row.watermark, walk=walk
    )
