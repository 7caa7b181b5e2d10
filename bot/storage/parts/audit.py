"""What people did to a queue through this bot; rows are added, and only old refusals deleted."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    RowMapping,
    Select,
    bindparam,
    delete,
    insert,
    or_,
    select,
    tuple_,
)

from bot.domain.audit import (
    Action,
    Actor,
    ActResult,
    AuditPlace,
    AuditRecord,
    AuditSelection,
)
from bot.domain.repository import RepositoryName
from bot.storage.statements import PRUNE_SLICE, Statements, slices
from bot.storage.tables import audit


class SqlAudit:
    """The audit as rows; the database itself lets nobody change them, or delete but refusals."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    def add(self, record: AuditRecord) -> int:
        added = self._statements.run(
            insert(audit).values(**_values(record)).returning(audit.c.record_id)
        )
        record_id: int = added.scalar_one()
        return record_id

    def get(self, record_ids: Collection[int]) -> Mapping[int, AuditRecord]:
        found: dict[int, AuditRecord] = {}
        for some in slices(sorted(set(record_ids))):
            rows = self._statements.run(select(audit).where(audit.c.record_id.in_(some)))
            found |= {row["record_id"]: _record(row) for row in rows.mappings()}
        return found

    def latest(
        self, repository: RepositoryName, action: Action, limit: int = 1
    ) -> Sequence[AuditRecord]:
        rows = self._statements.run(
            select(audit)
            .where(
                audit.c.repository == repository,
                audit.c.action == action,
                audit.c.result == ActResult.DONE,
            )
            .order_by(audit.c.at.desc(), audit.c.record_id.desc())
            .limit(limit)
        )
        return [_record(row) for row in rows.mappings()]

    def newest(
        self, selection: AuditSelection, limit: int, *, before: AuditPlace | None = None
    ) -> Sequence[AuditRecord]:
        conditions = _conditions(selection)
        if before is not None:
            conditions.append(_bound(before) > _PLACE)
        return self._read(
            select(audit)
            .where(*conditions)
            .order_by(audit.c.at.desc(), audit.c.record_id.desc())
            .limit(limit)
        )

    def oldest(
        self, selection: AuditSelection, limit: int, *, after: AuditPlace | None = None
    ) -> Sequence[AuditRecord]:
        conditions = _conditions(selection)
        if after is not None:
            conditions.append(_bound(after) < _PLACE)
        return self._read(
            select(audit).where(*conditions).order_by(audit.c.at, audit.c.record_id).limit(limit)
        )

    def _read(self, statement: Select[*tuple[Any, ...]]) -> list[AuditRecord]:
        rows = self._statements.run(statement)
        return [_record(row) for row in rows.mappings()]

    def since(self, repository: RepositoryName, at: datetime) -> Sequence[AuditRecord]:
        rows = self._statements.run(
            select(audit)
            .where(audit.c.repository == repository, audit.c.at >= at)
            .order_by(audit.c.at, audit.c.record_id)
        )
        return [_record(row) for row in rows.mappings()]

    def delete_refusals_before(self, at: datetime) -> int:
        """At most PRUNE_SLICE a call, the oldest first."""
        oldest = (
            select(audit.c.record_id)
            .where(audit.c.result == ActResult.REFUSED, audit.c.act_id == 0, audit.c.at < at)
            .order_by(audit.c.at, audit.c.record_id)
            .limit(PRUNE_SLICE)
        )
        deleted = self._statements.run(delete(audit).where(audit.c.record_id.in_(oldest)))
        return deleted.rowcount

    def of_group_act(self, group_act_id: int, at: datetime) -> Sequence[AuditRecord]:
        return self._read(
            select(audit)
            .where(audit.c.at >= at, audit.c.group_act_id == group_act_id)
            .order_by(audit.c.at, audit.c.record_id)
        )


_PLACE = tuple_(audit.c.at, audit.c.record_id)
_ENDS = audit.alias("ends")


def _bound(place: AuditPlace) -> ColumnElement[Any]:
    """A place to compare rows with, in the columns' own types."""
    return tuple_(
        bindparam(None, place.at, type_=audit.c.at.type),
        bindparam(None, place.record_id, type_=audit.c.record_id.type),
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


def _values(record: AuditRecord) -> dict[str, object]:
    values = asdict(record)
    actor = values.pop("actor")
    del values["record_id"]
    return values | {
        "user_id": actor["user_id"],
        "user_name": actor["name"],
        "team_id": actor["team_id"],
    }


def _record(row: RowMapping) -> AuditRecord:
    values = dict(row)
    actor = Actor(
        user_id=values.pop("user_id"),
        name=values.pop("user_name"),
        team_id=values.pop("team_id"),
    )
    return AuditRecord(actor=actor, **values)
