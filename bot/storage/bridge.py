"""Transactions of several awaited steps, for callers that do not use `Store.run` yet."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from inspect import ismethod
from typing import Any, Protocol, TypeVar, cast

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from bot import ports
from bot.storage.attempts import Attempt, is_transient, roll_back
from bot.storage.engines import CONNECTIONS
from bot.storage.failures import as_store_errors

T = TypeVar("T")


class Threads(Protocol):
    """Where the steps of a transaction run."""

    async def in_thread(self, attempt: Attempt, work: Callable[[], T]) -> T: ...


class Bridge:
    """Begins a transaction on the event loop; each step of it runs in a thread of the store."""

    def __init__(
        self, store: Threads, engine: Engine, parts: Callable[[Connection], object]
    ) -> None:
        self._store = store
        self._engine = engine
        self._parts = parts
        # Waited for here and not in a thread: a transaction that has begun needs a thread as well.
        self._free = asyncio.Semaphore(1 if engine.dialect.name == "sqlite" else CONNECTIONS)
        self._inside: set[asyncio.Task[object] | None] = set()

    def turn(self) -> AbstractAsyncContextManager[object]:
        return self._free

    @asynccontextmanager
    async def begin(self) -> AsyncIterator[ports.Transaction]:
        """Raise RuntimeError inside another transaction of the same task."""
        task = asyncio.current_task()
        if task in self._inside:
            raise RuntimeError("a task has one transaction at a time")
        self._inside.add(task)
        try:
            async with self.turn():
                connection = await self._connected()
                try:
                    awaited = _Awaited(self, connection, self._parts(connection))
                    yield cast("ports.Transaction", awaited)
                    await self._call(connection, connection.commit)
                except BaseException:
                    await self._call(connection, partial(roll_back, connection))
                    raise
                finally:
                    await self._call(None, connection.close)
        finally:
            self._inside.discard(task)

    async def _connected(self) -> Connection:
        attempt = Attempt()
        opening = asyncio.create_task(self._store.in_thread(attempt, partial(self._open, attempt)))
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            await asyncio.wait({opening})
            if opening.exception() is None:
                await self._call(None, opening.result().close)
            raise

    def _open(self, attempt: Attempt) -> Connection:
        """A connection that answers, in a transaction; one that broke while idle is replaced."""
        with as_store_errors():
            connection = self._engine.connect()
            try:
                with attempt.on(connection):
                    connection.begin()
                    connection.execute(text("SELECT 1"))
            except DBAPIError as error:
                connection.close()
                if not is_transient(error):
                    raise
                connection = self._engine.connect()
                connection.begin()
            return connection

    async def _call(self, connection: Connection | None, step: Callable[[], T]) -> T:
        attempt = Attempt()

        def work() -> T:
            with as_store_errors():
                if connection is None:
                    return step()
                with attempt.on(connection):
                    return step()

        return await _to_its_end(self._store.in_thread(attempt, work))

    def step(self, connection: Connection, step: Callable[[], T]) -> Coroutine[Any, Any, T]:
        return self._call(connection, step)


class _Awaited:
    """A transaction whose parts have coroutines where the store's have functions."""

    def __init__(self, bridge: Bridge, connection: Connection, transaction: object) -> None:
        self._bridge = bridge
        self._connection = connection
        self._transaction = transaction

    def __getattr__(self, name: str) -> object:
        part = getattr(self._transaction, name)
        whole = _AwaitedPart(self._bridge, self._connection, self._transaction)
        return (
            getattr(whole, name)
            if ismethod(part)
            else _AwaitedPart(self._bridge, self._connection, part)
        )


class _AwaitedPart:
    def __init__(self, bridge: Bridge, connection: Connection, part: object) -> None:
        self._bridge = bridge
        self._connection = connection
        self._part = part

    def __getattr__(self, name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        function = getattr(self._part, name)

        def call(*args: object, **kwargs: object) -> Coroutine[Any, Any, Any]:
            return self._bridge.step(self._connection, partial(function, *args, **kwargs))

        return call


async def _to_its_end(step: Coroutine[Any, Any, T]) -> T:
    """A statement cut in two leaves a connection whose state nobody knows."""
    task = asyncio.create_task(step)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is None:
        return task.result()
    failure = None if task.cancelled() else task.exception()
    raise cancelled from failure
