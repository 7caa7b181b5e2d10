"""Statements of an open transaction, and conversion between rows and records."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import Field, fields, is_dataclass
from datetime import datetime
from functools import cache, lru_cache
from importlib import import_module
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Protocol,
    TypeAlias,
    TypeVar,
    get_args,
    get_type_hints,
)

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    CursorResult,
    Executable,
    Row,
    Select,
    Table,
    bindparam,
    delete,
    insert,
    literal_column,
    select,
    text,
    update,
)
from sqlalchemy.dialects import sqlite

from bot.store.column_types import UtcTime
from bot.store.engines import DATABASE_CLOCK

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql

    Insert: TypeAlias = sqlite.Insert | postgresql.Insert

SLICE = 500
"""The most values in one statement; far below both databases' limit of 32,766."""

PRUNE_SLICE = 1000
"""The most rows that one pruning statement deletes, so that others don't wait long."""

LOCK_SPACE = 5_727_431
"""Separates our advisory locks in PostgreSQL from those of others in the same database."""

_HOLD = text("SELECT pg_advisory_xact_lock(:space, hashtext(:name))")

_TIME = {
    "sqlite": "CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)",
    "postgresql": "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)",
}
"""The time by the database's own clock, in microseconds since 1970."""

_T = TypeVar("_T")
_Record = TypeVar("_Record", bound="Dataclass")

Result = CursorResult[*tuple[Any, ...]]
ResultRow = Row[*tuple[Any, ...]]
Rows = Select[*tuple[Any, ...]]
Condition = ColumnElement[bool]


class Dataclass(Protocol):
    """Any dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


class Part:
    """A group of tables in one open transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def _run(
        self,
        statement: Executable,
        parameters: Sequence[Mapping[str, object]] | Mapping[str, object] | None = None,
    ) -> Result:
        """Execute a statement, once for each of several `parameters`."""
        return self._connection.execute(statement, parameters)

    def _records(self, kind: type[_Record], rows: Rows, /, **parameters: object) -> list[_Record]:
        return [from_row(kind, row) for row in self._run(rows, parameters)]

    def _by_keys(
        self, rows: Rows, column: ColumnElement[Any], keys: Iterable[Any], /, **parameters: object
    ) -> list[ResultRow]:
        """The rows whose `column` is one of `keys`; `parameters` are those of `rows`."""
        these = _among_keys(rows, column)
        return [
            row
            for some in slices(sorted(set(keys)))
            for row in self._run(these, parameters | {"keys": some})
        ]

    def _get(
        self,
        kind: type[_Record],
        rows: Rows,
        column: Column[Any],
        keys: Iterable[Any],
        /,
        **parameters: object,
    ) -> dict[Any, _Record]:
        """The records of rows whose `column` is one of `keys`, by that key."""
        found = self._by_keys(rows, column, keys, **parameters)
        return {getattr(row, column.name): from_row(kind, row) for row in found}

    def _add(self, table: Table, row: Mapping[str, object]) -> int:
        """Insert a row and return its new number."""
        added = self._run(insert(table).returning(*table.primary_key), row)
        number: int = added.scalar_one()
        return number

    def _add_new(self, table: Table, row: Mapping[str, object]) -> ResultRow | None:
        """Insert a row and return its key; None if it collides with an existing row."""
        return self._run(self._adding(table), row).one_or_none()

    def _adding(self, table: Table) -> Executable:
        """Inserts rows and returns the keys of those that collide with no existing row."""
        return _adding(self._connection.dialect.name, table)

    def _put(self, table: Table, *rows: Mapping[str, object]) -> None:
        """Insert rows, or update those with the same primary key; all have the same columns."""
        if rows:
            self._run(_putting(self._connection.dialect.name, table, tuple(rows[0])), rows)

    def _insert(self, table: Table) -> "Insert":
        return insert_into(self._connection.dialect.name, table)

    def _change(self, table: Table, *which: Condition, **values: object) -> int:
        """Set these values or expressions in the rows that meet all conditions; count the rows."""
        return self._run(update(table).where(*which).values(**values)).rowcount

    def _remove(self, table: Table, *which: Condition) -> int:
        """Delete the rows that meet all conditions; return how many there were."""
        return self._run(delete(table).where(*which)).rowcount

    def _hold(self, name: str) -> None:
        """Take a lock that lasts until the transaction ends.

        For things without a row to lock. SQLite has one writer anyway.
        """
        if self._connection.dialect.name != "sqlite":
            self._run(_HOLD.bindparams(space=LOCK_SPACE, name=str(name)))

    def _database_time(self) -> datetime:
        """The time by the database's clock, which all its processes share."""
        of_dialect = _TIME[self._connection.dialect.name]
        now: datetime = self._run(select(literal_column(of_dialect, UtcTime()))).scalar_one()
        return now

    @property
    def _clock(self) -> str | None:
        """The SQL of the database's time, if the engine's processes compare times by it."""
        is_shared = self._connection.get_execution_options().get(DATABASE_CLOCK, False)
        return _TIME[self._connection.dialect.name] if is_shared else None

    def _shared_time(self, now: datetime) -> datetime:
        """The time to compare between processes: the database's, if the engine shares it."""
        return now if self._clock is None else self._database_time()


# Statements that run with each event are built once: that takes longer than running them.


def insert_into(dialect: str, table: Table) -> "Insert":
    """An INSERT that supports ON CONFLICT."""
    if dialect == "sqlite":
        return sqlite.insert(table)
    # Importing it loads all PostgreSQL drivers.
    new: Insert = import_module("sqlalchemy.dialects.postgresql").insert(table)
    return new


@cache
def _adding(dialect: str, table: Table) -> Executable:
    return insert_into(dialect, table).on_conflict_do_nothing().returning(*table.primary_key)


@cache
def _putting(dialect: str, table: Table, names: Sequence[str]) -> "Insert":
    new = insert_into(dialect, table)
    keys = list(table.primary_key)
    changed = {name: new.excluded[name] for name in names if table.columns[name] not in keys}
    return new.on_conflict_do_update(index_elements=keys, set_=changed)


@lru_cache(maxsize=100)
def _among_keys(rows: Rows, column: ColumnElement[Any]) -> Rows:
    return rows.where(column.in_(bindparam("keys", expanding=True)))


def from_row(kind: type[_Record], row: ResultRow, **others: object) -> _Record:
    """A record from the columns that have its fields' names, and from `others`.

    Columns of a nested record begin with its field's name; it is None if all of them are.
    """
    return kind(**_fields_from(kind, row._asdict() | others, ""))


def _fields_from(
    kind: type["Dataclass"], columns: Mapping[str, object], prefix: str
) -> dict[str, object]:
    values: dict[str, object] = {}
    for name, inner in _fields_of(kind).items():
        column = f"{prefix}{name}"
        if inner is None or column in columns:
            values[name] = columns[column]
        else:
            found = _fields_from(inner, columns, f"{column}_")
            is_there = any(value is not None for value in found.values())
            values[name] = inner(**found) if is_there else None
    return values


def as_row(table: Table, record: Dataclass, **others: object) -> dict[str, object]:
    """The columns of `record`, as `from_row` reads them, and `others`; not the row's number."""
    paths = _paths(table, type(record))
    return {column: _field_at(path, record) for column, path in paths.items()} | others


def columns_of(table: Table, kind: type["Dataclass"]) -> Sequence[ColumnElement[Any]]:
    """The columns that `from_row` reads for a record of that kind, except for the row's number."""
    return [table.columns[name] for name in _paths(table, kind)]


@cache
def _paths(table: Table, kind: type["Dataclass"]) -> Mapping[str, Sequence[str]]:
    """The path of the field that each column stores: of `walk_cursor` it is `walk`, `cursor`."""
    number = table.autoincrement_column
    columns = {column.name for column in table.columns if column is not number}
    return {"_".join(path): path for path in _stored_paths(kind, columns, ())}


def _stored_paths(
    kind: type["Dataclass"], columns: Collection[str], above: tuple[str, ...]
) -> Iterator[tuple[str, ...]]:
    for name, inner in _fields_of(kind).items():
        path = (*above, name)
        if "_".join(path) in columns:
            yield path
        elif inner is not None:
            yield from _stored_paths(inner, columns, path)


def _field_at(path: Sequence[str], record: object) -> object:
    """The field at the end of the path; None if a record on the way is None."""
    for name in path:
        record = getattr(record, name, None)
    return record


@cache
def _fields_of(kind: type["Dataclass"]) -> Mapping[str, type["Dataclass"] | None]:
    """The names of the fields, and the kind of those that hold another record."""
    hints = get_type_hints(kind)
    return {each.name: _record_in(hints[each.name]) for each in fields(kind)}


def _record_in(hint: object) -> type["Dataclass"] | None:
    """The dataclass that a field holds, or that it holds unless it is None."""
    held = [each for each in (hint, *get_args(hint)) if isinstance(each, type)]
    return next(filter(is_dataclass, held), None)


def slices(values: Sequence[_T]) -> Iterator[Sequence[_T]]:
    """The values in slices that one statement can name."""
    for start in range(0, len(values), SLICE):
        yield values[start : start + SLICE]
