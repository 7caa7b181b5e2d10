"""A connection to a SQLite file whose statements go to its thread and back once each."""

import asyncio
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import aiosqlite
from typing_extensions import override

ITERATED = 64
"""Rows that the library fetches at once where it iterates; we never do."""

Parameters = Sequence[Any]
Description = tuple[tuple[str, None, None, None, None, None, None], ...]


class SqliteCursor:
    """Does all of a statement in one visit to the connection's thread: open, execute, fetch.

    The library's own cursor makes four, each of which costs more than most statements do. Only
    what SQLAlchemy asks of a cursor that is not server side.
    """

    arraysize = 1

    def __init__(self, connection: "SqliteConnection") -> None:
        self._connection = connection
        self._rows: list[Any] = []
        self.description: Description | None = None
        self.rowcount = -1
        self.lastrowid: int | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def execute(self, sql: str, parameters: Parameters = ()) -> Self:
        return await self._run(sqlite3.Cursor.execute, sql, parameters)

    async def executemany(self, sql: str, parameters: Iterable[Parameters]) -> Self:
        return await self._run(sqlite3.Cursor.executemany, sql, parameters)

    async def _run(self, run: Callable[..., object], sql: str, parameters: object) -> Self:
        def all_of_it() -> None:
            cursor = self._connection.opened.cursor()
            try:
                run(cursor, sql, parameters)
                self.description = cursor.description
                self.rowcount, self.lastrowid = cursor.rowcount, cursor.lastrowid
                self._rows = cursor.fetchall() if cursor.description else []
            finally:
                cursor.close()

        await self._connection.in_thread(all_of_it)
        return self

    async def fetchall(self) -> Sequence[Any]:
        rows, self._rows = self._rows, []
        return rows

    async def close(self) -> None:
        """The cursor in the thread is closed already."""
        self._rows = []


class SqliteConnection(aiosqlite.Connection):
    """A connection with cursors of ours, whose thread can be waited for when opening fails.

    Not waited for, the thread reports its end to an event loop that may be closed by then, and
    prints a traceback.
    """

    @override
    def cursor(self) -> SqliteCursor:  # type: ignore[override]  # all that SQLAlchemy needs of one
        return SqliteCursor(self)

    @property
    def opened(self) -> sqlite3.Connection:
        return self._conn

    async def in_thread(self, work: Callable[[], None]) -> None:
        """Raises ValueError when the connection is closed."""
        await self._execute(work)  # type: ignore[no-untyped-call]  # the library leaves it untyped

    _stopping: "asyncio.Future[Any] | None" = None

    @override
    def stop(self) -> "asyncio.Future[Any] | None":
        self._stopping = super().stop()
        return self._stopping

    async def has_stopped(self) -> None:
        if self._stopping is not None:
            await self._stopping


def open_file(path: Path, wait_seconds: float) -> sqlite3.Connection:
    # Left on, the driver opens transactions late and as readers: two of them then read the same
    # row, and one of the two updates is lost without an error.
    connection = sqlite3.connect(path, timeout=wait_seconds, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")
    except sqlite3.Error:
        connection.close()
        raise
    return connection
