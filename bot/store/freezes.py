"""Scheduled freezes of repositories, as their event logs tell."""

from collections.abc import Collection, Sequence

from sqlalchemy import BigInteger, Table, select

from bot.domain.event_records import FreezeAttributes
from bot.domain.freezes import Freeze
from bot.domain.repository import RepositoryName
from bot.store.column_types import Json, OutsideText, Repository, UtcTime
from bot.store.schema import key, metadata, optional, required
from bot.store.statements import Part, as_row, from_row

freezes = Table(
    "freezes",
    metadata,
    *key(Repository, "repository"),
    *key(BigInteger, "event_id"),
    *required(UtcTime, "set_at", "begins_at"),
    *required(Json(FreezeAttributes), "terms"),
    *optional(OutsideText, "by"),
    *optional(UtcTime, "ends_at"),
    comment="One scheduled freeze, by the event that set it: planned, in force or over.",
)


class Freezes(Part):
    """The known freezes of each repository."""

    def of(self, names: Collection[RepositoryName]) -> Sequence[Freeze]:
        """In the order in which they begin."""
        rows = self._by_keys(select(freezes), freezes.c.repository, names)
        return sorted((from_row(Freeze, row) for row in rows), key=lambda one: one.begins_at)

    def add(self, new: Freeze) -> None:
        self._add_new(freezes, as_row(freezes, new))

    def remove(self, gone: Freeze) -> None:
        this = freezes.c.event_id == gone.event_id
        self._remove(freezes, freezes.c.repository == gone.repository, this)
