"""What channels are told of in threads: stays of pull requests in the queue, and bisections."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from sqlalchemy import select

from bot.domain.bisections import Bisection
from bot.domain.repository import RepositoryName
from bot.domain.stays import Stay
from bot.storage.statements import Part, as_row, from_row
from bot.storage.tables import bisections, stays


class SqlStays(Part):
    """One row per stay of a pull request in the queue."""

    def save(self, changed: Sequence[Stay]) -> None:
        self._statements.put(stays, *(as_row(stays, one) for one in changed))

    def of(
        self, repository: RepositoryName, numbers: Collection[int], since: datetime
    ) -> Sequence[Stay]:
        recent = select(stays).where(stays.c.repository == repository, stays.c.last_at >= since)
        rows = self._statements.by_keys(recent, stays.c.pull_request, numbers)
        return [from_row(Stay, row) for row in rows]

    def lasting(self, repository: RepositoryName, since: datetime) -> Sequence[Stay]:
        rows = self._statements.run(
            select(stays)
            .where(
                stays.c.repository == repository,
                stays.c.ended_at.is_(None),
                stays.c.last_at >= since,
            )
            .order_by(stays.c.began_at, stays.c.key)
        )
        return [from_row(Stay, row) for row in rows]

    def get(self, repository: RepositoryName, keys: Collection[str]) -> Mapping[str, Stay]:
        of_repository = select(stays).where(stays.c.repository == repository)
        rows = self._statements.by_keys(of_repository, stays.c.key, keys)
        return {row.key: from_row(Stay, row) for row in rows}


class SqlBisections(Part):
    """One row per bisection of a batch."""

    def save(self, changed: Sequence[Bisection]) -> None:
        self._statements.put(bisections, *(as_row(bisections, one) for one in changed))

    def since(self, repository: RepositoryName, since: datetime) -> Sequence[Bisection]:
        rows = self._statements.run(
            select(bisections).where(
                bisections.c.repository == repository, bisections.c.last_at >= since
            )
        )
        return [from_row(Bisection, row) for row in rows]

    def get(self, repository: RepositoryName, keys: Collection[str]) -> Mapping[str, Bisection]:
        of_repository = select(bisections).where(bisections.c.repository == repository)
        rows = self._statements.by_keys(of_repository, bisections.c.key, keys)
        return {row.key: from_row(Bisection, row) for row in rows}
