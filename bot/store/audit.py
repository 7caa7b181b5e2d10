"""The audit: what people did to a queue through this bot."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, literal, or_, select, tuple_

from bot.domain.audit import ActResult, AuditPlace, AuditRecord, AuditSelection
from bot.domain.repository import RepositoryName
from bot.store.statements import Condition, Part, as_row
from bot.store.tables import audit

_PLACE = tuple_(audit.c.at, audit.c.record_id)
_IN_ORDER = audit.c.at, audit.c.record_id


class Audit(Part):
    """Records of acts; triggers forbid changes, and deletions except of refusals."""

    def add(self, record: AuditRecord) -> int:
        """Store and return the record's id."""
        return self._add(audit, as_row(audit, record))

    def get(self, record_ids: Collection[int]) -> Mapping[int, AuditRecord]:
        return self._get(AuditRecord, select(audit), audit.c.record_id, record_ids)

    def newest(
        self, selection: AuditSelection, limit: int, *, before: AuditPlace | None = None
    ) -> Sequence[AuditRecord]:
        """The newest of a selection, or those next older than `before`; newest first."""
        newest = select(audit).where(*_conditions(selection)).limit(limit)
        newest = newest.order_by(audit.c.at.desc(), audit.c.record_id.desc())
        older = newest if before is None else newest.where(_bound(before) > _PLACE)
        return self._records(AuditRecord, older)

    def oldest(
        self, selection: AuditSelection, limit: int, *, after: AuditPlace | None = None
    ) -> Sequence[AuditRecord]:
        """The oldest of a selection, or those next newer than `after`; oldest first."""
        oldest = select(audit).where(*_conditions(selection)).order_by(*_IN_ORDER).limit(limit)
        newer = oldest if after is None else oldest.where(_bound(after) < _PLACE)
        return self._records(AuditRecord, newer)

    def since(self, repository: RepositoryName, at: datetime) -> Sequence[AuditRecord]:
        """All records of the repository from `at` on, oldest first."""
        since = select(audit).where(audit.c.repository == repository, audit.c.at >= at)
        return self._records(AuditRecord, since.order_by(*_IN_ORDER))

    def of_group_act(self, group_act_id: int, at: datetime) -> Sequence[AuditRecord]:
        """All records of the parts of a group's act that began at `at`, oldest first."""
        parts = select(audit).where(audit.c.at >= at, audit.c.group_act_id == group_act_id)
        return self._records(AuditRecord, parts.order_by(*_IN_ORDER))


def _bound(place: AuditPlace) -> ColumnElement[Any]:
    """A position to compare rows with, in the columns' own types."""
    return tuple_(
        literal(place.at, audit.c.at.type), literal(place.record_id, audit.c.record_id.type)
    )


def _conditions(selection: AuditSelection) -> list[Condition]:
    conditions: list[Condition] = []
    if selection.repository is not None:
        conditions.append(audit.c.repository == selection.repository)
    if selection.since is not None:
        conditions.append(audit.c.at >= selection.since)
    if selection.ends_only:
        ends = audit.alias()
        end = select(ends.c.record_id).where(ends.c.act_id == audit.c.record_id, ends.c.act_id > 0)
        conditions.append(or_(audit.c.result != ActResult.STARTED, ~end.exists()))
    return conditions
