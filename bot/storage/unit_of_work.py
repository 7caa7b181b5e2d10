"""Transactions: commit on a clean exit, roll back otherwise."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Generic, TypeVar

from sqlalchemy.ext.asyncio import AsyncEngine
from typing_extensions import override

from bot import ports
from bot.storage.execution.connections import Connections, connections_of
from bot.storage.execution.failures import as_store_errors
from bot.storage.execution.statements import Statements
from bot.storage.outbox import SqlOutbox
from bot.storage.outbox.renamed_channels import rename_channel
from bot.storage.parts.accounts import SqlAccounts
from bot.storage.parts.audit import SqlAudit
from bot.storage.parts.bisections import SqlBisections
from bot.storage.parts.boards import SqlBoards
from bot.storage.parts.cards import SqlCards
from bot.storage.parts.channel_defaults import SqlChannelDefaults
from bot.storage.parts.events import SqlEvents
from bot.storage.parts.group_acts import SqlGroupActs
from bot.storage.parts.leases import SqlLeases
from bot.storage.parts.notices import SqlNotices
from bot.storage.parts.pauses import SqlPauses
from bot.storage.parts.polls import SqlPolls
from bot.storage.parts.positions import SqlPositions
from bot.storage.parts.pull_requests import SqlPullRequests
from bot.storage.parts.queue_condition import SqlQueueCondition
from bot.storage.parts.reminders import SqlReminders
from bot.storage.parts.resume_watchers import SqlResumeWatchers
from bot.storage.parts.seen_requests import SqlSeenRequests
from bot.storage.parts.slack_limits import SqlSlackLimits
from bot.storage.parts.stalenesses import SqlStalenesses
from bot.storage.parts.stays import SqlStays
from bot.storage.parts.subscriptions import SqlSubscriptions
from bot.storage.parts.timers import SqlTimers
from bot.storage.parts.workers import SqlWorkers

_T = TypeVar("_T")


class _part(Generic[_T]):  # noqa: N801  # as `cached_property`, which takes a lock each time
    """What a transaction makes once, when it is first used."""

    def __init__(self, make: Callable[["SqlTransaction"], _T]) -> None:
        self._make = make

    def __get__(self, transaction: "SqlTransaction", _: object) -> _T:
        part = self._make(transaction)
        # From now on found before this is asked.
        transaction.__dict__[self._make.__name__] = part
        return part


class SqlTransaction(ports.Transaction):
    """One transaction's view of the database; of its parts those are made that it uses."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    @_part
    @override
    def leases(self) -> SqlLeases:
        return SqlLeases(self._statements)

    @_part
    @override
    def positions(self) -> SqlPositions:
        return SqlPositions(self._statements)

    @_part
    @override
    def events(self) -> SqlEvents:
        return SqlEvents(self._statements)

    @_part
    @override
    def pull_requests(self) -> SqlPullRequests:
        return SqlPullRequests(self._statements)

    @_part
    @override
    def outbox(self) -> SqlOutbox:
        return SqlOutbox(self._statements)

    @_part
    @override
    def subscriptions(self) -> SqlSubscriptions:
        return SqlSubscriptions(self._statements)

    @_part
    @override
    def audit(self) -> SqlAudit:
        return SqlAudit(self._statements)

    @_part
    @override
    def seen_requests(self) -> SqlSeenRequests:
        return SqlSeenRequests(self._statements)

    @_part
    @override
    def cards(self) -> SqlCards:
        return SqlCards(self._statements)

    @_part
    @override
    def boards(self) -> SqlBoards:
        return SqlBoards(self._statements)

    @_part
    @override
    def pauses(self) -> SqlPauses:
        return SqlPauses(self._statements)

    @_part
    @override
    def resume_watchers(self) -> SqlResumeWatchers:
        return SqlResumeWatchers(self._statements)

    @_part
    @override
    def polls(self) -> SqlPolls:
        return SqlPolls(self._statements)

    @_part
    @override
    def workers(self) -> SqlWorkers:
        return SqlWorkers(self._statements)

    @_part
    @override
    def slack_limits(self) -> SqlSlackLimits:
        return SqlSlackLimits(self._statements)

    @_part
    @override
    def stalenesses(self) -> SqlStalenesses:
        return SqlStalenesses(self._statements)

    @_part
    @override
    def queue_condition(self) -> SqlQueueCondition:
        return SqlQueueCondition(self._statements)

    @_part
    @override
    def stays(self) -> SqlStays:
        return SqlStays(self._statements)

    @_part
    @override
    def bisections(self) -> SqlBisections:
        return SqlBisections(self._statements)

    @_part
    @override
    def accounts(self) -> SqlAccounts:
        return SqlAccounts(self._statements)

    @_part
    @override
    def notices(self) -> SqlNotices:
        return SqlNotices(self._statements)

    @_part
    @override
    def channel_defaults(self) -> SqlChannelDefaults:
        return SqlChannelDefaults(self._statements)

    @_part
    @override
    def group_acts(self) -> SqlGroupActs:
        return SqlGroupActs(self._statements)

    @_part
    @override
    def timers(self) -> SqlTimers:
        return SqlTimers(self._statements)

    @_part
    @override
    def reminders(self) -> SqlReminders:
        return SqlReminders(self._statements)

    @override
    async def rename_channel(self, old: str, new: str) -> bool:
        return await rename_channel(self._statements, old, new)


class SqlStore(ports.Store):
    """The database behind an engine of `create_engine`."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._connections = connections_of(engine)
        self._one_at_a_time = engine.dialect.name == "sqlite"
        self._inside: set[asyncio.Task[object] | None] = set()

    @property
    @override
    def one_at_a_time(self) -> bool:
        return self._one_at_a_time

    @override
    def begin(self) -> "_Begun":
        """Raise RuntimeError inside another transaction of the same task.

        On SQLite the inner one would wait for the outer one for ever.
        """
        return _Begun(self._connections, self._inside)

    async def end_leases(self) -> None:
        """End the leases of processes that are known to have died."""
        async with self.begin() as transaction:
            await transaction.leases.end_all()
            await transaction.workers.forget_all()

    async def close(self) -> None:
        """Close all connections; the store can be used again afterwards."""
        with as_store_errors():
            await self._connections.close()


class _Begun(AbstractAsyncContextManager[SqlTransaction]):
    __slots__ = ("_connections", "_inside", "_task", "_turn")

    def __init__(self, connections: Connections, inside: set[asyncio.Task[object] | None]) -> None:
        self._connections = connections
        self._inside = inside
        self._task: asyncio.Task[object] | None = None
        self._turn: AbstractAsyncContextManager[Statements] | None = None

    @override
    async def __aenter__(self) -> SqlTransaction:
        task = asyncio.current_task()
        if task in self._inside:
            raise RuntimeError("a task has one transaction at a time")
        self._inside.add(task)
        turn = self._connections.begin()
        try:
            statements = await turn.__aenter__()
        except BaseException:
            self._inside.discard(task)
            raise
        self._task, self._turn = task, turn
        return SqlTransaction(statements)

    @override
    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            if self._turn is not None:
                await self._turn.__aexit__(exc_type, exc_value, traceback)
        finally:
            self._inside.discard(self._task)
