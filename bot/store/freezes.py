"""Scheduled freezes of repositories, as their event logs tell."""

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import BigInteger, Table, or_, select

from bot.domain.event_records import FreezeAttributes
from bot.domain.freezes import Freeze, Stage
from bot.domain.repository import RepositoryName
from bot.store.schema import (
    OutsideText,
    Repository,
    UtcTime,
    as_json,
    as_text,
    key,
    metadata,
    optional,
    partial_index,
    required,
)
from bot.store.statements import Part, Rows, as_row, from_row

freezes = Table(
    "freezes",
    metadata,
    *key(Repository, "repository"),
    *key(BigInteger, "event_id"),
    *required(BigInteger, "set_id"),
    *required(UtcTime, "set_at"),
    *required(as_json(FreezeAttributes), "terms"),
    *optional(OutsideText, "by"),
    *optional(UtcTime, "begins_at", "ends_at"),
    *optional(as_json(FreezeAttributes), "before"),
    *required(as_text(Stage), "stage"),
    *optional(BigInteger, "queued"),
    *optional(UtcTime, "over_at"),
    *optional(OutsideText, "removed_by", "removed_for"),
    *optional(UtcTime, "due_at"),
    comment="One scheduled freeze, by its first known event: planned, in force or over.",
)
"""`due_at`: when its next stage begins."""

partial_index(freezes.c.due_at, where=freezes.c.due_at.is_not(None))


class Freezes(Part):
    """The known freezes of each repository."""

    def of(self, names: Collection[RepositoryName]) -> Sequence[Freeze]:
        """Those that are planned or in force, in the order in which they begin."""
        ongoing = select(freezes).where(freezes.c.over_at.is_(None))
        rows = self._by_keys(ongoing, freezes.c.repository, names)
        found = [from_row(Freeze, row) for row in rows]
        return sorted(found, key=lambda one: (one.begins_at or one.set_at, one.event_id))

    def locked(self, repository: RepositoryName) -> Sequence[Freeze]:
        """All of the repository, oldest first; nobody else changes them in this transaction."""
        self._hold(f"freezes of {repository}")
        return self._records(Freeze, _of(repository).order_by(freezes.c.event_id))

    def recent(self, repository: RepositoryName, since: datetime) -> Sequence[Freeze]:
        """Those that are not over, or ended since then."""
        lasted = or_(freezes.c.over_at.is_(None), freezes.c.over_at >= since)
        return self._records(Freeze, _of(repository).where(lasted))

    def get(self, repository: RepositoryName, event_id: int) -> Freeze | None:
        return self._first(Freeze, _of(repository).where(freezes.c.event_id == event_id))

    def set_by(self, repository: RepositoryName, event_id: int) -> Freeze | None:
        """The freeze whose terms, or end, are from that event."""
        return self._first(Freeze, _of(repository).where(freezes.c.set_id == event_id))

    def due(self, now: datetime) -> Sequence[Freeze]:
        """Those whose next stage has begun, by its time."""
        due = select(freezes).where(freezes.c.due_at <= now)
        return self._records(Freeze, due.order_by(freezes.c.due_at))

    def save(self, freeze: Freeze) -> None:
        """Insert or replace it. Call `locked` before, in the same transaction."""
        self._put(freezes, as_row(freezes, freeze, due_at=freeze.due_at))


def _of(repository: RepositoryName) -> Rows:
    return select(freezes).where(freezes.c.repository == repository)
