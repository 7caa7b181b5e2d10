"""Connections with a transaction each: of a pool for PostgreSQL, one that is kept for SQLite."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, cast

from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from typing_extensions import override

from bot.domain.errors import StoreUnavailable
from bot.storage.execution.failures import as_store_errors
from bot.storage.execution.sqlite_connection import SqliteConnection
from bot.storage.execution.statements import Statements
from bot.storage.execution.uncancelled import to_its_end, to_its_end_here

if TYPE_CHECKING:
    from sqlalchemy import Connection


class Connections(Protocol):
    """Where transactions run."""

    def begin(self) -> AbstractAsyncContextManager[Statements]:
        """A transaction: committed on a clean exit, else rolled back; raises StoreUnavailable."""
        ...

    async def close(self) -> None:
        """Close them all; the next transaction opens what it needs."""
        ...


def connections_of(engine: AsyncEngine) -> Connections:
    """As the database behind the engine is best used."""
    return KeptConnection(engine) if engine.dialect.name == "sqlite" else Pool(engine)


class Pool(Connections):
    """A connection of the engine's pool for each transaction."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    @override
    @asynccontextmanager
    async def begin(self) -> AsyncIterator[Statements]:
        async with self._connected() as connection:
            with as_store_errors():
                transaction = connection.begin()
                _ = await to_its_end(transaction.start())
            yield Statements(connection)
            with as_store_errors():
                await to_its_end(transaction.commit())

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[AsyncConnection]:
        connection = self._engine.connect()
        try:
            with as_store_errors():
                _ = await to_its_end(connection.start())
            yield connection
        finally:
            if connection.sync_connection is not None:
                await to_its_end(_give_back(connection))

    @override
    async def close(self) -> None:
        await self._engine.dispose()


async def _give_back(connection: AsyncConnection) -> None:
    """Roll back what was not committed and return the connection to the pool."""
    try:
        with as_store_errors():
            await connection.rollback()
    except StoreUnavailable:
        # The database has ended the transaction by itself. What went wrong has been raised where
        # it happened; here it must not take the place of that, or of a cancellation.
        await connection.invalidate()
    await connection.close()


class KeptConnection(Connections):
    """Transactions of a SQLite file: one at a time, in the order they were asked for.

    There is one writer anyway, and a queue is fair where the database's own waiting is not. They
    are begun and ended by the driver itself: to take a connection from a pool, begin, commit, roll
    back and give it back by way of SQLAlchemy takes longer than most transactions' statements.
    """

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._turn = asyncio.Lock()
        self._kept: _Kept | None = None

    @override
    def begin(self) -> "_Turn":
        return _Turn(self)

    async def enter(self) -> Statements:
        """Begin the transaction whose turn has come."""
        await self._turn.acquire()
        try:
            with as_store_errors():
                kept = self._kept
                if kept is None:
                    kept = await to_its_end_here(self._open())
                try:
                    await to_its_end_here(kept.driver.begin())
                except BaseException:
                    await to_its_end_here(self._roll_back(kept))
                    raise
        except BaseException:
            self._turn.release()
            raise
        return kept.statements()

    async def leave(self, *, is_whole: bool) -> None:
        """Commit it, or roll it back."""
        kept = self._kept
        if kept is None:
            raise RuntimeError("what is left was entered")
        try:
            if not is_whole:
                await to_its_end_here(self._roll_back(kept))
                return
            with as_store_errors():
                try:
                    await to_its_end_here(_commit(kept))
                except BaseException:
                    await to_its_end_here(self._roll_back(kept))
                    raise
        finally:
            self._turn.release()

    async def _open(self) -> "_Kept":
        connection = await self._engine.connect().start()
        self._kept = _Kept(connection, _driver_of(connection))
        return self._kept

    async def _roll_back(self, kept: "_Kept") -> None:
        """Whatever goes wrong here must not take the place of what went wrong before."""
        try:
            with as_store_errors():
                await kept.connection.rollback()
                await kept.driver.rollback()
        except StoreUnavailable:
            self._kept = None
            await kept.connection.invalidate()
            await kept.connection.close()

    @override
    async def close(self) -> None:
        async with self._turn:
            kept, self._kept = self._kept, None
            if kept is not None:
                await kept.connection.close()
            await self._engine.dispose()


@dataclass(frozen=True, slots=True)
class _Kept:
    connection: AsyncConnection
    driver: SqliteConnection

    def statements(self) -> Statements:
        return Statements(self.connection, self.driver)


class _Turn(AbstractAsyncContextManager[Statements]):
    """A transaction. Not of `asynccontextmanager`, which takes as long as a statement."""

    __slots__ = ("_connection",)

    def __init__(self, connection: KeptConnection) -> None:
        self._connection = connection

    @override
    async def __aenter__(self) -> Statements:
        return await self._connection.enter()

    @override
    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._connection.leave(is_whole=exc_value is None)


async def _commit(kept: _Kept) -> None:
    """By way of SQLAlchemy only if it knows of the transaction, having run a statement in it."""
    if kept.connection.in_transaction():
        await kept.connection.commit()
        return
    try:
        await kept.driver.commit()
    except sqlite3.IntegrityError as error:
        # As SQLAlchemy has it: a mistake of this program, not of the database.
        raise IntegrityError("COMMIT", None, error) from error


def _driver_of(connection: AsyncConnection) -> SqliteConnection:
    """As `create_engine` makes it."""
    sync = cast("Connection", connection.sync_connection)
    return cast("SqliteConnection", sync.connection.driver_connection)
