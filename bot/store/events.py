"""Events of the logs, and the pull requests in them."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import cache

from sqlalchemy import (
    BigInteger,
    Boolean,
    Executable,
    Index,
    Table,
    bindparam,
    func,
    select,
    update,
)

from bot.domain.deliveries import Subject, SubjectKind
from bot.domain.event_records import EventRecord, PullRequestRecord, alike
from bot.domain.repository import RepositoryName
from bot.store.column_types import Details, OutsideText, Repository, UtcTime
from bot.store.schema import key, metadata, optional, partial_index, required
from bot.store.statements import Part, as_row, from_row, insert_into, slices

events = Table(
    "events",
    metadata,
    *key(Repository, "repository"),
    *key(BigInteger, "event_id"),
    *required(UtcTime, "received_at"),
    *required(OutsideText, "type"),
    *optional(BigInteger, "pull_request"),
    *optional(OutsideText, "base_ref", "session_id"),
    *required(Details, "details"),
    *required(Boolean, "routed"),
    Index(None, "received_at"),
    Index(None, "repository", "pull_request", "received_at"),
    comment="One event of a repository's event log.",
)
partial_index(events.c.repository, events.c.received_at, events.c.event_id, where=~events.c.routed)

pull_requests = Table(
    "pull_requests",
    metadata,
    *key(Repository, "repository"),
    *key(BigInteger, "number"),
    *required(OutsideText, "title", "url", "author"),
    *required(UtcTime, "seen_at"),
    Index(None, "seen_at"),
    comment="What people are shown about one pull request.",
)

# Built once, because building a statement takes longer than running it.
_OF_REPOSITORY = select(events).where(events.c.repository == bindparam("repository"))
_SINCE = (
    _OF_REPOSITORY.where(events.c.received_at >= bindparam("since"))
    .order_by(events.c.received_at.desc(), events.c.event_id.desc())
    .limit(bindparam("limit"))
)
_UNROUTED = (
    _OF_REPOSITORY.where(~events.c.routed)
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
_SEEN_IN = select(pull_requests).where(pull_requests.c.repository == bindparam("repository"))


class Events(Part):
    """Events, unique by repository and event id; an index holds the unrouted ones."""

    def add_new(self, records: Sequence[EventRecord]) -> int:
        """Store new events as unrouted; return how many were new."""
        if not records:
            return 0
        rows = [as_row(events, record, routed=False) for record in records]
        return len(self._run(self._adding(events), rows).all())

    def unrouted(self, repository: RepositoryName, limit: int = 1000) -> Sequence[EventRecord]:
        """The first `limit` unrouted events."""
        return self._records(EventRecord, _UNROUTED, repository=repository, limit=limit)

    def with_unrouted(self, repositories: Collection[RepositoryName]) -> Collection[RepositoryName]:
        """The repositories that have unrouted events."""
        unrouted = select(events.c.repository).where(~events.c.routed).distinct()
        rows = self._by_keys(unrouted, events.c.repository, repositories)
        return {row.repository for row in rows}

    def mark_routed(self, repository: RepositoryName, event_ids: Sequence[int]) -> None:
        for some in slices(event_ids):
            self._run(_SET_ROUTED, {"of": repository, "ids": some})

    def get(self, subjects: Sequence[Subject]) -> Mapping[Subject, EventRecord]:
        wanted: dict[RepositoryName, set[int]] = defaultdict(set)
        for subject in subjects:
            if subject.kind is SubjectKind.EVENT:
                wanted[subject.repository].add(subject.subject_id)
        found: dict[Subject, EventRecord] = {}
        for repository, event_ids in wanted.items():
            # One at a time: SQLite reads the whole table for pairs in a list.
            some = self._get(
                EventRecord, _OF_REPOSITORY, events.c.event_id, event_ids, repository=repository
            )
            found |= {Subject(SubjectKind.EVENT, repository, each): some[each] for each in some}
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
        which = {"repository": repository, "since": since, "limit": limit}
        rows = self._by_keys(_SINCE, events.c.pull_request, numbers, **which)
        found = [from_row(EventRecord, row) for row in rows]
        return sorted(found, key=lambda one: (one.received_at, one.event_id))[-limit:]

    def newest(
        self, repository: RepositoryName, type_: str, since: datetime, limit: int = 1000
    ) -> Sequence[EventRecord]:
        """The newest `limit` events of that type from `since` on, newest first."""
        of_type = select(events).where(events.c.repository == repository, events.c.type == type_)
        recent = of_type.where(events.c.received_at >= since)
        return self._records(EventRecord, recent.order_by(events.c.received_at.desc()).limit(limit))


@cache
def _saving(dialect: str) -> Executable:
    new = insert_into(dialect, pull_requests)
    return new.on_conflict_do_update(
        index_elements=[pull_requests.c.repository, pull_requests.c.number],
        set_={name: new.excluded[name] for name in ("title", "url", "author", "seen_at")},
        where=pull_requests.c.seen_at <= new.excluded.seen_at,
    )


class PullRequests(Part):
    """Pull requests, as last seen."""

    def save(self, records: Sequence[PullRequestRecord]) -> None:
        """Insert or update pull requests."""
        latest: dict[tuple[str, int], PullRequestRecord] = {}
        for record in sorted(records, key=lambda record: record.seen_at):
            latest[record.repository, record.number] = record
        if not latest:
            return
        # In one order, to avoid deadlocks.
        rows = [as_row(pull_requests, latest[key]) for key in sorted(latest)]
        self._run(_saving(self._connection.dialect.name), rows)

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
        seen = self.get(repository, numbers)
        unseen = set(numbers).difference(seen)
        known = self.last_seen(repository) if unseen else None
        found = {number: alike(known, repository, number) for number in unseen} if known else {}
        return {**seen, **{number: one for number, one in found.items() if one is not None}}

    def repositories_of(
        self, authors: Collection[str], seen_since: datetime
    ) -> Sequence[RepositoryName]:
        """The authors' pull requests that were in a queue since then, latest first."""
        author, repository = func.lower(pull_requests.c.author), pull_requests.c.repository
        rows = self._run(
            select(repository)
            .where(
                pull_requests.c.seen_at >= seen_since,
                author.in_(sorted({one.lower() for one in authors})),
            )
            .group_by(repository)
            .order_by(func.max(pull_requests.c.seen_at).desc(), repository)
        )
        return list(rows.scalars())

    def authors(self, seen_since: datetime) -> Sequence[str]:
        """The people whose pull requests were in a queue since then, without bots."""
        author = pull_requests.c.author
        is_person = author != "", author.not_like("%[bot]")
        recent = select(author).where(pull_requests.c.seen_at >= seen_since, *is_person)
        return list(self._run(recent.distinct().order_by(author)).scalars())

    def last_seen(self, repository: RepositoryName) -> PullRequestRecord | None:
        """The repository's last seen pull request; if it has none, any repository's."""
        newest = (
            select(pull_requests)
            .order_by(pull_requests.c.seen_at.desc(), pull_requests.c.number.desc())
            .limit(1)
        )
        for wanted in (newest.where(pull_requests.c.repository == repository), newest):
            for found in self._records(PullRequestRecord, wanted):
                return found
        return None
