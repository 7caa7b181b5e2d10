"""Statements of an open transaction, and conversion between rows and records."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import Field, fields
from datetime import datetime
from functools import cache, lru_cache
from importlib import import_module
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite

from bot.store.engines import DATABASE_CLOCK
from bot.store.schema import UtcTime
from bot.store.transaction import Transaction

KEYS_AT_ONCE = 500
"""The most values in one statement; far below both databases' limit of 32,766."""

PRUNE_SLICE = 1000
"""The most rows that one pruning statement deletes, so that others don't wait long."""

LOCK_SPACE = 5_727_431
"""Separates our advisory locks in PostgreSQL from those of others in the same database."""

_TIME = {
    "sqlite": "CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)",
    "postgresql": "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)",
}
"""The time by the database's own clock, in microseconds since 1970."""

_T = TypeVar("_T", bound="Dataclass")

Result = sa.CursorResult[*tuple[Any, ...]]
ResultRow = sa.Row[*tuple[Any, ...]]
Rows = sa.Select[*tuple[Any, ...]]
Expression = sa.ColumnElement[Any]
Condition = sa.ColumnElement[bool]


class Dataclass(Protocol):
    """Any dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


class Part:
    """A group of tables in one open transaction."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction
        self._connection = transaction.connection
        self._dialect = transaction.connection.dialect.name

    def _run(
        self,
        statement: sa.Executable,
        parameters: Sequence[Mapping[str, object]] | Mapping[str, object] | None = None,
    ) -> Result:
        return self._connection.execute(statement, parameters)

    def _records(self, kind: type[_T], rows: Rows, /, **parameters: object) -> list[_T]:
        return from_rows(kind, self._run(rows, parameters).all())

    def _first(self, kind: type[_T], rows: Rows, /, **parameters: object) -> _T | None:
        found = self._records(kind, rows, **parameters)
        return found[0] if found else None

    def _by_keys(
        self, rows: Rows, column: Expression, keys: Iterable[Any], /, **parameters: object
    ) -> list[ResultRow]:
        """The rows whose `column` is one of `keys`; `parameters` are those of `rows`."""
        wanted = sorted(set(keys))
        these = _among_keys(rows, column)
        found: list[ResultRow] = []
        for start in range(0, len(wanted), KEYS_AT_ONCE):
            part = wanted[start : start + KEYS_AT_ONCE]
            found += self._run(these, parameters | {"keys": part})
        return found

    def _get(
        self,
        kind: type[_T],
        rows: Rows,
        column: sa.Column[Any],
        keys: Iterable[Any],
        /,
        **parameters: object,
    ) -> dict[Any, _T]:
        """The records of rows whose `column` is one of `keys`, by that key."""
        found = self._by_keys(rows, column, keys, **parameters)
        records = from_rows(kind, found)
        return {
            getattr(row, column.name): record for row, record in zip(found, records, strict=True)
        }

    def _add(self, table: sa.Table, row: Mapping[str, object]) -> int:
        added = sa.insert(table).returning(*table.primary_key)
        return int(self._run(added, row).scalar_one())

    def _add_new(self, table: sa.Table, *rows: Mapping[str, object]) -> Sequence[Any]:
        """Insert rows that collide with no existing row; return their keys' first columns."""
        if not rows:
            return []
        return self._run(_adding(self._dialect, table), rows).scalars().all()

    def _put(
        self, table: sa.Table, *rows: Mapping[str, object], newest_by: str | None = None
    ) -> None:
        """Insert rows, or update those with the same primary key; all have the same columns.

        A stored row that is later by the column `newest_by` stays.
        """
        if rows:
            self._run(_putting(self._dialect, table, tuple(rows[0]), newest_by), rows)

    def _change(self, table: sa.Table, *which: Condition, **values: object) -> int:
        """Set these values or expressions in the rows that meet all conditions; count the rows."""
        return self._run(sa.update(table).where(*which).values(**values)).rowcount

    def _remove(self, table: sa.Table, *which: Condition) -> int:
        return self._run(sa.delete(table).where(*which)).rowcount

    def lock(self, name: str) -> None:
        """Take a lock that lasts until the transaction ends.

        For things without a row to lock. SQLite has one writer anyway.
        """
        if self._dialect != "sqlite":
            number = sa.func.hashtext(str(name))
            self._run(sa.select(sa.func.pg_advisory_xact_lock(LOCK_SPACE, number)))

    def _database_time(self) -> datetime:
        clock = sa.literal_column(_TIME[self._dialect], UtcTime)
        now: datetime = self._run(sa.select(clock)).scalar_one()
        return now

    @property
    def _clock(self) -> str | None:
        """The SQL of the database's time, if the engine's processes compare times by it."""
        is_shared = self._connection.get_execution_options().get(DATABASE_CLOCK, False)
        return _TIME[self._dialect] if is_shared else None

    def _shared_time(self, now: datetime) -> datetime:
        """The time to compare between processes: the database's, if the engine shares it."""
        return now if self._clock is None else self._database_time()


class Numbered(Part, Generic[_T]):
    """Records of one kind, whose rows have numbers."""

    kind: type[_T]
    rows: Rows
    number: sa.Column[int]

    def get(self, numbers: Collection[int]) -> Mapping[int, _T]:
        found = self._by_keys(self.rows, self.number, numbers)
        return {getattr(row, self.number.name): self._read(row) for row in found}

    def one(self, number: int) -> _T | None:
        return self.get([number]).get(number)

    def _read(self, row: ResultRow) -> _T:
        """The record of a row; overridden where a value of the record is several columns."""
        return from_row(self.kind, row)

    def _all(self, rows: Rows, /, **parameters: object) -> list[_T]:
        return [self._read(row) for row in self._run(rows, parameters)]


def insert_into(dialect: str, table: sa.Table) -> sqlite.Insert:
    """An INSERT that supports ON CONFLICT; PostgreSQL's has the same methods."""
    # Both at once would load SQLAlchemy's whole PostgreSQL side at a start on SQLite.
    new: sqlite.Insert = import_module(f"sqlalchemy.dialects.{dialect}").insert(table)
    return new


# Building a statement takes several times as long as running it.


@cache
def _adding(dialect: str, table: sa.Table) -> sa.Executable:
    return insert_into(dialect, table).on_conflict_do_nothing().returning(*table.primary_key)


@cache
def _putting(
    dialect: str, table: sa.Table, names: Sequence[str], newest_by: str | None
) -> sa.Executable:
    new = insert_into(dialect, table)
    keys = list(table.primary_key)
    changed = {name: new.excluded[name] for name in names if table.columns[name] not in keys}
    is_newer = None
    if newest_by is not None:
        is_newer = table.c[newest_by] <= new.excluded[newest_by]
    return new.on_conflict_do_update(index_elements=keys, set_=changed, where=is_newer)


@lru_cache(maxsize=100)
def _among_keys(rows: Rows, column: Expression) -> Rows:
    return rows.where(column.in_(sa.bindparam("keys", expanding=True)))


def from_row(kind: type[_T], row: ResultRow, **others: object) -> _T:
    """A record from the columns that have its fields' names, and from `others`."""
    columns = row._asdict() | others
    return kind(**{name: columns[name] for name in _field_names(kind)})


def from_rows(kind: type[_T], rows: Sequence[ResultRow]) -> list[_T]:
    """`from_row` for all rows of one statement, whose columns are looked up once."""
    if not rows:
        return []
    columns = rows[0]._fields
    places = {name: columns.index(name) for name in _field_names(kind)}
    return [kind(**{name: row[place] for name, place in places.items()}) for row in rows]


def as_row(table: sa.Table, record: "Dataclass", **others: object) -> dict[str, object]:
    """The columns of `record`, as `from_row` reads them, and `others`; not the row's number."""
    return {name: getattr(record, name) for name in _shared(table, type(record))} | others


def columns_of(table: sa.Table, kind: type["Dataclass"]) -> Sequence[Expression]:
    """The columns that `from_row` reads for a record of that kind, except for the row's number."""
    return [table.columns[name] for name in _shared(table, kind)]


@cache
def _field_names(kind: type["Dataclass"]) -> Sequence[str]:
    return [field.name for field in fields(kind)]


@cache
def _shared(table: sa.Table, kind: type["Dataclass"]) -> Sequence[str]:
    number = table.autoincrement_column
    return [name for name in _field_names(kind) if name in table.c and table.c[name] is not number]
