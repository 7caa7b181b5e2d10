"""A connection to a SQLite file: its thread is for what waits, short statements need none."""

import asyncio
import sqlite3
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import aiosqlite
from typing_extensions import override

ITERATED = 64
"""Rows that the library fetches at once where it iterates; we never do."""

LONG_SECONDS = 0.005
"""A statement that took longer the last time goes to the thread the next time."""

MOST_LONG = 200
"""Statements known to be long; past that they are learned anew."""

BEGIN = "BEGIN IMMEDIATE"
NO_WAIT = "PRAGMA busy_timeout=0"

Parameters = Sequence[Any]
Description = tuple[tuple[str, None, None, None, None, None, None], ...]


class SqliteCursor:
    """Does all of a statement at once: open, execute, fetch.

    The library's own cursor visits the connection's thread four times for that, each of which
    costs more than most statements do. Inside a transaction, which has the file's lock, a
    statement waits for nobody: it is run here, unless it is known to be long. Only what
    SQLAlchemy asks of a cursor that is not server side.
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

        await self._connection.do(sql, all_of_it)
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
    def __init__(
        self,
        connector: Callable[[], sqlite3.Connection],
        long_seconds: float = LONG_SECONDS,
    ) -> None:
        super().__init__(connector, ITERATED)
        self._long_seconds = long_seconds
        self._long: set[str] = set()
        self._changes = -1
        self._usual_wait: str | None = None

    @override
    def cursor(self) -> SqliteCursor:  # type: ignore[override]  # all that SQLAlchemy needs of one
        return SqliteCursor(self)

    @property
    def opened(self) -> sqlite3.Connection:
        return self._conn

    async def do(self, sql: str, work: Callable[[], None]) -> None:
        """Run `work`, which is all of `sql`, here or in the thread.

        Raises ValueError when the connection is closed.
        """
        if sql == BEGIN:
            await self._begin(work)
        elif self.may_run_here(sql):
            self._timed(sql, work)
        else:
            await self._in_thread(partial(self._timed, sql, work))

    def may_run_here(self, sql: str) -> bool:
        """Whether a statement is known to wait for nobody and to take no time."""
        return self.opened.in_transaction and sql not in self._long

    def run_here(
        self, sql: str, sets: Sequence[Parameters], *, reads: bool
    ) -> tuple[list[Any], int]:
        """Run once for each of `sets`; all rows it reads, or how many it changed."""
        rows: list[Any] = []
        begun = time.perf_counter()
        if reads:
            for parameters in sets:
                # To its end, which is where a statement that changes rows has changed all of them.
                rows += self.opened.execute(sql, parameters).fetchall()
            count = len(rows)
        elif len(sets) == 1:
            count = self.opened.execute(sql, sets[0]).rowcount
        else:
            count = self.opened.executemany(sql, sets).rowcount
        self._note(sql, (time.perf_counter() - begun) / len(sets))
        return rows, count

    async def run(
        self, sql: str, sets: Sequence[Parameters], *, reads: bool
    ) -> tuple[list[Any], int]:
        """As `run_here`, in the thread."""
        found: tuple[list[Any], int] = ([], 0)

        def all_of_it() -> None:
            nonlocal found
            found = self.run_here(sql, sets, reads=reads)

        await self._in_thread(all_of_it)
        return found

    async def begin(self) -> None:
        """Begin a transaction that may write, when nobody else's is under way any more."""

        def work() -> None:
            self.opened.execute(BEGIN)

        await self._begin(work)

    async def _begin(self, work: Callable[[], None]) -> None:
        """Here if nobody has the file locked, else in the thread, which waits for it."""
        self._changes = self.opened.total_changes
        try:
            self._without_waiting(work)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
        else:
            return
        await self._in_thread(work)

    def _without_waiting(self, work: Callable[[], None]) -> None:
        if self._usual_wait is None:
            (wait,) = self.opened.execute("PRAGMA busy_timeout").fetchone()
            self._usual_wait = f"PRAGMA busy_timeout={wait}"
        self.opened.execute(NO_WAIT)
        try:
            work()
        finally:
            self.opened.execute(self._usual_wait)

    def _timed(self, sql: str, work: Callable[[], None]) -> None:
        begun = time.perf_counter()
        work()
        self._note(sql, time.perf_counter() - begun)

    def _note(self, sql: str, seconds: float) -> None:
        if seconds < self._long_seconds:
            self._long.discard(sql)
            return
        if len(self._long) >= MOST_LONG:
            self._long.clear()
        self._long.add(sql)

    @override
    async def commit(self) -> None:
        """In the thread, which waits for the disk; here if nothing was changed."""
        if self.opened.total_changes == self._changes:
            self.opened.commit()
        else:
            await super().commit()

    @override
    async def rollback(self) -> None:
        if self.opened.in_transaction:
            await super().rollback()

    async def _in_thread(self, work: Callable[[], None]) -> None:
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
    # Two threads use it, by turns: this one and the connection's own.
    connection = sqlite3.connect(
        path, timeout=wait_seconds, isolation_level=None, check_same_thread=False
    )
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")
    except sqlite3.Error:
        connection.close()
        raise
    return connection
