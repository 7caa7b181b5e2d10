"""Running statements inside one transaction, with errors in our words."""

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import CursorResult, Executable, Row, Table
from sqlalchemy.dialects import sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.storage.failures import as_store_errors
from bot.storage.uncancelled import to_its_end, to_its_end_here

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql

SLICE = 500
"""How many values one statement names; far below both databases' limit of 32,766."""

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
        parameters: Sequence[Mapping[str, object]] | None = None,
    ) -> Result:
        """Execute; with `parameters`, once for each of them."""
        with as_store_errors():
            return await self._to_its_end(self._connection.execute(statement, parameters))

    def insert(self, table: Table) -> "sqlite.Insert | postgresql.Insert":
        """An INSERT that can say what to do with a row that exists."""
        if self.is_sqlite:
            return sqlite.insert(table)
        # Its import brings all of PostgreSQL's drivers with it.
        insert: postgresql.Insert = import_module("sqlalchemy.dialects.postgresql").insert(table)
        return insert


def slices(values: Sequence[_T], size: int = SLICE) -> Iterator[Sequence[_T]]:
    for start in range(0, len(values), size):
        yield values[start : start + size]
