"""Connections with a transaction each: of a pool for PostgreSQL, one that is kept for SQLite."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Protocol, cast

from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from bot.domain.errors import StoreUnavailable
from bot.storage.failures import as_store_errors
from bot.storage.sqlite_connection import SqliteConnection
from bot.storage.statements import Statements
from bot.storage.uncancelled import to_its_end, to_its_end_here

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from sqlalchemy import Connection


class Connections(Protocol):
    """Where transactions run."""

    def begin(self) -> "AbstractAsyncContextManager[Statements]":
        """A transaction: committed on a clean exit, else rolled back; raises StoreUnavailable."""
        ...

    async def close(self) -> None:
        """Close them all; the next transaction opens what it needs."""
        ...


def connections_of(engine: AsyncEngine) -> Connections:
    """As the database behind the engine is best used."""
    return KeptConnection(engine) if engine.dialect.name == "sqlite" else Pool(engine)


class Pool:
    """A connection of the engine's pool for each transaction."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

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


class KeptConnection:
    """Transactions of a SQLite file: one at a time, in the order they were asked for.

    There is one writer anyway, and a queue is fair where the database's own waiting is not. They
    are begun and ended by the driver itself: to take a connection from a pool, begin, commit, roll
    back and give it back by way of SQLAlchemy takes longer than most transactions' statements.
    """

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._turn = asyncio.Lock()
        self._kept: AsyncConnection | None = None

    @asynccontextmanager
    async def begin(self) -> AsyncIterator[Statements]:
        async with self._turn:
            connection = self._kept
            if connection is None:
                with as_store_errors():
                    connection = await to_its_end_here(self._open())
            driver = _driver_of(connection)
            try:
                with as_store_errors():
                    await to_its_end_here(driver.begin())
                yield Statements(connection)
                with as_store_errors():
                    await to_its_end_here(_commit(connection, driver))
            except BaseException:
                await to_its_end_here(self._roll_back(connection, driver))
                raise

    async def _open(self) -> AsyncConnection:
        self._kept = await self._engine.connect().start()
        return self._kept

    async def _roll_back(self, connection: AsyncConnection, driver: SqliteConnection) -> None:
        """Whatever goes wrong here must not take the place of what went wrong before."""
        try:
            with as_store_errors():
                await connection.rollback()
                await driver.rollback()
        except StoreUnavailable:
            self._kept = None
            await connection.invalidate()
            await connection.close()

    async def close(self) -> None:
        async with self._turn:
            kept, self._kept = self._kept, None
            if kept is not None:
                await kept.close()
            await self._engine.dispose()


async def _commit(connection: AsyncConnection, driver: SqliteConnection) -> None:
    """By way of SQLAlchemy only if it knows of the transaction, having run a statement in it."""
    if connection.in_transaction():
        await connection.commit()
        return
    try:
        await driver.commit()
    except sqlite3.IntegrityError as error:
        # As SQLAlchemy has it: a mistake of this program, not of the database.
        raise IntegrityError("COMMIT", None, error) from error


def _driver_of(connection: AsyncConnection) -> SqliteConnection:
    """As `create_engine` makes it."""
    sync = cast("Connection", connection.sync_connection)
    return cast("SqliteConnection", sync.connection.driver_connection)
