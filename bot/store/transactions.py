"""Transactions: plain functions, each in a thread with its own connection."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from sqlalchemy import Connection, Engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import DBAPIError

from bot.store.cutoff import Cutoff
from bot.store.engines import (
    COMMAND_LIMIT,
    READERS,
    WRITING_CONNECTIONS,
    as_store_errors,
    is_transient,
    reading_engine,
)
from bot.store.errors import StoreUnavailable
from bot.store.processes import WriteChecks
from bot.store.transaction import Transaction

TRIES = 3
"""The most attempts at a transaction that the database ends before the commit."""


P = ParamSpec("P")


T = TypeVar("T")


class _Running(threading.local):
    """What the thread does."""

    attempt: "_Attempt[Any] | None" = None


_running = _Running()


def _note_connection(driver: DBAPIConnection, _record: object) -> None:
    """The engine asks a server about itself through its first connection, before it gives it."""
    if _running.attempt is not None:
        _running.attempt.cutoff.use(driver)


class _Attempt(Generic[T]):
    def __init__(self, engine: Engine, body: Callable[[Transaction], T]) -> None:
        self.is_committing = False
        self._engine = engine
        self._body = body
        self.cutoff = Cutoff()

    def run(self) -> T:
        _running.attempt = self
        with as_store_errors(), self._engine.connect() as connection:
            self.cutoff.use(connection.connection.driver_connection)
            try:
                return self._commit(connection)
            finally:
                self.cutoff.use(None)

    def _commit(self, connection: Connection) -> T:
        begun = connection.begin()
        try:
            result = self._body(Transaction(connection))
        except BaseException:
            # An error of the rollback must not hide this one.
            with suppress(DBAPIError):
                begun.rollback()
            raise
        self.is_committing = True
        begun.commit()
        return result


class _Lane:
    def __init__(self, engine: Engine, width: int, threads: Executor | None, name: str) -> None:
        self.engine = engine
        self.threads = threads or ThreadPoolExecutor(width, thread_name_prefix=name)
        # The time limit begins when a thread is free.
        self.free = asyncio.Semaphore(width)


class Store:
    """The database behind an engine of `create_engine`.

    SQLite has one writer thread: transactions run one at a time, in order. PostgreSQL has as many
    threads as connections. `threads`, if given, run them instead. Reads have their own connection
    and thread; `reader` is their engine, made from the other unless it is given.
    """

    def __init__(
        self, engine: Engine, threads: Executor | None = None, *, reader: Engine | None = None
    ) -> None:
        self.engine = engine
        self._limit: float | None = engine.get_execution_options().get(COMMAND_LIMIT)
        if self._limit is not None:
            event.listen(engine, "connect", _note_connection, insert=True)
        width = 1 if engine.dialect.name == "sqlite" else WRITING_CONNECTIONS
        self._writing = _Lane(engine, width, threads, "store")
        self._reading = _Lane(reader or reading_engine(engine), READERS, threads, "reader")

    async def run(
        self, body: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run `body(transaction, ...)` in a transaction: commit what it did, or roll it back.

        `body` runs in another thread, and again if the transaction failed before the commit (a
        deadlock, a lost connection), so it must change nothing but the database. Cancelling the
        caller does not undo a transaction that has begun.
        Raises `body`'s exceptions, and StoreUnavailable if the database can't be used. After a lost
        answer to COMMIT it raises too, so callers are written so that running again is harmless.
        """
        return await self._run(
            self._writing, lambda transaction: body(transaction, *args, **kwargs)
        )

    async def read(
        self, body: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Like `run`, for bodies that only read: writes don't wait for them.

        Raises StoreUnavailable if `body` changes anything.
        """
        return await self._run(
            self._reading, lambda transaction: body(transaction, *args, **kwargs)
        )

    async def _run(self, lane: _Lane, body: Callable[[Transaction], T]) -> T:
        for tries in range(1, TRIES + 1):
            attempt = _Attempt(lane.engine, body)
            try:
                return await self._in_thread(lane, attempt)
            except StoreUnavailable as error:
                if tries == TRIES or attempt.is_committing or not is_transient(error.__cause__):
                    raise
        raise AssertionError("the last try returns or raises")

    async def _in_thread(self, lane: _Lane, attempt: _Attempt[T]) -> T:
        """Run it in a thread of the lane, to its end even if the caller is cancelled."""
        await lane.free.acquire()
        loop = asyncio.get_running_loop()
        done = loop.run_in_executor(lane.threads, attempt.run)
        done.add_done_callback(lambda _: lane.free.release())
        if self._limit is not None:
            timer = loop.call_later(self._limit, attempt.cutoff.cut)
            done.add_done_callback(lambda _: timer.cancel())
        return await asyncio.shield(done)

    async def ask(self) -> None:
        """Write a row that nobody reads; raises StoreUnavailable if that can't be done."""
        await self.run(lambda transaction: WriteChecks(transaction).write())

    async def close(self) -> None:
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        # On PostgreSQL both share a pool, so no thread may still have a connection.
        for lane in (self._reading, self._writing):
            lane.threads.shutdown()
        with as_store_errors():
            for lane in (self._reading, self._writing):
                lane.engine.dispose()
