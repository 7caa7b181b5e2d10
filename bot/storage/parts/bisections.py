"""Bisections of batches, for the channels that are told in threads."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime

from sqlalchemy import delete, select, tuple_

from bot.domain.bisections import Bisection
from bot.domain.repository import RepositoryName
from bot.storage.statements import PRUNE_SLICE, ResultRow, Statements, slices
from bot.storage.tables import bisections

_KEY = ("repository", "key")


class SqlBisections:
    """A row a bisection."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    def save(self, changed: Sequence[Bisection]) -> None:
        if changed:
            self._statements.put(bisections, _KEY, [asdict(one) for one in changed])

    def since(self, repository: RepositoryName, since: datetime) -> Sequence[Bisection]:
        rows = self._statements.run(
            select(bisections).where(
                bisections.c.repository == repository, bisections.c.last_at >= since
            )
        )
        return [_bisection(row) for row in rows]

    def get(self, repository: RepositoryName, keys: Collection[str]) -> Mapping[str, Bisection]:
        found: dict[str, Bisection] = {}
        for some in slices(sorted(set(keys))):
            rows = self._statements.run(
                select(bisections).where(
                    bisections.c.repository == repository, bisections.c.key.in_(some)
                )
            )
            found |= {row.key: _bisection(row) for row in rows}
        return found

    def delete_before(self, last_before: datetime) -> int:
        """At most PRUNE_SLICE a call, the oldest first."""
        key = (bisections.c.repository, bisections.c.key)
        oldest = (
            select(*key)
            .where(bisections.c.last_at < last_before)
            .order_by(bisections.c.last_at)
            .limit(PRUNE_SLICE)
        )
        deleted = self._statements.run(delete(bisections).where(tuple_(*key).in_(oldest)))
        return deleted.rowcount


def _bisection(row: ResultRow) -> Bisection:
    return Bisection(**row._asdict())
