"""The audit: what people did to a queue through this bot."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, or_, select, tuple_

from bot.domain.audit import ActResult, AuditPlace, AuditRecord, AuditSelection
from bot.domain.repository import RepositoryName
from bot.store.statements import Numbered, Rows, as_row
from bot.store.tables import audit

_IN_ORDER = audit.c.at, audit.c.record_id
_PLACE = tuple_(*_IN_ORDER)


class Audit(Numbered[AuditRecord]):
    """Records of acts; triggers forbid changes, and deletions except of refusals."""

    kind, rows, number = AuditRecord, select(audit), audit.c.record_id

    def add(self, record: AuditRecord) -> int:
        return self._add(audit, as_row(audit, record))

    def newest(
        self, selection: AuditSelection, limit: int, *, before: AuditPlace | None = None
    ) -> Sequence[AuditRecord]:
        """The newest of a selection, or those next older than `before`; newest first."""
        rows = _selected(selection).order_by(audit.c.at.desc(), audit.c.record_id.desc())
        older = rows.where(_bound(before) > _PLACE) if before is not None else rows
        return self._records(AuditRecord, older.limit(limit))

    def oldest(
        self, selection: AuditSelection, limit: int, *, after: AuditPlace | None = None
    ) -> Sequence[AuditRecord]:
        """The oldest of a selection, or those next newer than `after`; oldest first."""
        rows = _selected(selection).order_by(*_IN_ORDER)
        newer = rows.where(_bound(after) < _PLACE) if after is not None else rows
        return self._records(AuditRecord, newer.limit(limit))

    def since(self, repository: RepositoryName, at: datetime) -> Sequence[AuditRecord]:
        """All records of the repository from `at` on, oldest first."""
        since = select(audit).where(audit.c.repository == repository, audit.c.at >= at)
        return self._records(AuditRecord, since.order_by(*_IN_ORDER))

    def of_group_act(self, group_act_id: int, at: datetime) -> Sequence[AuditRecord]:
        """All records of the parts of a group's act that began at `at`, oldest first."""
        parts = select(audit).where(audit.c.at >= at, audit.c.group_act_id == group_act_id)
        return self._records(AuditRecord, parts.order_by(*_IN_ORDER))


def _bound(place: AuditPlace) -> ColumnElement[Any]:
    return tuple_(place.at, place.record_id, types=[column.type for column in _IN_ORDER])


def _selected(selection: AuditSelection) -> Rows:
    rows = select(audit)
    if selection.repository is not None:
        rows = rows.where(audit.c.repository == selection.repository)
    if selection.since is not None:
        rows = rows.where(audit.c.at >= selection.since)
    if selection.ends_only:
        ends = audit.alias()
        end = select(ends.c.record_id).where(ends.c.act_id == audit.c.record_id, ends.c.act_id > 0)
        rows = rows.where(or_(audit.c.result != ActResult.STARTED, ~end.exists()))
    return rows
