"""Running statements inside one transaction."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import Field, fields
from datetime import datetime
from functools import cache, lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias, TypeVar

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    CursorResult,
    Executable,
    Row,
    Select,
    Table,
    bindparam,
    func,
    insert,
    text,
    type_coerce,
)
from sqlalchemy.dialects import sqlite
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeEngine

from bot.store.column_types import UtcTime

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql

    Insert: TypeAlias = sqlite.Insert | postgresql.Insert

SLICE = 500
"""How many values one statement names; far below both databases' limit of 32,766."""

PRUNE_SLICE = 1000
"""How many rows one pruning statement deletes at most, so that nobody waits long for it."""

LOCK_SPACE = 5_727_431
"""Tells our advisory locks of PostgreSQL from those of others on the same database."""

_HOLD = text("SELECT pg_advisory_xact_lock(:space, hashtext(:name))")

_T = TypeVar("_T")
_Record = TypeVar("_Record", bound="Dataclass")

Result = CursorResult[*tuple[Any, ...]]
ResultRow = Row[*tuple[Any, ...]]


class DatabaseClock(FunctionElement[int]):
    """The time by the database's own clock, in microseconds since 1970.

    https://docs.sqlalchemy.org/en/21/core/compiler.html
    """

    type: TypeEngine[int] = BigInteger()
    inherit_cache: bool | None = True


@compiles(DatabaseClock, "sqlite")
def _of_sqlite(*_: object, **__: object) -> str:
    return "CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)"


@compiles(DatabaseClock, "postgresql")
def _of_postgresql(*_: object, **__: object) -> str:
    return "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)"


NOW: ColumnElement[datetime] = func.coalesce(bindparam("now", type_=UtcTime()), DatabaseClock())
"""The time to store and compare between processes whose clocks may differ; see `clock`."""

LATER: ColumnElement[datetime] = type_coerce(
    type_coerce(NOW, BigInteger()) + bindparam("microseconds", type_=BigInteger()), UtcTime()
)
"""That time and so many `microseconds` more."""


class Statements:
    """One open transaction, as the parts of the store see it."""

    def __init__(self, connection: Connection, *, has_clock: bool) -> None:
        self._connection = connection
        self._is_sqlite = connection.dialect.name == "sqlite"
        self._has_clock = has_clock

    def run(
        self,
        statement: Executable,
        parameters: Sequence[Mapping[str, object]] | Mapping[str, object] | None = None,
    ) -> Result:
        """Execute; with several `parameters`, once for each of them."""
        return self._connection.execute(statement, parameters)

    def hold(self, name: str) -> None:
        """Take a lock that lasts until the transaction ends.

        For what has no row yet that could be locked. SQLite has one writer anyway.
        """
        if not self._is_sqlite:
            self.run(_HOLD.bindparams(space=LOCK_SPACE, name=str(name)))

    def by_keys(
        self,
        rows: Select[*tuple[Any, ...]],
        column: ColumnElement[Any],
        keys: Iterable[Any],
        **parameters: object,
    ) -> list[ResultRow]:
        """Those of `rows` whose `column` is one of `keys`."""
        found: list[ResultRow] = []
        for some in slices(sorted(set(keys))):
            found += self.run(_having(rows, column), {"keys": some, **parameters})
        return found

    def add_numbered(self, table: Table, row: Mapping[str, object]) -> int:
        """Insert a row, and return the number that the database gave it."""
        added = self.run(insert(table).values(row).returning(*table.primary_key))
        number: int = added.scalar_one()
        return number

    def put(self, table: Table, *rows: Mapping[str, object]) -> None:
        """Insert rows, or change those with the same primary key; all give the same columns."""
        if not rows:
            return
        self.run(_insert_or_change(table, tuple(rows[0]), is_sqlite=self._is_sqlite), rows)

    def insert(self, table: Table) -> "Insert":
        """An INSERT that can say what to do with a row that exists."""
        return _insert(table, is_sqlite=self._is_sqlite)

    def clock(self, now: datetime) -> datetime | None:
        """The parameter `now` of NOW: none where the engine says to go by the database's clock."""
        return None if self._has_clock else now


def _insert(table: Table, *, is_sqlite: bool) -> "Insert":
    if is_sqlite:
        return sqlite.insert(table)
    # Its import brings all of PostgreSQL's drivers with it.
    new: Insert = import_module("sqlalchemy.dialects.postgresql").insert(table)
    return new


@cache
def _insert_or_change(table: Table, names: Sequence[str], *, is_sqlite: bool) -> Executable:
    new = _insert(table, is_sqlite=is_sqlite)
    changed = {name: new.excluded[name] for name in names if not table.columns[name].primary_key}
    return new.on_conflict_do_update(index_elements=table.primary_key, set_=changed)


@lru_cache(maxsize=200)
def _having(rows: Select[*tuple[Any, ...]], column: ColumnElement[Any]) -> Executable:
    """Made once for each constant: to make a statement takes longer than to run it."""
    return rows.where(column.in_(bindparam("keys", expanding=True)))


class Dataclass(Protocol):
    """Any dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


class Part:
    """A group of tables in one open transaction."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements


def from_row(kind: type[_Record], row: ResultRow, **others: object) -> _Record:
    """A dataclass from the columns that have its fields' names, and from `others`."""
    values = row._asdict() | others
    return kind(**{name: values[name] for name in _names(kind)})


@cache
def _names(kind: type["Dataclass"]) -> Sequence[str]:
    return [each.name for each in fields(kind)]


def as_row(table: Table, record: Dataclass, **others: object) -> dict[str, object]:
    """The fields of `record` that have columns, and `others`; not the number of the row."""
    values = {each.name: getattr(record, each.name) for each in fields(record)}
    columns = [column for column in table.columns if column is not table.autoincrement_column]
    return {each.name: values[each.name] for each in columns if each.name in values} | others


def slices(values: Sequence[_T]) -> Iterator[Sequence[_T]]:
    """The values in slices that one statement can name."""
    for start in range(0, len(values), SLICE):
        yield values[start : start + SLICE]
