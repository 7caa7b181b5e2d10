"""What people did to a queue through this bot; rows are only ever added."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime

from sqlalchemy import RowMapping, insert, select
from typing_extensions import override

from bot import ports
from bot.domain.audit import Action, Actor, ActResult, AuditRecord
from bot.domain.repository import RepositoryName
from bot.storage.statements import Statements, slices
from bot.storage.tables import audit


class SqlAudit(ports.Audit):
    """The audit as rows that the database itself refuses to change or delete."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    @override
    async def add(self, record: AuditRecord) -> int:
        added = await self._statements.run(
            insert(audit).values(**_values(record)).returning(audit.c.record_id)
        )
        record_id: int = added.scalar_one()
        return record_id

    @override
    async def get(self, record_ids: Collection[int]) -> Mapping[int, AuditRecord]:
        found: dict[int, AuditRecord] = {}
        for some in slices(sorted(set(record_ids))):
            rows = await self._statements.run(select(audit).where(audit.c.record_id.in_(some)))
            found |= {row["record_id"]: _record(row) for row in rows.mappings()}
        return found

    @override
    async def latest(
        self, repository: RepositoryName, action: Action, limit: int = 1
    ) -> Sequence[AuditRecord]:
        rows = await self._statements.run(
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

    @override
    async def since(self, repository: RepositoryName, at: datetime) -> Sequence[AuditRecord]:
        rows = await self._statements.run(
            select(audit)
            .where(audit.c.repository == repository, audit.c.at >= at)
            .order_by(audit.c.at, audit.c.record_id)
        )
        return [_record(row) for row in rows.mappings()]


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
