"""When each repository's event log was last read to its end, and for what."""

from collections.abc import Mapping, Sequence

from sqlalchemy import Executable, bindparam, select

from bot.domain.event_log import LastPoll
from bot.domain.repository import RepositoryName
from bot.storage.statements import Insertion, Prepared, Statements, slices
from bot.storage.tables import polls


class SqlPolls:
    """One row a repository."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    def save(self, polled: Mapping[RepositoryName, LastPoll]) -> None:
        names = sorted(polled)
        last = [polled[name] for name in names]
        self._statements.insert_each(
            _SAVE,
            {
                "repository": names,
                "polled_at": [one.at for one in last],
                "types": [one.types for one in last],
            },
        )

    def latest(self, repositories: Sequence[RepositoryName]) -> Mapping[RepositoryName, LastPoll]:
        found: dict[RepositoryName, LastPoll] = {}
        for some in slices(sorted(set(repositories))):
            rows = self._statements.run(select(polls).where(polls.c.repository.in_(some)))
            found |= {row.repository: LastPoll(row.polled_at, row.types) for row in rows}
        return found


def _save(insert: Insertion) -> Executable:
    added = insert(polls).values({column.name: bindparam(column.name) for column in polls.columns})
    return added.on_conflict_do_update(
        index_elements=[polls.c.repository],
        set_={name: added.excluded[name] for name in ("polled_at", "types")},
    )


_SAVE = Prepared(_save)
