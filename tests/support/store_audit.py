"""The audit of InMemoryStore."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from typing_extensions import override

from bot.domain.audit import Action, ActResult, AuditPlace, AuditRecord, AuditSelection
from bot.domain.repository import RepositoryName
from bot.ports.audit import Audit
from bot.storage.statements import PRUNE_SLICE
from tests.support.as_stored import as_stored


class InMemoryAudit(Audit):
    def __init__(self, records: dict[int, AuditRecord]) -> None:
        self._records = records

    @override
    async def add(self, record: AuditRecord) -> int:
        record_id = max(self._records, default=0) + 1
        self._records[record_id] = replace(as_stored(record), record_id=record_id)
        return record_id

    @override
    async def delete_refusals_before(self, at: datetime) -> int:
        old = [
            one
            for one in sorted(self._records.values(), key=_by_time)
            if one.result is ActResult.REFUSED and not one.act_id and one.at < at
        ]
        for one in old[:PRUNE_SLICE]:
            del self._records[one.record_id]
        return len(old[:PRUNE_SLICE])

    @override
    async def get(self, record_ids: Collection[int]) -> Mapping[int, AuditRecord]:
        return {each: self._records[each] for each in record_ids if each in self._records}

    @override
    async def latest(
        self, repository: RepositoryName, action: Action, limit: int = 1
    ) -> Sequence[AuditRecord]:
        done = [
            record
            for record in self._records.values()
            if record.repository == repository
            and record.action is action
            and record.result is ActResult.DONE
        ]
        return sorted(done, key=_by_time, reverse=True)[:limit]

    @override
    async def since(self, repository: RepositoryName, at: datetime) -> Sequence[AuditRecord]:
        records = self._records.values()
        return sorted(
            (r for r in records if r.repository == repository and r.at >= at), key=_by_time
        )

    @override
    async def of_group_act(self, group_act_id: int, at: datetime) -> Sequence[AuditRecord]:
        records = self._records.values()
        return sorted(
            (r for r in records if r.group_act_id == group_act_id and r.at >= at), key=_by_time
        )

    @override
    async def newest(
        self, selection: AuditSelection, limit: int, *, before: AuditPlace | None = None
    ) -> Sequence[AuditRecord]:
        chosen = [r for r in self._chosen(selection) if before is None or _by_time(r) < _of(before)]
        return chosen[::-1][:limit]

    @override
    async def oldest(
        self, selection: AuditSelection, limit: int, *, after: AuditPlace | None = None
    ) -> Sequence[AuditRecord]:
        chosen = [r for r in self._chosen(selection) if after is None or _by_time(r) > _of(after)]
        return chosen[:limit]

    def _chosen(self, selection: AuditSelection) -> list[AuditRecord]:
        ended = {record.act_id for record in self._records.values()}
        found = [
            record
            for record in self._records.values()
            if selection.repository in {None, record.repository}
            and (selection.since is None or record.at >= selection.since)
            and not (
                selection.ends_only
                and record.result is ActResult.STARTED
                and record.record_id in ended
            )
        ]
        return sorted(found, key=_by_time)


def _of(place: AuditPlace) -> tuple[datetime, int]:
    return place.at, place.record_id


def _by_time(record: AuditRecord) -> tuple[datetime, int]:
    return record.at, record.record_id
