"""Titles, addresses and authors of pull requests seen in a queue."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from sqlalchemy import bindparam, func, select

from bot.domain.event_records import PullRequestRecord
from bot.domain.repository import RepositoryName
from bot.store.statements import Part, as_row, from_row
from bot.store.tables import pull_requests

_OF_REPOSITORY = select(pull_requests).where(pull_requests.c.repository == bindparam("name"))


class PullRequests(Part):
    """One row per pull request, as it was seen last."""

    def save(self, records: Sequence[PullRequestRecord]) -> None:
        """Insert, or bring up to date."""
        latest: dict[tuple[str, int], PullRequestRecord] = {}
        for record in sorted(records, key=lambda record: record.seen_at):
            latest[record.repository, record.number] = record
        if not latest:
            return
        new = self._statements.insert(pull_requests)
        self._statements.run(
            new.on_conflict_do_update(
                index_elements=[pull_requests.c.repository, pull_requests.c.number],
                set_={name: new.excluded[name] for name in ("title", "url", "author", "seen_at")},
                where=pull_requests.c.seen_at <= new.excluded.seen_at,
            ),
            # In one order, so that two processes never wait for each other.
            [as_row(pull_requests, latest[key]) for key in sorted(latest)],
        )

    def get(
        self, repository: RepositoryName, numbers: Collection[int]
    ) -> Mapping[int, PullRequestRecord]:
        rows = self._statements.by_keys(
            _OF_REPOSITORY, pull_requests.c.number, numbers, name=repository
        )
        return {row.number: from_row(PullRequestRecord, row) for row in rows}

    def repositories_of(
        self, authors: Collection[str], seen_since: datetime
    ) -> Sequence[RepositoryName]:
        """Where a pull request of one of the authors was in a queue since; the latest first."""
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
        """The one of the repository that was seen last; of any other where it has none."""
        newest = (
            select(pull_requests)
            .order_by(pull_requests.c.seen_at.desc(), pull_requests.c.number.desc())
            .limit(1)
        )
        for wanted in (newest.where(pull_requests.c.repository == repository), newest):
            for row in self._statements.run(wanted):
                return from_row(PullRequestRecord, row)
        return None
