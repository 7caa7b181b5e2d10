"""Running statements inside one transaction, with errors in our words."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, cast

from sqlalchemy import CursorResult, Executable, Row, Table
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.storage.bulk_inserts import Run, runs_of
from bot.storage.failures import as_store_errors
from bot.storage.prepared import (
    Columns,
    ForSqlite,
    Prepared,
    PreparedInsert,
    PreparedList,
    insert_on,
)
from bot.storage.sqlite_connection import SqliteConnection
from bot.storage.uncancelled import to_its_end, to_its_end_here

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from bot.storage.prepared import Insert

SLICE = 500
"""How many values one statement names; far below both databases' limit of 32,766."""

MOST_HERE = 500
"""Of more changes at once than that the connection's thread takes care."""

_T = TypeVar("_T")

Result = CursorResult[*tuple[Any, ...]]
ResultRow = Row[*tuple[Any, ...]]


class Statements:
    """One open transaction, as the parts of the store see it."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection
        self.is_sqlite = connection.dialect.name == "sqlite"
        self._to_its_end = to_its_end_here if self.is_sqlite else to_its_end

    async def run(
        self,
        statement: Executable,
        parameters: Sequence[Mapping[str, object]] | Mapping[str, object] | None = None,
    ) -> Result:
        """Execute; with `parameters`, once for each of them."""
        with as_store_errors():
            return await self._to_its_end(self._connection.execute(statement, parameters))

    def insert(self, table: Table) -> "Insert":
        """An INSERT that can say what to do with a row that exists."""
        return insert_on(is_sqlite=self.is_sqlite)(table)

    async def rows(self, prepared: Prepared, **values: object) -> Sequence[ResultRow]:
        """What a prepared statement reads, or names in RETURNING."""
        return (await self._run_each(prepared, [values])).rows

    async def rows_of_each(
        self, prepared: Prepared, values: Iterable[Mapping[str, object]]
    ) -> Sequence[ResultRow]:
        """Run once for each of `values`; what they name in RETURNING, all together."""
        return (await self._run_each(prepared, values)).rows

    async def rows_in(
        self, prepared: PreparedList, listed: Iterable[object], **values: object
    ) -> Sequence[ResultRow]:
        """What a statement with a list reads; run for parts of the list when it is long."""
        found: list[ResultRow] = []
        for part, names in prepared.of(listed):
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
        if self.is_sqlite:
            compiled = prepared.counting.for_sqlite(self._connection.dialect)
            return await self._insert(compiled, columns, same)
        values = [{**same, **row} for row in _rows(columns)]
        return len((await self._run_each(prepared.telling, values)).rows)

    async def run_each(self, prepared: Prepared, columns: Columns) -> None:
        """An INSERT, run once for each value of the columns."""
        if not any(columns.values()):
            return
        if self.is_sqlite:
            compiled = prepared.for_sqlite(self._connection.dialect)
            await self._insert(compiled, columns, {})
        else:
            await self._run_each(prepared, _rows(columns))

    async def _run_each(self, prepared: Prepared, values: Iterable[Mapping[str, object]]) -> "_Ran":
        sets = list(values)
        if not sets:
            return _Ran([], 0)
        if self.is_sqlite:
            return await self._run_on_sqlite(prepared, sets)
        found = await self.run(prepared.of_postgresql, sets if len(sets) > 1 else sets[0])
        return _Ran(found.all() if found.returns_rows else [], found.rowcount)

    async def _run_on_sqlite(
        self, prepared: Prepared, sets: Sequence[Mapping[str, object]]
    ) -> "_Ran":
        compiled = prepared.for_sqlite(self._connection.dialect)
        parameters = [compiled.parameters(each) for each in sets]
        return await self._drive(compiled, Run(compiled.sql, parameters, len(sets)))

    async def _insert(
        self, compiled: ForSqlite, columns: Columns, same: Mapping[str, object]
    ) -> int:
        runs = runs_of(compiled, columns, same)
        return sum([(await self._drive(compiled, run)).count for run in runs])

    async def _drive(self, compiled: ForSqlite, run: Run) -> "_Ran":
        sql, sets, rows = run
        reads = compiled.row is not None
        driver = self._driver
        with as_store_errors():
            try:
                found, count = (
                    driver.run_here(sql, sets, reads=reads)
                    if driver.may_run_here(sql) and rows <= MOST_HERE
                    else await to_its_end_here(driver.run(sql, sets, reads=reads))
                )
            except sqlite3.IntegrityError as error:
                # As SQLAlchemy has it: a mistake of this program, not of the database.
                raise IntegrityError(sql, None, error) from error
        return _Ran(compiled.rows(found), count)

    @cached_property
    def _driver(self) -> SqliteConnection:
        """That of an open transaction, as `create_engine` makes it."""
        sync = cast("Connection", self._connection.sync_connection)
        return cast("SqliteConnection", sync.connection.driver_connection)


@dataclass(frozen=True, slots=True)
class _Ran:
    """What a statement read, and how many rows it changed."""

    rows: Sequence[ResultRow]
    count: int


def _rows(columns: Columns) -> list[dict[str, object]]:
    rows = zip(*columns.values(), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def slices(values: Sequence[_T], size: int = SLICE) -> Iterator[Sequence[_T]]:
    for start in range(0, len(values), size):
        yield values[start : start + size]
