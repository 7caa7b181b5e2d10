"""Events as kept, from their arrival to their pruning."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from datetime import datetime, timedelta
from operator import attrgetter

from sqlalchemy import BigInteger, bindparam, delete, exists, select, tuple_, type_coerce, update

from bot.domain.deliveries import Subject, SubjectKind
from bot.domain.event_records import EventRecord
from bot.domain.repository import RepositoryName
from bot.storage.column_types import MICROSECOND
from bot.storage.statements import PRUNE_SLICE, Prepared, PreparedList, ResultRow, Statements
from bot.storage.tables import deliveries, events, positions

REREAD_MARGIN = timedelta(days=1)
"""Events no older than this before their repository's watermark are never deleted.

A walk starts a little before the watermark and reads them again; without their row they would
pass for new and be posted again. The overlap of walks must stay below this.
"""


class SqlEvents:
    """Events as rows, unique by (repository, event id)."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    def add_new(self, records: Sequence[EventRecord], *, routed: bool = False) -> int:
        if not records:
            return 0
        columns = {name: list(map(of, records)) for name, of in _COLUMNS.items()}
        return self._statements.add(_ADD, columns, routed=routed)

    def any_between(self, repository: RepositoryName, first_id: int, last_id: int) -> bool:
        found = self._statements.rows(
            _ANY_BETWEEN, of_repository=repository, first_id=first_id, last_id=last_id
        )
        return bool(found)

    def unrouted(
        self, repository: RepositoryName, limit: int | None = None
    ) -> Sequence[EventRecord]:
        """The first `limit` of them, all when it is None."""
        most = 2**62 if limit is None else limit
        rows = self._statements.rows(_UNROUTED, of_repository=repository, most=most)
        return [_record(row) for row in rows]

    def with_unrouted(self, repositories: Collection[RepositoryName]) -> Collection[RepositoryName]:
        rows = self._statements.rows_in(_WITH_UNROUTED, sorted(set(repositories)))
        return {row.repository for row in rows}

    def mark_routed(self, repository: RepositoryName, event_ids: Sequence[int]) -> None:
        self._mark(repository, event_ids, routed=True)

    def mark_unrouted(self, repository: RepositoryName, event_ids: Sequence[int]) -> None:
        self._mark(repository, event_ids, routed=False)

    def _mark(self, repository: RepositoryName, event_ids: Sequence[int], *, routed: bool) -> None:
        self._statements.rows_in(_MARK, event_ids, of_repository=repository, is_routed=routed)

    def get(self, subjects: Sequence[Subject]) -> Mapping[Subject, EventRecord]:
        wanted: dict[RepositoryName, set[int]] = defaultdict(set)
        for subject in subjects:
            if subject.kind is SubjectKind.EVENT:
                wanted[subject.repository].add(subject.subject_id)
        found: dict[Subject, EventRecord] = {}
        # One repository at a time: SQLite reads the whole table for pairs in a list.
        for repository, event_ids in wanted.items():
            rows = self._statements.rows_in(_GET, sorted(event_ids), of_repository=repository)
            for row in rows:
                subject = Subject(SubjectKind.EVENT, repository, row.event_id)
                found[subject] = _record(row)
        return found

    def of_pull_requests(
        self,
        repository: RepositoryName,
        numbers: Collection[int],
        *,
        since: datetime,
        limit: int = 1000,
    ) -> Sequence[EventRecord]:
        rows = self._statements.rows_in(
            _OF_PULL_REQUESTS,
            sorted(set(numbers)),
            of_repository=repository,
            since=since,
            most=limit,
        )
        found = [_record(row) for row in rows]
        return sorted(found, key=lambda one: (one.received_at, one.event_id))[-limit:]

    def delete_before(self, received_before: datetime) -> int:
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
        deleted = self._statements.run(
            delete(events).where(tuple_(events.c.repository, events.c.event_id).in_(oldest))
        )
        return deleted.rowcount


_COLUMNS = {each.name: attrgetter(each.name) for each in fields(EventRecord)}

_READ = [events.c[name] for name in _COLUMNS]

_OF_REPOSITORY = events.c.repository == bindparam("of_repository")

_ADD = Prepared(
    lambda insert: (
        insert(events)
        .values({name: bindparam(name) for name in (*_COLUMNS, "routed")})
        .on_conflict_do_nothing(index_elements=[events.c.repository, events.c.event_id])
        .returning(events.c.event_id)
    )
)

_UNROUTED = Prepared(
    lambda _: (
        select(*_READ)
        .where(_OF_REPOSITORY, ~events.c.routed)
        .order_by(events.c.received_at, events.c.event_id)
        .limit(bindparam("most"))
    )
)

_WITH_UNROUTED = PreparedList(
    "repository",
    events.c.repository.type,
    lambda _, names: (
        select(events.c.repository)
        .where(events.c.repository.in_(names), ~events.c.routed)
        .distinct()
    ),
)

_ANY_BETWEEN = Prepared(
    lambda _: (
        select(events.c.event_id)
        .where(
            _OF_REPOSITORY,
            events.c.event_id >= bindparam("first_id"),
            events.c.event_id <= bindparam("last_id"),
        )
        .limit(1)
    )
)

_MARK = PreparedList(
    "event",
    events.c.event_id.type,
    lambda _, event_ids: (
        update(events)
        .where(_OF_REPOSITORY, events.c.event_id.in_(event_ids))
        .values(routed=bindparam("is_routed"))
    ),
)

_GET = PreparedList(
    "event",
    events.c.event_id.type,
    lambda _, event_ids: select(*_READ).where(_OF_REPOSITORY, events.c.event_id.in_(event_ids)),
)

_OF_PULL_REQUESTS = PreparedList(
    "number",
    events.c.pull_request.type,
    lambda _, numbers: (
        select(*_READ)
        .where(
            _OF_REPOSITORY,
            events.c.pull_request.in_(numbers),
            events.c.received_at >= bindparam("since"),
        )
        .order_by(events.c.received_at.desc(), events.c.event_id.desc())
        .limit(bindparam("most"))
    ),
)


def _record(row: ResultRow) -> EventRecord:
    return EventRecord(*row)
