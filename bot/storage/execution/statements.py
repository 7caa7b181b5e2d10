"""Running statements inside one transaction, with errors in our words."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    CursorResult,
    Executable,
    Row,
    Table,
    literal_column,
    text,
)
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.values import value
from bot.storage.execution.bulk_inserts import Run, runs_of
from bot.storage.execution.failures import as_store_errors
from bot.storage.execution.prepared import (
    Columns,
    ForSqlite,
    Prepared,
    PreparedInsert,
    PreparedList,
    insert_on,
)
from bot.storage.execution.sqlite_connection import SqliteConnection
from bot.storage.execution.uncancelled import to_its_end, to_its_end_here

if TYPE_CHECKING:
    from bot.storage.execution.prepared import Insert

SLICE = 500
"""How many values one statement names; far below both databases' limit of 32,766."""

PRUNE_SLICE = 1000
"""How many rows one pruning statement deletes at most: a transaction that others wait for is short.
"""

MOST_HERE = 500
"""Of more changes at once than that the connection's thread takes care."""

LOCK_SPACE = 5_727_431
"""Tells our advisory locks of PostgreSQL from those of others on the same database."""

_HOLD = text("SELECT pg_advisory_xact_lock(:space, hashtext(:name))")

_SQLITE_NOW = "CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)"
_POSTGRESQL_NOW = "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)"

_T = TypeVar("_T")

Result = CursorResult[*tuple[Any, ...]]
ResultRow = Row[*tuple[Any, ...]]


class Statements:
    """One open transaction, as the parts of the store see it."""

    def __init__(self, connection: AsyncConnection, driver: SqliteConnection | None = None) -> None:
        """With the driver of a SQLite file, whose transaction is open."""
        self._connection = connection
        self._driver = driver
        self._is_sqlite = driver is not None
        self._to_its_end = to_its_end_here if self._is_sqlite else to_its_end

    async def run(
        self,
        statement: Executable,
        parameters: Sequence[Mapping[str, object]] | Mapping[str, object] | None = None,
    ) -> Result:
        """Execute; with `parameters`, once for each of them."""
        with as_store_errors():
            return await self._to_its_end(self._connection.execute(statement, parameters))

    async def hold(self, name: str) -> None:
        """Until this transaction ends no other that asks for the same name goes on.

        For what has no row yet that could be locked. SQLite has one writer anyway.
        """
        if not self._is_sqlite:
            await self.run(_HOLD.bindparams(space=LOCK_SPACE, name=str(name)))

    async def put(
        self, table: Table, key: Sequence[str], rows: Sequence[Mapping[str, object]]
    ) -> None:
        """Insert rows, or replace those with the same key; each gives all columns of the table."""
        insert = self.insert(table)
        changed = {
            column.name: insert.excluded[column.name]
            for column in table.columns
            if column.name not in key
        }
        await self.run(insert.on_conflict_do_update(index_elements=key, set_=changed), rows)

    def insert(self, table: Table) -> "Insert":
        """An INSERT that can say what to do with a row that exists."""
        return insert_on(is_sqlite=self._is_sqlite)(table)

    @property
    def now(self) -> ColumnElement[int]:
        """The time by the database's own clock, in microseconds since 1970."""
        return literal_column(_SQLITE_NOW if self._is_sqlite else _POSTGRESQL_NOW, BigInteger())

    async def rows(self, prepared: Prepared, **values: object) -> Sequence[ResultRow]:
        """What a prepared statement reads, or names in RETURNING."""
        return (await self._run_each(prepared, [values])).rows

    async def run_for_each(
        self, prepared: Prepared, values: Iterable[Mapping[str, object]]
    ) -> None:
        """Run a prepared statement once for each of `values`."""
        await self._run_each(prepared, list(values))

    async def rows_in(
        self, prepared: PreparedList, listed: Iterable[object], **values: object
    ) -> Sequence[ResultRow]:
        """What a statement with a list reads; run for parts of the list when it is long."""
        parts = list(prepared.of(listed))
        if len(parts) == 1:
            ((part, names),) = parts
            return (await self._run_each(part, [{**values, **names}])).rows
        found: list[ResultRow] = []
        for part, names in parts:
            found += (await self._run_each(part, [{**values, **names}])).rows
        return found

    async def changed(self, prepared: Prepared, **values: object) -> int:
        """How many rows a prepared statement changed."""
        return (await self._run_each(prepared, [values])).count

    async def add(self, prepared: PreparedInsert, columns: Columns, **same: object) -> int:
        """Insert a row for each value of the columns; how many were not there.

        `same`: values that all of the rows have.
        """
        if not any(columns.values()):
            return 0
        if self._driver is not None:
            compiled = prepared.counting.for_sqlite(self._connection.dialect)
            return await self._insert(compiled, columns, same)
        values = [{**same, **row} for row in _rows(columns)]
        return len((await self._run_each(prepared.telling, values)).rows)

    async def insert_each(self, prepared: Prepared, columns: Columns) -> None:
        """Insert a row for each value of the columns."""
        if not any(columns.values()):
            return
        if self._driver is not None:
            compiled = prepared.for_sqlite(self._connection.dialect)
            await self._insert(compiled, columns, {})
        else:
            await self._run_each(prepared, _rows(columns))

    async def _run_each(self, prepared: Prepared, values: Sequence[Mapping[str, object]]) -> "_Ran":
        if not values:
            return _Ran([], 0)
        if self._driver is not None:
            compiled = prepared.for_sqlite(self._connection.dialect)
            run = Run(compiled.sql, [compiled.parameters(each) for each in values], len(values))
            return self._here(compiled, run) or await self._in_thread(compiled, run)
        found = await self.run(prepared.of_postgresql, values if len(values) > 1 else values[0])
        return _Ran(found.all() if found.returns_rows else [], found.rowcount)

    async def _insert(
        self, compiled: ForSqlite, columns: Columns, same: Mapping[str, object]
    ) -> int:
        count = 0
        for run in runs_of(compiled, columns, same):
            count += (self._here(compiled, run) or await self._in_thread(compiled, run)).count
        return count

    def _here(self, compiled: ForSqlite, run: Run) -> "_Ran | None":
        """None when it is the thread's."""
        sql, sets, rows = run
        driver = self._driver
        if driver is None or rows > MOST_HERE or not driver.may_run_here(sql):
            return None
        try:
            found, count = driver.run_here(sql, sets, reads=compiled.row is not None)
        except sqlite3.Error as error:
            _raise_anew(sql, error)
        return _Ran(compiled.rows(found), count)

    async def _in_thread(self, compiled: ForSqlite, run: Run) -> "_Ran":
        driver = cast("SqliteConnection", self._driver)
        reads = compiled.row is not None
        try:
            found, count = await to_its_end_here(driver.run(run.sql, run.sets, reads=reads))
        except sqlite3.Error as error:
            _raise_anew(run.sql, error)
        return _Ran(compiled.rows(found), count)


def _raise_anew(sql: str, error: sqlite3.Error) -> NoReturn:
    with as_store_errors():
        if isinstance(error, sqlite3.IntegrityError):
            # As SQLAlchemy has it: a mistake of this program, not of the database.
            raise IntegrityError(sql, None, error) from error
        raise error


@value(frozen=True, slots=True)
class _Ran:
    """What a statement read, and how many rows it changed."""

    rows: Sequence[ResultRow]
    count: int


def _rows(columns: Columns) -> list[dict[str, object]]:
    rows = zip(*columns.values(), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def slices(values: Sequence[_T]) -> Iterator[Sequence[_T]]:
    for start in range(0, len(values), SLICE):
        yield values[start : start + SLICE]
