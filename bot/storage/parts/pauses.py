"""Pauses from their beginning to their end."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import String, bindparam, cast, delete, exists, insert, or_, select, update

from bot.domain.cards import CardKind
from bot.domain.pause_records import PauseRecord, Who
from bot.domain.repository import RepositoryName
from bot.storage.statements import PRUNE_SLICE, Prepared, PreparedList, Statements, slices
from bot.storage.tables import cards, pauses, resume_watchers


class SqlPauses:
    """Pauses as rows. SQLite has one writer; on PostgreSQL a lock makes one per repository."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    def of(self, repository: RepositoryName, since: datetime) -> Sequence[PauseRecord]:
        # A pause that has no row yet may be told of by several at once.
        self._statements.hold(repository)
        return self.recent(repository, since)

    def recent(self, repository: RepositoryName, since: datetime) -> Sequence[PauseRecord]:
        rows = self._statements.run(
            select(pauses)
            .where(
                pauses.c.repository == repository,
                or_(pauses.c.ended_at.is_(None), pauses.c.ended_at >= since),
            )
            .order_by(pauses.c.paused_at.desc())
        )
        return [_pause(row._asdict()) for row in rows]

    def open(self, repositories: Collection[RepositoryName]) -> Sequence[PauseRecord]:
        rows = self._statements.rows_in(_OPEN, sorted(set(repositories)))
        return [_pause(row._asdict()) for row in rows]

    def get(self, pause_ids: Collection[int]) -> Mapping[int, PauseRecord]:
        found: dict[int, PauseRecord] = {}
        for some in slices(sorted(set(pause_ids))):
            rows = self._statements.run(select(pauses).where(pauses.c.pause_id.in_(some)))
            found |= {row.pause_id: _pause(row._asdict()) for row in rows}
        return found

    def save(self, record: PauseRecord) -> int:
        if record.pause_id:
            self._statements.run(
                update(pauses).where(pauses.c.pause_id == record.pause_id).values(**_values(record))
            )
            return record.pause_id
        added = self._statements.run(
            insert(pauses).values(**_values(record)).returning(pauses.c.pause_id)
        )
        pause_id: int = added.scalar_one()
        return pause_id

    def untold_ends(self, ended_before: datetime) -> Sequence[PauseRecord]:
        rows = self._statements.rows(_UNTOLD_ENDS, ended_before=ended_before)
        return [_pause(row._asdict()) for row in rows]

    def delete_before(self, ended_before: datetime) -> int:
        """At most PRUNE_SLICE a call, the oldest first."""
        is_shown = exists().where(
            cards.c.kind == CardKind.PAUSE,
            cards.c.repository == pauses.c.repository,
            cards.c.key == cast(pauses.c.pause_id, String),
        )
        oldest = (
            select(pauses.c.pause_id)
            .where(pauses.c.ended_at < ended_before, pauses.c.end_told, ~is_shown)
            .order_by(pauses.c.ended_at)
            .limit(PRUNE_SLICE)
        )
        rows = self._statements.run(oldest)
        old = [row.pause_id for row in rows]
        for some in slices(old):
            self._statements.run(
                delete(resume_watchers).where(resume_watchers.c.pause_id.in_(some))
            )
            self._statements.run(delete(pauses).where(pauses.c.pause_id.in_(some)))
        return len(old)


def _values(record: PauseRecord) -> dict[str, object]:
    values = asdict(record)
    del values["pause_id"]
    by, ended_by = values.pop("by"), values.pop("ended_by")
    return values | {
        "by_id": by["user_id"] if by else None,
        "by_name": by["name"] if by else None,
        "ended_by_id": ended_by["user_id"] if ended_by else None,
        "ended_by_name": ended_by["name"] if ended_by else None,
    }


_OPEN = PreparedList(
    "repository",
    pauses.c.repository.type,
    lambda _, names: (
        select(pauses)
        .where(pauses.c.repository.in_(names), pauses.c.ended_at.is_(None))
        .order_by(pauses.c.repository, pauses.c.paused_at.desc())
    ),
)

_UNTOLD_ENDS = Prepared(
    lambda _: (
        select(pauses)
        .where(~pauses.c.end_told, pauses.c.ended_at < bindparam("ended_before"))
        .order_by(pauses.c.ended_at)
        .limit(PRUNE_SLICE)
    )
)


def _pause(row: Mapping[str, Any]) -> PauseRecord:
    values = dict(row)
    return PauseRecord(
        by=_who(values.pop("by_name"), values.pop("by_id")),
        ended_by=_who(values.pop("ended_by_name"), values.pop("ended_by_id")),
        **values,
    )


def _who(name: str | None, user_id: str | None) -> Who | None:
    return Who(name, user_id) if name is not None else None
