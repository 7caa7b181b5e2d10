"""The store in the calling thread, for tests whose time stands still while it works."""

import asyncio
import sqlite3
import weakref
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Executor, Future
from contextlib import asynccontextmanager
from functools import cache
from inspect import ismethod
from typing import Concatenate, ParamSpec, TypeVar, cast

from sqlalchemy import Engine, Executable, create_engine
from sqlalchemy.pool import StaticPool
from typing_extensions import override

from bot import ports
from bot.domain.errors import StoreUnavailable
from bot.storage.engines import configure_sqlite
from bot.storage.failures import as_store_errors
from bot.storage.tables import metadata
from bot.storage.transactions import SqlStore, Transaction
from tests.support.contents import Contents

P = ParamSpec("P")
T = TypeVar("T")


class CallingThread(Executor):
    """Runs everything before `submit` returns."""

    @override
    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        done: Future[T] = Future()
        try:
            done.set_result(fn(*args, **kwargs))
        except BaseException as error:  # noqa: BLE001 - the caller gets it, as from a thread
            done.set_exception(error)
        return done


class SharedDatabase:
    """One database, and what several stores on it share."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.turn = asyncio.Lock()
        self._contents: Contents | None = None

    def execute(self, statement: Executable) -> None:
        """Change what no part of a transaction would."""
        with self.engine.begin() as connection:
            connection.execute(statement)
        self.changed()

    def changed(self) -> None:
        self._contents = None

    @property
    def contents(self) -> Contents:
        """What it keeps since the latest commit."""
        if self._contents is None:
            self._contents = Contents(self.engine)
        return self._contents


class InMemoryDatabase(SharedDatabase):
    """An empty SQLite database in memory."""

    def __init__(self) -> None:
        connection, engine = _FREE.pop() if _FREE else _new()
        if connection.in_transaction:
            connection.rollback()
        _template().backup(connection)
        super().__init__(engine)
        # An engine keeps the statements that it has compiled, so the next test gets it.
        weakref.finalize(self, _FREE.append, (connection, engine))


_FREE: list[tuple[sqlite3.Connection, Engine]] = []


def _new() -> tuple[sqlite3.Connection, Engine]:
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    engine = create_engine("sqlite://", creator=lambda: connection, poolclass=StaticPool)
    configure_sqlite(engine)
    return connection, engine


@cache
def _template() -> sqlite3.Connection:
    connection, engine = _new()
    metadata.create_all(engine)
    return connection


class Awaited:
    """A transaction whose functions are awaited."""

    def __init__(self, whole: object) -> None:
        self._whole = whole

    def __getattr__(self, name: str) -> object:
        part = getattr(self._whole, name)
        if not ismethod(part):
            return Awaited(part)

        async def call(*args: object, **kwargs: object) -> object:
            with as_store_errors():
                return part(*args, **kwargs)

        return call


class InlineStore(SqlStore):
    """A process's store on a shared database; `unavailable`, when set, is why it fails."""

    def __init__(self, database: SharedDatabase) -> None:
        self.database = database
        self.unavailable: str | None = None
        self.transactions = 0
        self._inside: set[asyncio.Task[object] | None] = set()
        super().__init__(database.engine, CallingThread())

    @override
    @asynccontextmanager
    async def begin(self) -> AsyncIterator[ports.Transaction]:
        """As the store's own, without its way through threads, which takes most of the time."""
        task = asyncio.current_task()
        if task in self._inside:
            raise RuntimeError("a task has one transaction at a time")
        self._require_available()
        self._inside.add(task)
        try:
            async with self.database.turn:
                with self.database.engine.begin() as connection:
                    yield cast("ports.Transaction", Awaited(Transaction(connection)))
                self._committed()
        finally:
            self._inside.discard(task)

    @override
    async def run(
        self, body: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        self._require_available()
        async with self.database.turn:
            result = await super().run(body, *args, **kwargs)
            self._committed()
        return result

    def _committed(self) -> None:
        self.transactions += 1
        self.database.changed()

    def _require_available(self) -> None:
        if self.unavailable is not None:
            raise StoreUnavailable(self.unavailable)

    @override
    async def close(self) -> None:
        """Others may use the database still."""
        await asyncio.sleep(0)


class InMemoryStore(InlineStore):
    """One on SQLite in memory."""

    def __init__(self, database: SharedDatabase | None = None) -> None:
        super().__init__(database or InMemoryDatabase())
