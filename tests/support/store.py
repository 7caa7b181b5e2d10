"""The store in the calling thread, for tests on a virtual clock."""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor, Future
from functools import cache, partial
from itertools import count
from typing import Any, Concatenate, ParamSpec, TypeVar
from weakref import finalize

from sqlalchemy import Engine, Executable, create_engine
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import StaticPool
from typing_extensions import override

from bot.store.errors import StoreUnavailable
from bot.store.schema import metadata
from bot.store.transaction import Transaction
from bot.store.transactions import Store
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
        connection = _connection()
        # Since Python 3.13 a connection that nobody closed is a warning.
        finalize(self, connection.close)
        _template().backup(connection)
        super().__init__(_engine(connection))


def _connection() -> sqlite3.Connection:
    return sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)


def _same(connection: sqlite3.Connection) -> Any:
    return connection


_COMPILED: dict[object, object] = {}
"""What a statement became costs more than running it, and is kept by its dialect."""


def _engine(connection: sqlite3.Connection) -> Engine:
    """One for this connection alone, of the dialect and the compiled statements of all."""
    dialect = _first_engine().dialect
    pool = StaticPool(partial(_same, connection), dialect=dialect)
    options = {"compiled_cache": _COMPILED}
    return Engine(pool, dialect, _first_engine().url, execution_options=options)


@cache
def _first_engine() -> Engine:
    engine = create_engine("sqlite+writing://", creator=_connection, poolclass=StaticPool)
    metadata.create_all(engine)
    return engine


@cache
def _template() -> sqlite3.Connection:
    connection = _first_engine().raw_connection().driver_connection
    assert isinstance(connection, sqlite3.Connection)
    return connection


class InlineStore(Store):
    """A process's store on a shared database; `unavailable`, when set, is why it fails.

    `meanwhile`: what happens before each transaction.
    """

    def __init__(self, database: SharedDatabase) -> None:
        self.database = database
        self.unavailable: str | None = None
        self.transactions = 0
        self.meanwhile: Callable[[], Awaitable[None]] | None = None
        super().__init__(database.engine, CallingThread())

    @override
    async def run(
        self, body: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        if self.meanwhile is not None:
            await self.meanwhile()
        self.require_available()
        async with self.database.turn:
            result = await super().run(body, *args, **kwargs)
            self.committed()
        return result

    @override
    async def read(
        self, body: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """In the one connection of a database in memory."""
        return await self.run(body, *args, **kwargs)

    def committed(self) -> None:
        self.transactions += 1
        self.database.changed()

    def require_available(self) -> None:
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


class Deadlock(Exception):
    """In the words of PostgreSQL's driver."""

    sqlstate = "40P01"


class GivingUpStore(InMemoryStore):
    """Its database gives every transaction up once, when all of its work is done."""

    @override
    async def run(
        self, body: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        tries = count()

        def given_up(transaction: Transaction) -> T:
            result = body(transaction, *args, **kwargs)
            if not next(tries):
                raise OperationalError("COMMIT", {}, Deadlock())
            return result

        return await super().run(given_up)
