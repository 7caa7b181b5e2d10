"""Transactions: commit on a clean exit, roll back otherwise."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from typing_extensions import override

from bot import ports
from bot.storage.audit import SqlAudit
from bot.storage.events import SqlEvents
from bot.storage.failures import as_store_errors
from bot.storage.leases import SqlLeases
from bot.storage.outbox import SqlOutbox
from bot.storage.positions import SqlPositions
from bot.storage.pull_requests import SqlPullRequests
from bot.storage.statements import Statements
from bot.storage.subscriptions import SqlSubscriptions


class SqlTransaction(ports.Transaction):
    """One transaction's view of the database."""

    def __init__(self, statements: Statements) -> None:
        self._leases = SqlLeases(statements)
        self._positions = SqlPositions(statements)
        self._events = SqlEvents(statements)
        self._pull_requests = SqlPullRequests(statements)
        self._outbox = SqlOutbox(statements)
        self._subscriptions = SqlSubscriptions(statements)
        self._audit = SqlAudit(statements)

    @property
    @override
    def leases(self) -> SqlLeases:
        return self._leases

    @property
    @override
    def positions(self) -> SqlPositions:
        return self._positions

    @property
    @override
    def events(self) -> SqlEvents:
        return self._events

    @property
    @override
    def pull_requests(self) -> SqlPullRequests:
        return self._pull_requests

    @property
    @override
    def outbox(self) -> SqlOutbox:
        return self._outbox

    @property
    @override
    def subscriptions(self) -> SqlSubscriptions:
        return self._subscriptions

    @property
    @override
    def audit(self) -> SqlAudit:
        return self._audit


class SqlStore(ports.Store):
    """The database behind an engine of `create_engine`.

    On SQLite the transactions of this store run one at a time, in the order they were asked for:
    there is one writer anyway, and a queue is fair where the database's own waiting is not.
    """

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._turn: AbstractAsyncContextManager[object] = (
            asyncio.Lock() if engine.dialect.name == "sqlite" else nullcontext()
        )

    @override
    @asynccontextmanager
    async def begin(self) -> AsyncIterator[SqlTransaction]:
        async with self._turn:
            with as_store_errors():
                connection = await self._engine.connect()
            try:
                with as_store_errors():
                    transaction = await connection.begin()
                try:
                    yield SqlTransaction(Statements(connection))
                except BaseException:
                    await _roll_back(connection)
                    raise
                with as_store_errors():
                    await _finish(transaction.commit())
            finally:
                with as_store_errors():
                    await _finish(connection.close())

    async def close(self) -> None:
        """Close all connections; the store can be used again afterwards."""
        with as_store_errors():
            await self._engine.dispose()


async def _roll_back(connection: AsyncConnection) -> None:
    if connection.invalidated:
        return
    with as_store_errors():
        await _finish(connection.rollback())


async def _finish(step: Coroutine[object, object, None]) -> None:
    """Let `step` end even when this task is cancelled meanwhile; then be cancelled.

    A commit or rollback cut in two would leave a connection nobody knows the state of.
    """
    task = asyncio.create_task(step)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled from task.exception()
    task.result()
