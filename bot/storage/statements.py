"""Running statements inside one transaction."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import Field, fields
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias, TypeVar

from sqlalchemy import (
    BigInteger,
    BindParameter,
    ColumnElement,
    Connection,
    CursorResult,
    Executable,
    Row,
    Select,
    Table,
    bindparam,
    insert,
    literal_column,
    text,
)
from sqlalchemy.dialects import sqlite
from sqlalchemy.types import TypeEngine

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

_SQLITE_NOW = "CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)"
_POSTGRESQL_NOW = "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)"

_T = TypeVar("_T")
_Record = TypeVar("_Record", bound="Dataclass")

Insertion = Callable[[Table], "Insert"]
Columns = Mapping[str, Sequence[object]]
"""Values for many rows by column name, equally many for each."""

Result = CursorResult[*tuple[Any, ...]]
ResultRow = Row[*tuple[Any, ...]]


def insert_on(*, is_sqlite: bool) -> Insertion:
    """An INSERT that can say what to do with a row that exists."""
    if is_sqlite:
        return sqlite.insert
    # Its import brings all of PostgreSQL's drivers with it.
    insert: Insertion = import_module("sqlalchemy.dialects.postgresql").insert
    return insert


class Prepared:
    """A statement with `bindparam` for what changes, built once for each database."""

    def __init__(self, build: Callable[[Insertion], Executable]) -> None:
        self._build = build

    @cache  # noqa: B019  # these are constants of modules
    def on(self, *, is_sqlite: bool) -> Executable:
        return self._build(insert_on(is_sqlite=is_sqlite))


class PreparedList:
    """A statement with a list of values, run for slices of the list when it is long."""

    def __init__(
        self,
        name: str,
        value_type: TypeEngine[Any],
        build: Callable[[Insertion, BindParameter[Any]], Executable],
    ) -> None:
        self.name = f"listed_{name}"
        listed = bindparam(self.name, type_=value_type, expanding=True)
        self.statement = Prepared(lambda insert: build(insert, listed))


class Statements:
    """One open transaction, as the parts of the store see it."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._is_sqlite = connection.dialect.name == "sqlite"

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
        self, rows: Select[*tuple[Any, ...]], column: ColumnElement[Any], keys: Iterable[Any]
    ) -> list[ResultRow]:
        """Those of `rows` whose `column` is one of `keys`."""
        found: list[ResultRow] = []
        for some in slices(sorted(set(keys))):
            found += self.run(rows.where(column.in_(some)))
        return found

    def add_numbered(self, table: Table, row: Mapping[str, object]) -> int:
        """Insert a row, and return the number that the database gave it."""
        added = self.run(insert(table).values(row).returning(*table.primary_key))
        number: int = added.scalar_one()
        return number

    def put(self, table: Table, *rows: Mapping[str, object]) -> None:
        """Insert rows, or replace those with the same primary key; each has all columns."""
        if not rows:
            return
        new = self.insert(table)
        changed = {
            column.name: new.excluded[column.name]
            for column in table.columns
            if not column.primary_key
        }
        self.run(new.on_conflict_do_update(index_elements=table.primary_key, set_=changed), rows)

    def insert(self, table: Table) -> "Insert":
        """An INSERT that can say what to do with a row that exists."""
        return insert_on(is_sqlite=self._is_sqlite)(table)

    @property
    def now(self) -> ColumnElement[int]:
        """The time by the database's own clock, in microseconds since 1970."""
        return literal_column(_SQLITE_NOW if self._is_sqlite else _POSTGRESQL_NOW, BigInteger())

    def rows(self, prepared: Prepared, **values: object) -> Sequence[ResultRow]:
        """What a statement reads, or names in RETURNING."""
        return self.run(self._on(prepared), values).all()

    def changed(self, prepared: Prepared, **values: object) -> int:
        """How many rows a statement changed."""
        return self.run(self._on(prepared), values).rowcount

    def run_for_each(self, prepared: Prepared, values: Iterable[Mapping[str, object]]) -> None:
        """Run a statement once for each of `values`."""
        wanted = list(values)
        if wanted:
            self.run(self._on(prepared), wanted)

    def rows_in(
        self, prepared: PreparedList, listed: Iterable[object], **values: object
    ) -> Sequence[ResultRow]:
        """What a statement with a list reads."""
        statement = self._on(prepared.statement)
        found: list[ResultRow] = []
        for some in slices(list(listed)):
            result = self.run(statement, {**values, prepared.name: some})
            found += result.all() if result.returns_rows else []
        return found

    def add(self, prepared: Prepared, columns: Columns, **same: object) -> int:
        """Insert a row for each value of the columns; how many were not there.

        `prepared` names something in RETURNING: of many rows at once the drivers count nothing.
        `same`: values that all of the rows have.
        """
        rows = [{**same, **row} for row in _rows(columns)]
        return len(self.run(self._on(prepared), rows).all()) if rows else 0

    def insert_each(self, prepared: Prepared, columns: Columns) -> None:
        """Insert a row for each value of the columns."""
        self.run_for_each(prepared, _rows(columns))

    def _on(self, prepared: Prepared) -> Executable:
        return prepared.on(is_sqlite=self._is_sqlite)


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
    return kind(**{each.name: values[each.name] for each in fields(kind)})


def as_row(table: Table, record: Dataclass, **others: object) -> dict[str, object]:
    """The fields of `record` that have columns, and `others`; not the number of the row."""
    values = {each.name: getattr(record, each.name) for each in fields(record)}
    columns = [column for column in table.columns if column is not table.autoincrement_column]
    return {each.name: values[each.name] for each in columns if each.name in values} | others


def _rows(columns: Columns) -> list[dict[str, object]]:
    rows = zip(*columns.values(), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def slices(values: Sequence[_T]) -> Iterator[Sequence[_T]]:
    """The values in slices that one statement can name."""
    for start in range(0, len(values), SLICE):
        yield values[start : start + SLICE]
