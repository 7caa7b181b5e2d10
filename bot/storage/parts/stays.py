"""Stays of pull requests in the queue, for the channels that are told in threads."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from operator import attrgetter

from sqlalchemy import Executable, bindparam, delete, select, tuple_

from bot.domain.repository import RepositoryName
from bot.domain.stays import Stay
from bot.storage.column_types import is_storable
from bot.storage.statements import PRUNE_SLICE, Insertion, Prepared, PreparedList, Statements
from bot.storage.tables import stays

_KEY = ("repository", "key")


class SqlStays:
    """A row a stay."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements
        self._saved: dict[tuple[RepositoryName, str], Stay] = {}
        """What this transaction stored, which nobody else changes before it has ended."""

    def save(self, changed: Sequence[Stay]) -> None:
        columns = {name: list(map(of, changed)) for name, of in _COLUMNS.items()}
        self._statements.insert_each(_SAVE, columns)
        self._saved.update(((one.repository, one.key), one) for one in changed)

    def of(
        self, repository: RepositoryName, numbers: Collection[int], since: datetime
    ) -> Sequence[Stay]:
        rows = self._statements.rows_in(
            _OF, sorted(set(numbers)), of_repository=repository, since=since
        )
        return [Stay(**row._asdict()) for row in rows]

    def lasting(self, repository: RepositoryName, since: datetime) -> Sequence[Stay]:
        rows = self._statements.rows(_LASTING, of_repository=repository, since=since)
        return [Stay(**row._asdict()) for row in rows]

    def get(self, repository: RepositoryName, keys: Collection[str]) -> Mapping[str, Stay]:
        saved = {key: self._saved.get((repository, key)) for key in keys}
        found = {key: one for key, one in saved.items() if one is not None and _is_as_read(one)}
        rows = self._statements.rows_in(
            _GET, sorted(saved.keys() - found.keys()), of_repository=repository
        )
        return found | {row.key: Stay(**row._asdict()) for row in rows}

    def delete_before(self, last_before: datetime) -> int:
        """At most PRUNE_SLICE a call, the oldest first."""
        key = (stays.c.repository, stays.c.key)
        oldest = (
            select(*key)
            .where(stays.c.last_at < last_before)
            .order_by(stays.c.last_at)
            .limit(PRUNE_SLICE)
        )
        self._saved.clear()
        deleted = self._statements.run(delete(stays).where(tuple_(*key).in_(oldest)))
        return deleted.rowcount


def _is_as_read(stay: Stay) -> bool:
    """Whether it is stored just as it was given: what no database can store was not."""
    return stay.session_id is None or is_storable(stay.session_id)


_COLUMNS = {each.name: attrgetter(each.name) for each in fields(Stay)}


def _save(insert: Insertion) -> Executable:
    added = insert(stays).values({column.name: bindparam(column.name) for column in stays.columns})
    changing = [column.name for column in stays.columns if column.name not in _KEY]
    return added.on_conflict_do_update(
        index_elements=_KEY, set_={name: added.excluded[name] for name in changing}
    )


_SAVE = Prepared(_save)

_OF = PreparedList(
    "number",
    stays.c.pull_request.type,
    lambda _, numbers: select(stays).where(
        stays.c.repository == bindparam("of_repository"),
        stays.c.pull_request.in_(numbers),
        stays.c.last_at >= bindparam("since"),
    ),
)

_LASTING = Prepared(
    lambda _: (
        select(stays)
        .where(
            stays.c.repository == bindparam("of_repository"),
            stays.c.ended_at.is_(None),
            stays.c.last_at >= bindparam("since"),
        )
        .order_by(stays.c.began_at, stays.c.key)
    )
)

_GET = PreparedList(
    "key",
    stays.c.key.type,
    lambda _, keys: select(stays).where(
        stays.c.repository == bindparam("of_repository"), stays.c.key.in_(keys)
    ),
)
