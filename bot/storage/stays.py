"""Stays of pull requests in the queue, for the channels that are told in threads."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime

from sqlalchemy import delete, select, tuple_
from typing_extensions import override

from bot import ports
from bot.domain.repository import RepositoryName
from bot.domain.stays import Stay
from bot.storage.events import PRUNE_SLICE
from bot.storage.statements import Statements, slices
from bot.storage.tables import stays

_KEY = ("repository", "key")


class SqlStays(ports.Stays):
    """A row a stay."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    @override
    async def save(self, changed: Sequence[Stay]) -> None:
        if not changed:
            return
        insert = self._statements.insert(stays)
        values = {
            column.name: insert.excluded[column.name]
            for column in stays.columns
            if column.name not in _KEY
        }
        await self._statements.run(
            insert.on_conflict_do_update(index_elements=_KEY, set_=values),
            [asdict(one) for one in changed],
        )

    @override
    async def of(
        self, repository: RepositoryName, numbers: Collection[int], since: datetime
    ) -> Sequence[Stay]:
        found: list[Stay] = []
        for some in slices(sorted(set(numbers))):
            rows = await self._statements.run(
                select(stays).where(
                    stays.c.repository == repository,
                    stays.c.pull_request.in_(some),
                    stays.c.last_at >= since,
                )
            )
            found += [Stay(**row) for row in rows.mappings()]
        return found

    @override
    async def get(self, repository: RepositoryName, keys: Collection[str]) -> Mapping[str, Stay]:
        found: dict[str, Stay] = {}
        for some in slices(sorted(set(keys))):
            rows = await self._statements.run(
                select(stays).where(stays.c.repository == repository, stays.c.key.in_(some))
            )
            found |= {row["key"]: Stay(**row) for row in rows.mappings()}
        return found

    @override
    async def delete_before(self, last_before: datetime) -> int:
        """At most PRUNE_SLICE a call, the oldest first."""
        key = (stays.c.repository, stays.c.key)
        oldest = (
            select(*key)
            .where(stays.c.last_at < last_before)
            .order_by(stays.c.last_at)
            .limit(PRUNE_SLICE)
        )
        deleted = await self._statements.run(delete(stays).where(tuple_(*key).in_(oldest)))
        return deleted.rowcount
