"""Repositories and what is read of their event logs: progress, events and pull requests."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from sqlalchemy import bindparam, func, select, type_coerce, update

from bot.kernel.repository import RepositoryName
from bot.log.position import LastPoll, Position
from bot.log.queue_entries import Leave, LeaveDetails
from bot.log.tables import IS_MERGE, events, pull_requests, repositories
from bot.merge_queue.event_records import EventRecord, PullRequestRecord, alike
from bot.merge_queue.event_types import LEAVE
from bot.store.schema import as_json
from bot.store.statements import Part, Rows, as_row, columns_of, from_rows

LAST_OF_AUTHORS = 30
"""Enough to find the queues that matter to somebody, however many pull requests they have."""

AUTHORS_OF = 10_000
"""Pull requests whose authors `mqbot check` counts: a week of a very large installation."""

# Built once, because building a statement takes several times as long as running it.
_POSITIONS = (
    select(*columns_of(repositories, Position))
    .where(repositories.c.origin.is_not(None))
    # In one order, to avoid deadlocks.
    .order_by(repositories.c.repository)
    .with_for_update()
)
_EVENTS = select(*columns_of(events, EventRecord))
_EVENTS_OF_REPOSITORY = _EVENTS.where(events.c.repository == bindparam("repository"))
_SINCE = (
    _EVENTS_OF_REPOSITORY.where(events.c.received_at >= bindparam("since"))
    .order_by(events.c.received_at.desc(), events.c.event_id.desc())
    .limit(bindparam("limit"))
)


def _newest_between(rows: Rows) -> Rows:
    """The newest of these rows of events with one type in one time, newest first."""
    of_type = rows.where(
        events.c.repository == bindparam("repository"),
        events.c.type == bindparam("type"),
        events.c.received_at >= bindparam("since"),
        events.c.received_at <= bindparam("until"),
    )
    newest_first = of_type.order_by(events.c.received_at.desc(), events.c.event_id.desc())
    return newest_first.limit(bindparam("limit"))


_BETWEEN = _newest_between(_EVENTS)
_LEAVES_BETWEEN = _newest_between(
    select(
        events.c.pull_request,
        events.c.base_ref,
        events.c.received_at,
        type_coerce(events.c.details, as_json(LeaveDetails)).label("details"),
    )
)
_UNROUTED = (
    _EVENTS_OF_REPOSITORY.where(~events.c.routed)
    .order_by(events.c.received_at, events.c.event_id)
    .limit(bindparam("limit"))
)
_SET_ROUTED = (
    update(events)
    .where(
        events.c.repository == bindparam("of"),
        events.c.event_id.in_(bindparam("ids", expanding=True)),
    )
    .values(routed=True)
)
_LAST_MERGE = (
    _EVENTS_OF_REPOSITORY.where(
        events.c.base_ref == bindparam("branch"),
        IS_MERGE,
        events.c.received_at >= bindparam("since"),
    )
    .order_by(events.c.received_at.desc())
    .limit(1)
)
_SEEN_IN = select(pull_requests).where(pull_requests.c.repository == bindparam("repository"))


class Positions(Part):
    """How far each log is read, and when it was last read to the end, for which types."""

    def load(self, names: Sequence[RepositoryName]) -> Mapping[RepositoryName, Position]:
        """The positions, locked until the transaction ends."""
        return self._get(Position, _POSITIONS, repositories.c.repository, names)

    def watermark(self, repository: RepositoryName) -> datetime | None:
        """The newest known event's time; None if the log was never read. Locks nothing."""
        is_read = repositories.c.origin.is_not(None)
        this = select(repositories.c.watermark).where(repositories.c.repository == repository)
        return self._run(this.where(is_read)).scalar_one_or_none()

    def origin(self, repository: RepositoryName) -> datetime | None:
        """Since when the log is read; None if it never was."""
        this = select(repositories.c.origin).where(repositories.c.repository == repository)
        return self._run(this).scalar_one_or_none()

    def names(self) -> Sequence[RepositoryName]:
        """All repositories that were ever read, or have something stored."""
        every = select(repositories.c.repository).order_by(repositories.c.repository)
        return self._run(every).scalars().all()

    def save(self, position: Position) -> None:
        self._put(repositories, as_row(repositories, position))

    def save_polls(self, polled: Mapping[RepositoryName, LastPoll]) -> None:
        rows = [as_row(repositories, polled[name], repository=name) for name in sorted(polled)]
        self._put(repositories, *rows)

    def polls(self, names: Sequence[RepositoryName]) -> Mapping[RepositoryName, LastPoll]:
        name = repositories.c.repository
        polled_at = repositories.c.polled_at
        polled = select(name, *columns_of(repositories, LastPoll)).where(polled_at.is_not(None))
        return self._get(LastPoll, polled, name, names)


class Events(Part):
    """Events, unique by repository and event id; an index holds the unrouted ones."""

    def add_new(self, records: Sequence[EventRecord]) -> int:
        """Store new events as unrouted; return how many were new."""
        rows = [as_row(events, record, routed=False) for record in records]
        added = self._add_new(events, *rows)
        return len(added)

    def unrouted(self, repository: RepositoryName, limit: int = 1000) -> Sequence[EventRecord]:
        return self._records(EventRecord, _UNROUTED, repository=repository, limit=limit)

    def unrouted_among(
        self, repository: RepositoryName, event_ids: Collection[int]
    ) -> Collection[int]:
        """Those of the events of which nobody was notified yet."""
        waiting = _EVENTS_OF_REPOSITORY.where(~events.c.routed)
        rows = self._by_keys(waiting, events.c.event_id, event_ids, repository=repository)
        return {row.event_id for row in rows}

    def of_number(self, names: Collection[RepositoryName], number: int) -> Sequence[RepositoryName]:
        """Those of the repositories that have an event of a pull request with this number."""
        having = select(events.c.repository).where(events.c.pull_request == number).distinct()
        rows = self._by_keys(having, events.c.repository, names)
        return sorted({row.repository for row in rows})

    def with_unrouted(self, repositories: Collection[RepositoryName]) -> Collection[RepositoryName]:
        unrouted = select(events.c.repository).where(~events.c.routed).distinct()
        rows = self._by_keys(unrouted, events.c.repository, repositories)
        return {row.repository for row in rows}

    def mark_routed(self, repository: RepositoryName, event_ids: Sequence[int]) -> None:
        self._run(_SET_ROUTED, {"of": repository, "ids": event_ids})

    def get(
        self, repository: RepositoryName, event_ids: Collection[int]
    ) -> Mapping[int, EventRecord]:
        rows = self._by_keys(
            _EVENTS_OF_REPOSITORY, events.c.event_id, event_ids, repository=repository
        )
        return {record.event_id: record for record in from_rows(EventRecord, rows)}

    def of_pull_requests(
        self,
        repository: RepositoryName,
        numbers: Collection[int],
        *,
        since: datetime,
        limit: int = 1000,
    ) -> Sequence[EventRecord]:
        """The newest `limit` events of these pull requests from `since` on, oldest first."""
        which = {"repository": repository, "since": since, "limit": limit}
        rows = self._by_keys(_SINCE, events.c.pull_request, numbers, **which)
        found = from_rows(EventRecord, rows)
        return sorted(found, key=lambda record: (record.received_at, record.event_id))[-limit:]

    def newest(
        self, repository: RepositoryName, type_: str, since: datetime, limit: int = 1000
    ) -> Sequence[EventRecord]:
        """The newest `limit` events of that type from `since` on, newest first."""
        recent = _EVENTS.where(
            events.c.repository == repository,
            events.c.type == type_,
            events.c.received_at >= since,
        )
        newest_first = recent.order_by(events.c.received_at.desc())
        return self._records(EventRecord, newest_first.limit(limit))

    def routed(
        self, repository: RepositoryName, types: Collection[str], since: datetime
    ) -> Sequence[EventRecord]:
        """The events of these types, from `since` on, that were routed; oldest first."""
        some = _EVENTS.where(
            events.c.repository == repository,
            events.c.type.in_(sorted(types)),
            events.c.received_at >= since,
            events.c.routed,
        )
        in_order = some.order_by(events.c.received_at, events.c.event_id)
        return self._records(EventRecord, in_order)

    def between(
        self, repository: RepositoryName, type_: str, since: datetime, until: datetime, limit: int
    ) -> Sequence[EventRecord]:
        """The newest `limit` events of that type in that time, newest first."""
        return self._records(
            EventRecord,
            _BETWEEN,
            repository=repository,
            type=type_,
            since=since,
            until=until,
            limit=limit,
        )

    def leaves(
        self, repository: RepositoryName, since: datetime, until: datetime, limit: int
    ) -> Sequence[Leave]:
        """The newest `limit` leaves in that time, newest first."""
        which = {"repository": repository, "type": LEAVE, "since": since, "until": until}
        return self._records(Leave, _LEAVES_BETWEEN, **which, limit=limit)

    def last_merges(
        self, repository: RepositoryName, branches: Collection[str], since: datetime
    ) -> Sequence[EventRecord]:
        """The last merge into each of the branches from `since` on."""
        of_branch = {"repository": repository, "since": since}
        found: list[EventRecord] = []
        for branch in sorted(branches):
            merge = self._first(EventRecord, _LAST_MERGE, branch=branch, **of_branch)
            if merge is not None:
                found.append(merge)
        return found


def _pull_request_row(record: PullRequestRecord) -> dict[str, object]:
    return as_row(pull_requests, record, author_folded=record.author.lower())


class PullRequests(Part):
    """Pull requests, as last seen."""

    def save(self, records: Sequence[PullRequestRecord]) -> None:
        oldest_first = sorted(records, key=lambda record: record.seen_at)
        latest = {(record.repository, record.number): record for record in oldest_first}
        # In one order, to avoid deadlocks.
        rows = [_pull_request_row(latest[key]) for key in sorted(latest)]
        self._put(pull_requests, *rows, newest_by="seen_at")

    def get(
        self, repository: RepositoryName, numbers: Collection[int]
    ) -> Mapping[int, PullRequestRecord]:
        number = pull_requests.c.number
        return self._get(PullRequestRecord, _SEEN_IN, number, numbers, repository=repository)

    def linked(
        self, repository: RepositoryName, numbers: Collection[int]
    ) -> Mapping[int, PullRequestRecord]:
        """Pull requests never seen in the queue, as after an outage, have only an address.

        The service sends titles of queued pull requests only.
        """
        found = dict(self.get(repository, numbers))
        unseen = set(numbers).difference(found)
        if not unseen:
            return found
        known = self.last_seen(repository)
        if known is None:
            return found
        for number in unseen:
            guessed = alike(known, repository, number)
            if guessed is not None:
                found[number] = guessed
        return found

    def repositories_of(
        self, authors: Collection[str], seen_since: datetime
    ) -> Sequence[RepositoryName]:
        """Where the authors' last pull requests were queued since then, latest first."""
        if not authors:
            return []
        repository = pull_requests.c.repository
        seen_at = pull_requests.c.seen_at
        theirs = pull_requests.c.author_folded.in_(sorted({author.lower() for author in authors}))
        last = (
            select(repository, seen_at)
            .where(theirs, seen_at >= seen_since)
            .order_by(seen_at.desc())
            .limit(LAST_OF_AUTHORS)
            .subquery()
        )
        found = select(last.c.repository).group_by(last.c.repository)
        by_time = func.max(last.c.seen_at).desc(), last.c.repository
        return self._run(found.order_by(*by_time)).scalars().all()

    def last_of(self, author: str, seen_since: datetime) -> Sequence[PullRequestRecord]:
        """The author's pull requests that were queued since then, the last one first."""
        theirs = pull_requests.c.author_folded == author.lower()
        seen_at = pull_requests.c.seen_at
        found = select(pull_requests).where(theirs, seen_at >= seen_since)
        return self._records(
            PullRequestRecord, found.order_by(seen_at.desc()).limit(LAST_OF_AUTHORS)
        )

    def authors(self, seen_since: datetime, limit: int = AUTHORS_OF) -> Sequence[str]:
        """The people whose pull requests were in a queue since then, without bots.

        `limit`: how many pull requests are read, the last ones, however many there are.
        """
        seen_at = pull_requests.c.seen_at
        last = (
            select(pull_requests.c.author)
            .where(seen_at >= seen_since)
            .order_by(seen_at.desc())
            .limit(limit)
            .subquery()
        )
        author = last.c.author
        is_person = author != "", author.not_like("%[bot]")
        people = select(author).where(*is_person).distinct()
        return self._run(people.order_by(author)).scalars().all()

    def last_seen(self, repository: RepositoryName) -> PullRequestRecord | None:
        """The repository's last seen pull request; if it has none, any repository's."""
        seen_at = pull_requests.c.seen_at
        number = pull_requests.c.number
        newest = select(pull_requests).order_by(seen_at.desc(), number.desc()).limit(1)
        own = newest.where(pull_requests.c.repository == repository)
        return self._first(PullRequestRecord, own) or self._first(PullRequestRecord, newest)
