"""Titles, addresses and authors of pull requests seen in a queue."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime

from sqlalchemy import delete, select, tuple_
from typing_extensions import override

from bot import ports
from bot.domain.event_records import PullRequestRecord
from bot.domain.repository import RepositoryName
from bot.storage.events import PRUNE_SLICE
from bot.storage.statements import Statements, slices
from bot.storage.tables import pull_requests


class SqlPullRequests(ports.PullRequests):
    """Pull requests as rows; what was seen later stands."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    @override
    async def save(self, records: Sequence[PullRequestRecord]) -> None:
        latest: dict[tuple[str, int], PullRequestRecord] = {}
        for record in sorted(records, key=lambda record: record.seen_at):
            latest[record.repository, record.number] = record
        if not latest:
            return
        insert = self._statements.insert(pull_requests)
        changed = {name: insert.excluded[name] for name in ("title", "url", "author", "seen_at")}
        await self._statements.run(
            insert.on_conflict_do_update(
                index_elements=[pull_requests.c.repository, pull_requests.c.number],
                set_=changed,
                where=pull_requests.c.seen_at <= insert.excluded.seen_at,
            ),
            # Sorted, so that two processes that save the same rows never wait in a circle.
            [asdict(latest[key]) for key in sorted(latest)],
        )

    @override
    async def get(
        self, repository: RepositoryName, numbers: Collection[int]
    ) -> Mapping[int, PullRequestRecord]:
        found: dict[int, PullRequestRecord] = {}
        for some in slices(sorted(set(numbers))):
            rows = await self._statements.run(
                select(pull_requests).where(
                    pull_requests.c.repository == repository, pull_requests.c.number.in_(some)
                )
            )
            found |= {row["number"]: PullRequestRecord(**row) for row in rows.mappings()}
        return found

    @override
    async def delete_before(self, seen_before: datetime) -> int:
        """At most PRUNE_SLICE a call, the oldest first."""
        key = (pull_requests.c.repository, pull_requests.c.number)
        oldest = (
            select(*key)
            .where(pull_requests.c.seen_at < seen_before)
            .order_by(pull_requests.c.seen_at)
            .limit(PRUNE_SLICE)
        )
        deleted = await self._statements.run(delete(pull_requests).where(tuple_(*key).in_(oldest)))
        return deleted.rowcount
