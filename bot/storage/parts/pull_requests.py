"""Titles, addresses and authors of pull requests seen in a queue."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from datetime import datetime

from sqlalchemy import Executable, bindparam, delete, func, select, tuple_

from bot.domain.event_records import PullRequestRecord
from bot.domain.repository import RepositoryName
from bot.storage.statements import PRUNE_SLICE, Insertion, Prepared, PreparedList, Statements
from bot.storage.tables import pull_requests


class SqlPullRequests:
    """Pull requests as rows; what was seen later stands."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements
        self._read: dict[tuple[RepositoryName, int], PullRequestRecord | None] = {}
        """What this transaction read, and has not changed since."""

    def save(self, records: Sequence[PullRequestRecord]) -> None:
        latest: dict[tuple[str, int], PullRequestRecord] = {}
        for record in sorted(records, key=lambda record: record.seen_at):
            latest[record.repository, record.number] = record
        if not latest:
            return
        self._read.clear()
        self._statements.run_for_each(
            # Sorted, so that two processes that save the same rows never wait in a circle.
            _SAVE,
            [_values(latest[key]) for key in sorted(latest)],
        )

    def get(
        self, repository: RepositoryName, numbers: Collection[int]
    ) -> Mapping[int, PullRequestRecord]:
        asked = [one for one in sorted(set(numbers)) if (repository, one) not in self._read]
        rows = self._statements.rows_in(_GET, asked, of_repository=repository)
        self._read.update(((repository, number), None) for number in asked)
        for row in rows:
            self._read[repository, row.number] = PullRequestRecord(**row._asdict())
        known = {number: self._read[repository, number] for number in numbers}
        return {number: one for number, one in known.items() if one is not None}

    def repositories_of(
        self, authors: Collection[str], seen_since: datetime
    ) -> Sequence[RepositoryName]:
        latest = func.max(pull_requests.c.seen_at)
        rows = self._statements.run(
            select(pull_requests.c.repository)
            .where(
                pull_requests.c.seen_at >= seen_since,
                func.lower(pull_requests.c.author).in_(sorted({one.lower() for one in authors})),
            )
            .group_by(pull_requests.c.repository)
            .order_by(latest.desc(), pull_requests.c.repository)
        )
        return [row.repository for row in rows]

    def last_seen(self, repository: RepositoryName) -> PullRequestRecord | None:
        latest = (pull_requests.c.seen_at.desc(), pull_requests.c.number.desc())
        newest = select(pull_requests).order_by(*latest).limit(1)
        for wanted in (newest.where(pull_requests.c.repository == repository), newest):
            for row in self._statements.run(wanted):
                return PullRequestRecord(**row._asdict())
        return None

    def delete_before(self, seen_before: datetime) -> int:
        """At most PRUNE_SLICE a call, the oldest first."""
        key = (pull_requests.c.repository, pull_requests.c.number)
        oldest = (
            select(*key)
            .where(pull_requests.c.seen_at < seen_before)
            .order_by(pull_requests.c.seen_at)
            .limit(PRUNE_SLICE)
        )
        self._read.clear()
        deleted = self._statements.run(delete(pull_requests).where(tuple_(*key).in_(oldest)))
        return deleted.rowcount


_FIELDS = [each.name for each in fields(PullRequestRecord)]


def _values(record: PullRequestRecord) -> dict[str, object]:
    """Not `asdict`, which copies each value."""
    return {name: getattr(record, name) for name in _FIELDS}


_CHANGING = ("title", "url", "author", "seen_at")


def _save(insert: Insertion) -> Executable:
    added = insert(pull_requests).values(
        {column.name: bindparam(column.name) for column in pull_requests.columns}
    )
    return added.on_conflict_do_update(
        index_elements=[pull_requests.c.repository, pull_requests.c.number],
        set_={name: added.excluded[name] for name in _CHANGING},
        where=pull_requests.c.seen_at <= added.excluded.seen_at,
    )


_SAVE = Prepared(_save)

_GET = PreparedList(
    "number",
    pull_requests.c.number.type,
    lambda _, numbers: select(pull_requests).where(
        pull_requests.c.repository == bindparam("of_repository"),
        pull_requests.c.number.in_(numbers),
    ),
)
