"""Rows of freezes, and of the occurrences of recurring windows."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import or_, select

from bot.freezes.freeze import Ending, Freeze, Told
from bot.freezes.tables import MADE_FOR_A_GROUP, NOT_OVER, freezes, window_occurrences
from bot.freezes.windows import OccurrenceKey, OccurrenceRecord
from bot.kernel.repository import RepositoryName
from bot.store.statements import Part, ResultRow, Rows, as_row, from_row, from_rows


class Freezes(Part):
    """The known freezes of each repository."""

    def of(self, names: Collection[RepositoryName]) -> Sequence[Freeze]:
        """Those that are planned or in force, in the order in which they begin."""
        ongoing = select(freezes).where(NOT_OVER)
        rows = self._by_keys(ongoing, freezes.c.repository, names)
        found = [_freeze_of_row(row) for row in rows]
        return sorted(found, key=_beginning)

    def elsewhere(self, names: Collection[RepositoryName]) -> Sequence[Freeze]:
        """Those that are planned or in force in all other repositories."""
        ongoing = self._freezes(select(freezes).where(NOT_OVER))
        return [freeze for freeze in ongoing if freeze.repository not in names]

    def in_force(self, repository: RepositoryName, at: datetime) -> Sequence[Freeze]:
        """Those in force then that aren't over, in the order in which they began."""
        return [freeze for freeze in self.of([repository]) if freeze.is_in_force(at)]

    def locked(self, repository: RepositoryName) -> Sequence[Freeze]:
        """All of the repository, oldest first; nobody else changes them in this transaction."""
        self.lock(f"freezes of {repository}")
        return self._freezes(_freezes(repository).order_by(freezes.c.row_id))

    def recent(self, repository: RepositoryName, since: datetime) -> Sequence[Freeze]:
        """Those that are not over, or ended since then."""
        lasted = or_(NOT_OVER, freezes.c.over_at >= since)
        return self._freezes(_freezes(repository).where(lasted))

    def one(self, row_id: int) -> Freeze | None:
        return self._freeze(select(freezes).where(freezes.c.row_id == row_id))

    def with_ids(self, repository: RepositoryName, freeze_ids: Collection[str]) -> Sequence[Freeze]:
        """Those with these ids of the service, in force or over."""
        return self._freezes(
            _freezes(repository).where(freezes.c.freeze_id.in_(sorted(freeze_ids)))
        )

    def of_act(self, group_act_id: int) -> Sequence[Freeze]:
        """Those made by an act on a group, in force or over, oldest first."""
        # SQLite uses the index only if its condition is one of the query's, too.
        made = select(freezes).where(MADE_FOR_A_GROUP, freezes.c.group_act_id == group_act_id)
        return self._freezes(made.order_by(freezes.c.row_id))

    def set_by(self, repository: RepositoryName, event_id: int) -> Freeze | None:
        """The freeze whose terms, or end, are from that event."""
        return self._freeze(_freezes(repository).where(freezes.c.set_id == event_id))

    def told_by(self, repository: RepositoryName, event_ids: Collection[int]) -> Sequence[Freeze]:
        """Those whose first known event, or the one that set their terms or end, is among these."""
        numbers = sorted(event_ids)
        is_told = or_(freezes.c.first_id.in_(numbers), freezes.c.set_id.in_(numbers))
        return self._freezes(_freezes(repository).where(is_told))

    def due(self, now: datetime) -> Sequence[Freeze]:
        """Those whose next stage has begun, by its time."""
        due = select(freezes).where(freezes.c.due_at <= now)
        return self._freezes(due.order_by(freezes.c.due_at))

    def save(self, freeze: Freeze) -> Freeze:
        """Insert one without a row, else replace it; return it with its `row_id`.

        Call `locked` before, in the same transaction.
        """
        row = _row_of_freeze(freeze)
        if not freeze.row_id:
            return replace(freeze, row_id=self._add(freezes, row))
        self._change(freezes, freezes.c.row_id == freeze.row_id, **row)
        return freeze

    def _freezes(self, rows: Rows) -> list[Freeze]:
        return [_freeze_of_row(row) for row in self._run(rows)]

    def _freeze(self, rows: Rows) -> Freeze | None:
        return next(iter(self._freezes(rows)), None)


def _freeze_of_row(row: ResultRow) -> Freeze:
    over_at = row.over_at
    ending = Ending(over_at, row.removed_by, row.removed_for) if over_at is not None else None
    told = from_row(Told, row)
    return from_row(Freeze, row, told=told, ending=ending, act=None, excluded=())


def _row_of_freeze(freeze: Freeze) -> dict[str, object]:
    ending = freeze.ending
    return {
        **as_row(freezes, freeze),
        **as_row(freezes, freeze.told),
        "begins_at": freeze.begins_at,
        "ends_at": freeze.ends_at,
        "due_at": freeze.due_at,
        "over_at": freeze.over_at,
        "removed_by": ending.by if ending is not None else None,
        "removed_for": ending.reason if ending is not None else None,
    }


def _beginning(freeze: Freeze) -> tuple[datetime, int]:
    """Its start, or when it was set if that is unreadable; of equal ones the first stored."""
    return freeze.begins_at or freeze.told.set_at, freeze.row_id


def _freezes(repository: RepositoryName) -> Rows:
    return select(freezes).where(freezes.c.repository == repository)


class Occurrences(Part):
    """What became of the occurrences of recurring windows."""

    def of(self, names: Collection[RepositoryName], now: datetime) -> Sequence[OccurrenceRecord]:
        """Those of these repositories whose end is to come."""
        lasting = select(window_occurrences).where(window_occurrences.c.ends_at > now)
        rows = self._by_keys(lasting, window_occurrences.c.repository, names)
        return from_rows(OccurrenceRecord, rows)

    def lasting(self, now: datetime) -> Sequence[OccurrenceRecord]:
        """Those whose end is to come."""
        rows = select(window_occurrences).where(window_occurrences.c.ends_at > now)
        return self._records(OccurrenceRecord, rows)

    def get(self, key: OccurrenceKey) -> OccurrenceRecord | None:
        return self._first(OccurrenceRecord, _of_window(key))

    def locked(self, key: OccurrenceKey) -> OccurrenceRecord | None:
        """The same; nobody else changes it until the transaction ends."""
        self.lock(f"windows of {key.repository}")
        return self.get(key)

    def freeze_ids(self, repository: RepositoryName) -> frozenset[str]:
        """The ids of all freezes that occurrences have made."""
        known = select(window_occurrences.c.freeze_id).where(
            window_occurrences.c.repository == repository,
            window_occurrences.c.freeze_id.is_not(None),
        )
        return frozenset(self._run(known).scalars())

    def save(self, record: OccurrenceRecord) -> None:
        """Insert or replace it. Call `locked` before, in the same transaction."""
        self._put(window_occurrences, as_row(window_occurrences, record))


def _of_window(key: OccurrenceKey) -> Rows:
    return select(window_occurrences).where(
        window_occurrences.c.repository == key.repository,
        window_occurrences.c.window == key.window,
        window_occurrences.c.begins_at == key.begins_at,
    )
