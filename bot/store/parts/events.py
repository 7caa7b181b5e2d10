"""Events of the logs, unique by (repository, event id)."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from sqlalchemy import bindparam, select, update

from bot.domain.deliveries import Subject, SubjectKind
from bot.domain.event_records import EventRecord
from bot.domain.repository import RepositoryName
from bot.store.statements import Part, as_row, from_row, slices
from bot.store.tables import events

_OF_REPOSITORY = select(events).where(events.c.repository == bindparam("name"))
_NEWEST = (
    _OF_REPOSITORY.where(events.c.received_at >= bindparam("since"))
    .order_by(events.c.received_at.desc(), events.c.event_id.desc())
    .limit(bindparam("at_most"))
)
_UNROUTED = select(events.c.repository).where(~events.c.routed).distinct()


class Events(Part):
    """One row per event; an index holds those that are not routed yet."""

    def add_new(self, records: Sequence[EventRecord]) -> int:
        """Store those not stored yet, unrouted; return how many were new."""
        if not records:
            return 0
        added = self._statements.run(
            self._statements.insert(events)
            .on_conflict_do_nothing(index_elements=[events.c.repository, events.c.event_id])
            .returning(events.c.event_id),
            [as_row(events, record, routed=False) for record in records],
        )
        return len(added.all())

    def unrouted(
        self, repository: RepositoryName, limit: int | None = None
    ) -> Sequence[EventRecord]:
        """The first `limit` of them, all when it is None."""
        rows = self._statements.run(
            select(events)
            .where(events.c.repository == repository, ~events.c.routed)
            .order_by(events.c.received_at, events.c.event_id)
            .limit(limit)
        )
        return [from_row(EventRecord, row) for row in rows]

    def with_unrouted(self, repositories: Collection[RepositoryName]) -> Collection[RepositoryName]:
        """Those of them that have unrouted events."""
        rows = self._statements.by_keys(_UNROUTED, events.c.repository, repositories)
        return {row.repository for row in rows}

    def mark_routed(self, repository: RepositoryName, event_ids: Sequence[int]) -> None:
        for some in slices(event_ids):
            self._statements.run(
                update(events)
                .where(events.c.repository == repository, events.c.event_id.in_(some))
                .values(routed=True)
            )

    def get(self, subjects: Sequence[Subject]) -> Mapping[Subject, EventRecord]:
        wanted: dict[RepositoryName, set[int]] = defaultdict(set)
        for subject in subjects:
            if subject.kind is SubjectKind.EVENT:
                wanted[subject.repository].add(subject.subject_id)
        found: dict[Subject, EventRecord] = {}
        # One repository at a time: SQLite reads the whole table for pairs in a list.
        for repository, event_ids in wanted.items():
            rows = self._statements.by_keys(
                _OF_REPOSITORY, events.c.event_id, event_ids, name=repository
            )
            for row in rows:
                subject = Subject(SubjectKind.EVENT, repository, row.event_id)
                found[subject] = from_row(EventRecord, row)
        return found

    def of_pull_requests(
        self,
        repository: RepositoryName,
        numbers: Collection[int],
        *,
        since: datetime,
        limit: int = 1000,
    ) -> Sequence[EventRecord]:
        """The newest `limit` events of these pull requests from `since` on, oldest first."""
        rows = self._statements.by_keys(
            _NEWEST, events.c.pull_request, numbers, name=repository, since=since, at_most=limit
        )
        found = [from_row(EventRecord, row) for row in rows]
        return sorted(found, key=lambda one: (one.received_at, one.event_id))[-limit:]
