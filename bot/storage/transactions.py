"""Transactions: plain functions, each in a thread with a connection of its own."""

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager
from functools import cached_property, partial
from typing import Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection, Engine
from typing_extensions import override

from bot import ports
from bot.domain.errors import StoreUnavailable
from bot.storage.attempts import Attempt, is_transient, roll_back
from bot.storage.bridge import Bridge
from bot.storage.engines import COMMAND_LIMIT, CONNECTIONS
from bot.storage.failures import as_store_errors
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
from bot.storage.statements import Statements

TRIES = 3
"""How often a transaction runs that the database gives up before the commit."""

P = ParamSpec("P")
T = TypeVar("T")


class Transaction:
    """An open transaction, as its body sees it; each part stands for a group of tables."""

    def __init__(self, connection: Connection) -> None:
        self.statements = Statements(connection)

    @cached_property
    def leases(self) -> SqlLeases:
        return SqlLeases(self.statements)

    @cached_property
    def positions(self) -> SqlPositions:
        return SqlPositions(self.statements)

    @cached_property
    def events(self) -> SqlEvents:
        return SqlEvents(self.statements)

    @cached_property
    def pull_requests(self) -> SqlPullRequests:
        return SqlPullRequests(self.statements)

    @cached_property
    def outbox(self) -> SqlOutbox:
        return SqlOutbox(self.statements)

    @cached_property
    def subscriptions(self) -> SqlSubscriptions:
        return SqlSubscriptions(self.statements)

    @cached_property
    def audit(self) -> SqlAudit:
        return SqlAudit(self.statements)

    @cached_property
    def seen_requests(self) -> SqlSeenRequests:
        return SqlSeenRequests(self.statements)

    @cached_property
    def cards(self) -> SqlCards:
        return SqlCards(self.statements)

    @cached_property
    def boards(self) -> SqlBoards:
        return SqlBoards(self.statements)

    @cached_property
    def pauses(self) -> SqlPauses:
        return SqlPauses(self.statements)

    @cached_property
    def resume_watchers(self) -> SqlResumeWatchers:
        return SqlResumeWatchers(self.statements)

    @cached_property
    def polls(self) -> SqlPolls:
        return SqlPolls(self.statements)

    @cached_property
    def workers(self) -> SqlWorkers:
        return SqlWorkers(self.statements)

    @cached_property
    def slack_limits(self) -> SqlSlackLimits:
        return SqlSlackLimits(self.statements)

    @cached_property
    def stalenesses(self) -> SqlStalenesses:
        return SqlStalenesses(self.statements)

    @cached_property
    def queue_condition(self) -> SqlQueueCondition:
        return SqlQueueCondition(self.statements)

    @cached_property
    def stays(self) -> SqlStays:
        return SqlStays(self.statements)

    @cached_property
    def bisections(self) -> SqlBisections:
        return SqlBisections(self.statements)

    @cached_property
    def accounts(self) -> SqlAccounts:
        return SqlAccounts(self.statements)

    @cached_property
    def notices(self) -> SqlNotices:
        return SqlNotices(self.statements)

    @cached_property
    def channel_defaults(self) -> SqlChannelDefaults:
        return SqlChannelDefaults(self.statements)

    @cached_property
    def group_acts(self) -> SqlGroupActs:
        return SqlGroupActs(self.statements)

    @cached_property
    def timers(self) -> SqlTimers:
        return SqlTimers(self.statements)

    @cached_property
    def reminders(self) -> SqlReminders:
        return SqlReminders(self.statements)

    def rename_channel(self, old: str, new: str) -> bool:
        """Move what belongs to channel `old` to `new`; False while a post to `old` is sent."""
        return rename_channel(self.statements, old, new)


class SqlStore(ports.Store):
    """The database behind an engine of `create_engine`.

    SQLite has one writer thread: transactions run one at a time, in the order they were asked for.
    PostgreSQL has as many threads as connections. `threads`, when given, run them instead.
    """

    def __init__(self, engine: Engine, threads: Executor | None = None) -> None:
        self.engine = engine
        self._is_sqlite = engine.dialect.name == "sqlite"
        self._limit: float | None = engine.get_execution_options().get(COMMAND_LIMIT)
        self._threads = threads or ThreadPoolExecutor(
            1 if self._is_sqlite else CONNECTIONS, thread_name_prefix="store"
        )
        self._bridge = Bridge(self, engine, Transaction)

    @property
    @override
    def one_at_a_time(self) -> bool:
        return self._is_sqlite

    @override
    def begin(self) -> AbstractAsyncContextManager[ports.Transaction]:
        return self._bridge.begin()

    async def run(
        self, body: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run `body(transaction, ...)` in a transaction: commit what it did, or roll it back.

        `body` runs in another thread, and again when the database gave the transaction up before
        the commit (a deadlock, a lost connection), so it changes nothing but the database.
        Cancelling the caller does not undo a transaction that was asked for; it ends by itself.
        Raises what `body` raises, and StoreUnavailable when the database cannot be read or written
        now. When the answer to COMMIT is lost, nobody knows whether it happened: it raises, and
        callers are written so that running again is harmless.
        """
        for tries in range(1, TRIES + 1):
            attempt = Attempt()
            work = partial(self._transact, attempt, body, args, kwargs)
            try:
                async with self._bridge.turn():
                    return await self.in_thread(attempt, work)
            except StoreUnavailable as error:
                if tries == TRIES or attempt.is_committing or not is_transient(error.__cause__):
                    raise
        raise AssertionError("the last try returns or raises")

    def _transact(
        self,
        attempt: Attempt,
        body: Callable[..., T],
        args: tuple[object, ...],
        kwargs: Mapping[str, object],
    ) -> T:
        with as_store_errors(), self.engine.connect() as connection, attempt.on(connection):
            begun = connection.begin()
            try:
                result = body(Transaction(connection), *args, **kwargs)
            except BaseException:
                roll_back(connection)
                raise
            attempt.is_committing = True
            begun.commit()
            return result

    async def in_thread(self, attempt: Attempt, work: Callable[[], T]) -> T:
        """Run `work` in a thread of the store, to its end even when the caller is cancelled."""
        loop = asyncio.get_running_loop()
        done = loop.run_in_executor(self._threads, work)
        if self._limit is not None:
            timer = loop.call_later(self._limit, attempt.break_off)
            done.add_done_callback(lambda _: timer.cancel())
        return await asyncio.shield(done)

    async def end_leases(self) -> None:
        """End the leases of processes that are known to have died."""
        await self.run(_end_leases)

    async def close(self) -> None:
        """Wait for the transactions under way and close all connections."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._threads.shutdown()
        with as_store_errors():
            self.engine.dispose()


def _end_leases(transaction: Transaction) -> None:
    transaction.leases.end_all()
    transaction.workers.forget_all()
