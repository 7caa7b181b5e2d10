"""What people did to a queue through this bot."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, literal, or_, select, tuple_

from bot.domain.audit import Action, Actor, ActResult, AuditPlace, AuditRecord, AuditSelection
from bot.domain.repository import RepositoryName
from bot.store.statements import Part, ResultRow, as_row, from_row
from bot.store.tables import audit

_PLACE = tuple_(audit.c.at, audit.c.record_id)
_ENDS = audit.alias("ends")


class Audit(Part):
    """One row per record; the database refuses to change any, and to delete any but refusals."""

    def add(self, record: AuditRecord) -> int:
        """Store and return the record's id."""
        row = as_row(
            audit,
            record,
            user_id=record.actor.user_id,
            user_name=record.actor.name,
            team_id=record.actor.team_id,
        )
        return self._statements.add_numbered(audit, row)

    def get(self, record_ids: Collection[int]) -> Mapping[int, AuditRecord]:
        rows = self._statements.by_keys(select(audit), audit.c.record_id, record_ids)
        return {row.record_id: _record(row) for row in rows}

    def latest(
        self, repository: RepositoryName, action: Action, limit: int = 1
    ) -> Sequence[AuditRecord]:
        """The latest acts that changed the queue (result DONE), newest first."""
        return self._read(
            select(audit)
            .where(
                audit.c.repository == repository,
                audit.c.action == action,
                audit.c.result == ActResult.DONE,
            )
            .order_by(audit.c.at.desc(), audit.c.record_id.desc())
            .limit(limit)
        )

    def newest(
        self, selection: AuditSelection, limit: int, *, before: AuditPlace | None = None
    ) -> Sequence[AuditRecord]:
        """The newest of a selection, or those next older than `before`; newest first."""
        newest = (
            select(audit)
            .where(*_conditions(selection))
            .order_by(audit.c.at.desc(), audit.c.record_id.desc())
            .limit(limit)
        )
        return self._read(newest if before is None else newest.where(_bound(before) > _PLACE))

    def oldest(
        self, selection: AuditSelection, limit: int, *, after: AuditPlace | None = None
    ) -> Sequence[AuditRecord]:
        """The oldest of a selection, or those next newer than `after`; oldest first."""
        oldest = (
            select(audit)
            .where(*_conditions(selection))
            .order_by(audit.c.at, audit.c.record_id)
            .limit(limit)
        )
        return self._read(oldest if after is None else oldest.where(_bound(after) < _PLACE))

    def since(self, repository: RepositoryName, at: datetime) -> Sequence[AuditRecord]:
        """All records of the repository from `at` on, oldest first."""
        return self._read(
            select(audit)
            .where(audit.c.repository == repository, audit.c.at >= at)
            .order_by(audit.c.at, audit.c.record_id)
        )

    def of_group_act(self, group_act_id: int, at: datetime) -> Sequence[AuditRecord]:
        """All records of the parts of an act on a group, which began at `at`; oldest first."""
        return self._read(
            select(audit)
            .where(audit.c.at >= at, audit.c.group_act_id == group_act_id)
            .order_by(audit.c.at, audit.c.record_id)
        )

    def _read(self, wanted: Select[*tuple[Any, ...]]) -> list[AuditRecord]:
        return [_record(row) for row in self._statements.run(wanted)]


def _bound(place: AuditPlace) -> ColumnElement[Any]:
    """A place to compare rows with, in the columns' own types."""
    return tuple_(
        literal(place.at, audit.c.at.type), literal(place.record_id, audit.c.record_id.type)
    )


def _conditions(selection: AuditSelection) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if selection.repository is not None:
        conditions.append(audit.c.repository == selection.repository)
    if selection.since is not None:
        conditions.append(audit.c.at >= selection.since)
    if selection.ends_only:
        has_end = select(_ENDS.c.record_id).where(
            _ENDS.c.act_id == audit.c.record_id, _ENDS.c.act_id > 0
        )
        conditions.append(or_(audit.c.result != ActResult.STARTED, ~has_end.exists()))
    return conditions


def _record(row: ResultRow) -> AuditRecord:
    return from_row(AuditRecord, row, actor=Actor(row.user_id, row.user_name, row.team_id))
