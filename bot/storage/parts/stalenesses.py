"""Event logs that are, or were, not read any more."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from sqlalchemy import RowMapping, delete, func, insert, select, update

from bot.domain.repository import RepositoryName
from bot.domain.staleness import Staleness
from bot.storage.statements import Statements, slices
from bot.storage.tables import stalenesses


class SqlStalenesses:
    """A row for logs that became stale together."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    def hold(self) -> None:
        self._statements.hold(stalenesses.name)

    def add(self, begun: Staleness) -> int:
        added = self._statements.run(
            insert(stalenesses).values(**_values(begun)).returning(stalenesses.c.staleness_id)
        )
        staleness_id: int = added.scalar_one()
        return staleness_id

    def save(self, changed: Staleness) -> bool:
        saved = self._statements.run(
            update(stalenesses)
            .where(
                stalenesses.c.staleness_id == changed.staleness_id,
                stalenesses.c.ended_at.is_(None),
            )
            .values(**_values(changed))
        )
        return saved.rowcount > 0

    def active(self) -> Sequence[Staleness]:
        rows = self._statements.run(
            select(stalenesses)
            .where(stalenesses.c.ended_at.is_(None))
            .order_by(stalenesses.c.staleness_id)
        )
        return [_staleness(row) for row in rows.mappings()]

    def last_end(self) -> datetime | None:
        rows = self._statements.run(select(func.max(stalenesses.c.ended_at)))
        ended_at: datetime | None = rows.scalar_one()
        return ended_at

    def get(self, staleness_ids: Collection[int]) -> Mapping[int, Staleness]:
        found: dict[int, Staleness] = {}
        for some in slices(sorted(set(staleness_ids))):
            rows = self._statements.run(
                select(stalenesses).where(stalenesses.c.staleness_id.in_(some))
            )
            found |= {row["staleness_id"]: _staleness(row) for row in rows.mappings()}
        return found

    def delete_before(self, ended_before: datetime) -> int:
        deleted = self._statements.run(
            delete(stalenesses).where(stalenesses.c.ended_at < ended_before)
        )
        return deleted.rowcount


def _values(staleness: Staleness) -> dict[str, object]:
    return {
        "repositories": list(staleness.repositories),
        "since": staleness.since,
        "told_at": staleness.told_at,
        "read_again": {name: at.isoformat() for name, at in staleness.read_again.items()},
        "ended_at": staleness.ended_at,
    }


def _staleness(row: RowMapping) -> Staleness:
    values = dict(row)
    names = tuple(RepositoryName(name) for name in values.pop("repositories"))
    read_again = {
        RepositoryName(name): datetime.fromisoformat(at)
        for name, at in (values.pop("read_again") or {}).items()
    }
    return Staleness(repositories=names, read_again=read_again, **values)
