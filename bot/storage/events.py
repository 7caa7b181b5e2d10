"""Events as kept, from their arrival to their pruning."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta

from sqlalchemy import BigInteger, delete, exists, select, tuple_, type_coerce, update
from typing_extensions import override

from bot import ports
from bot.domain.deliveries import Subject, SubjectKind
from bot.domain.event_records import EventRecord
from bot.domain.repository import RepositoryName
from bot.storage.column_types import MICROSECOND
from bot.storage.statements import ResultRow, Statements, slices
from bot.storage.tables import deliveries, events, positions

PRUNE_SLICE = 1000
"""How many rows one call deletes at most: a transaction that others wait for stays short."""

REREAD_MARGIN = timedelta(days=1)
"""Events no older than this before their repository's watermark are never deleted.

A walk starts a little before the watermark and reads them again; without their row they would
pass for new and be posted again. The overlap of walks must stay below this.
"""


class SqlEvents(ports.Events):
    """Events as rows, unique by (repository, event id)."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    @override
    async def add_new(self, records: Sequence[EventRecord]) -> int:
        if not records:
            return 0
        added = await self._statements.run(
            self._statements.insert(events)
            .on_conflict_do_nothing(index_elements=[events.c.repository, events.c.event_id])
            .returning(events.c.event_id),
            [_values(record) for record in records],
        )
        return len(added.all())

    @override
    async def unrouted(
        self, repository: RepositoryName, limit: int | None = None
    ) -> Sequence[EventRecord]:
        """The first `limit` of them, all when it is None."""
        rows = await self._statements.run(
            select(events)
            .where(events.c.repository == repository, ~events.c.routed)
            .order_by(events.c.received_at, events.c.event_id)
            .limit(limit)
        )
        return [_record(row) for row in rows]

    @override
    async def mark_routed(self, repository: RepositoryName, event_ids: Sequence[int]) -> None:
        for some in slices(event_ids):
            await self._statements.run(
                update(events)
                .where(events.c.repository == repository, events.c.event_id.in_(some))
                .values(routed=True)
            )

    @override
    async def get(self, subjects: Sequence[Subject]) -> Mapping[Subject, EventRecord]:
        wanted: dict[RepositoryName, set[int]] = defaultdict(set)
        for subject in subjects:
            if subject.kind is SubjectKind.EVENT:
                wanted[subject.repository].add(subject.subject_id)
        found: dict[Subject, EventRecord] = {}
        # One repository at a time: SQLite reads the whole table for pairs in a list.
        for repository, event_ids in wanted.items():
            for some in slices(sorted(event_ids)):
                rows = await self._statements.run(
                    select(events).where(
                        events.c.repository == repository, events.c.event_id.in_(some)
                    )
                )
                for row in rows:
                    subject = Subject(SubjectKind.EVENT, repository, row.event_id)
                    found[subject] = _record(row)
        return found

    @override
    async def of_pull_requests(
        self,
        repository: RepositoryName,
        numbers: Collection[int],
        *,
        since: datetime,
        limit: int = 1000,
    ) -> Sequence[EventRecord]:
        found: list[EventRecord] = []
        for some in slices(sorted(set(numbers))):
            rows = await self._statements.run(
                select(events)
                .where(
                    events.c.repository == repository,
                    events.c.pull_request.in_(some),
                    events.c.received_at >= since,
                )
                .order_by(events.c.received_at.desc(), events.c.event_id.desc())
                .limit(limit)
            )
            found += [_record(row) for row in rows]
        return sorted(found, key=lambda one: (one.received_at, one.event_id))[-limit:]

    @override
    async def delete_before(self, received_before: datetime) -> int:
        """At most PRUNE_SLICE a call, the oldest first."""
        read_again = exists().where(
            positions.c.repository == events.c.repository,
            type_coerce(positions.c.watermark, BigInteger) - REREAD_MARGIN // MICROSECOND
            <= type_coerce(events.c.received_at, BigInteger),
        )
        referred_to = exists().where(
            deliveries.c.subject_kind == SubjectKind.EVENT,
            deliveries.c.repository == events.c.repository,
            deliveries.c.subject_id == events.c.event_id,
            deliveries.c.settled_at.is_(None),
        )
        oldest = (
            select(events.c.repository, events.c.event_id)
            .where(events.c.received_at < received_before, events.c.routed)
            .where(~read_again, ~referred_to)
            .order_by(events.c.received_at)
            .limit(PRUNE_SLICE)
        )
        deleted = await self._statements.run(
            delete(events).where(tuple_(events.c.repository, events.c.event_id).in_(oldest))
        )
        return deleted.rowcount


def _values(record: EventRecord) -> dict[str, object]:
    return {
        "repository": record.repository,
        "event_id": record.event_id,
        "received_at": record.received_at,
        "type": record.type,
        "pull_request": record.pull_request,
        "base_ref": record.base_ref,
        "session_id": record.session_id,
        "details": record.details,
    }


def _record(row: ResultRow) -> EventRecord:
    return EventRecord(
        repository=row.repository,
        event_id=row.event_id,
        received_at=row.received_at,
        type=row.type,
        pull_request=row.pull_request,
        base_ref=row.base_ref,
        session_id=row.session_id,
        details=row.details,
    )
