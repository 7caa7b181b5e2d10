"""When each repository's event log was last read to its end."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import Executable, bindparam, select
from typing_extensions import override

from bot import ports
from bot.domain.repository import RepositoryName
from bot.storage.prepared import Insertion, Prepared
from bot.storage.statements import Statements, slices
from bot.storage.tables import polls


class SqlPolls(ports.Polls):
    """One row a repository."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    @override
    async def save(self, polled: Mapping[RepositoryName, datetime]) -> None:
        names = sorted(polled)
        times = [polled[name] for name in names]
        await self._statements.run_each(_SAVE, {"repository": names, "polled_at": times})

    @override
    async def latest(
        self, repositories: Sequence[RepositoryName]
    ) -> Mapping[RepositoryName, datetime]:
        found: dict[RepositoryName, datetime] = {}
        for some in slices(sorted(set(repositories))):
            rows = await self._statements.run(select(polls).where(polls.c.repository.in_(some)))
            found |= {row.repository: row.polled_at for row in rows}
        return found


def _save(insert: Insertion) -> Executable:
    added = insert(polls).values({column.name: bindparam(column.name) for column in polls.columns})
    return added.on_conflict_do_update(
        index_elements=[polls.c.repository], set_={"polled_at": added.excluded.polled_at}
    )


_SAVE = Prepared(_save)
