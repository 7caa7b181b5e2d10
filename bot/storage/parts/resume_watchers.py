"""People who asked to be told when a queue goes on."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import delete, literal, select

from bot.domain.repository import RepositoryName
from bot.storage.statements import Statements, slices
from bot.storage.tables import pauses, resume_watchers


class SqlResumeWatchers:
    """Watchers as rows, deleted when they are told."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    def add(self, pause_id: int, user_id: str) -> bool:
        added = self._statements.run(
            self._statements.insert(resume_watchers)
            .values(pause_id=pause_id, user_id=user_id)
            .on_conflict_do_nothing(index_elements=["pause_id", "user_id"])
            .returning(resume_watchers.c.user_id)
        )
        return added.first() is not None

    def take(self, pause_id: int) -> Sequence[str]:
        taken = self._statements.run(
            delete(resume_watchers)
            .where(resume_watchers.c.pause_id == pause_id)
            .returning(resume_watchers.c.user_id)
        )
        return sorted(row.user_id for row in taken)

    def waiting(self, pause_ids: Collection[int]) -> Collection[str]:
        found: set[str] = set()
        for some in slices(sorted(set(pause_ids))):
            rows = self._statements.run(
                select(resume_watchers.c.user_id).where(resume_watchers.c.pause_id.in_(some))
            )
            found.update(row.user_id for row in rows)
        return found

    def awaited(self, user_ids: Collection[str]) -> Mapping[str, Sequence[RepositoryName]]:
        found: dict[str, set[RepositoryName]] = defaultdict(set)
        theirs = select(resume_watchers.c.user_id, pauses.c.repository).join(
            pauses, pauses.c.pause_id == resume_watchers.c.pause_id
        )
        for some in slices(sorted(set(user_ids))):
            asked = theirs.where(resume_watchers.c.user_id.in_(some))
            for row in self._statements.run(asked):
                found[row.user_id].add(row.repository)
        return {user_id: sorted(names) for user_id, names in found.items()}

    def forget(self, user_id: str) -> bool:
        theirs = delete(resume_watchers).where(resume_watchers.c.user_id == user_id)
        return (self._statements.run(theirs)).rowcount > 0

    def move(self, pause_id: int, to: int) -> None:
        theirs = resume_watchers.c.pause_id == pause_id
        self._statements.run(
            self._statements.insert(resume_watchers)
            .from_select(
                ["pause_id", "user_id"],
                # Without a WHERE, SQLite takes ON for that of a join.
                select(literal(to), resume_watchers.c.user_id).where(theirs),
            )
            .on_conflict_do_nothing(index_elements=["pause_id", "user_id"])
        )
        self._statements.run(delete(resume_watchers).where(theirs))
