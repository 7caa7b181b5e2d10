"""Transactions: plain functions, each in a thread with a connection of its own."""

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from functools import partial
from typing import Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection, Engine
from typing_extensions import override

from bot import ports
from bot.domain.errors import StoreUnavailable
from bot.storage.attempts import Attempt, is_transient, roll_back
from bot.storage.bridge import Bridge
from bot.storage.engines import COMMAND_LIMIT, CONNECTIONS, DATABASE_CLOCK
from bot.storage.failures import as_store_errors
from bot.storage.outbox import SqlOutbox
from bot.storage.outbox.renamed_channels import rename_channel
from bot.storage.parts.alerts import SqlQueueCondition, SqlStalenesses
from bot.storage.parts.audit import SqlAudit
from bot.storage.parts.coordination import SqlLeases, SqlWorkers
from bot.storage.parts.events import SqlEvents
from bot.storage.parts.expiring_keys import SqlSeenRequests, SqlSlackLimits
from bot.storage.parts.group_acts import SqlGroupActs
from bot.storage.parts.live_messages import SqlBoards, SqlCards
from bot.storage.parts.pauses import SqlPauses, SqlReminders, SqlResumeWatchers, SqlTimers
from bot.storage.parts.people import SqlAccounts, SqlNotices
from bot.storage.parts.pruning import prune
from bot.storage.parts.pull_requests import SqlPullRequests
from bot.storage.parts.repositories import SqlPolls, SqlPositions
from bot.storage.parts.subscriptions import SqlChannelDefaults, SqlSubscriptions
from bot.storage.parts.threads import SqlBisections, SqlStays
from bot.storage.statements import Statements

TRIES = 3
"""How often a transaction runs that the database gives up before the commit."""

P = ParamSpec("P")
T = TypeVar("T")


class Transaction:
    """An open transaction, as its body sees it; each part stands for a group of tables."""

    def __init__(self, connection: Connection) -> None:
        has_clock = connection.get_execution_options().get(DATABASE_CLOCK, False)
        self.statements = statements = Statements(connection, has_clock=has_clock)
        self.leases = SqlLeases(statements)
        self.positions = SqlPositions(statements)
        self.events = SqlEvents(statements)
        self.pull_requests = SqlPullRequests(statements)
        self.outbox = SqlOutbox(statements)
        self.subscriptions = SqlSubscriptions(statements)
        self.audit = SqlAudit(statements)
        self.seen_requests = SqlSeenRequests(statements)
        self.cards = SqlCards(statements)
        self.boards = SqlBoards(statements)
        self.pauses = SqlPauses(statements)
        self.resume_watchers = SqlResumeWatchers(statements)
        self.polls = SqlPolls(statements)
        self.workers = SqlWorkers(statements)
        self.slack_limits = SqlSlackLimits(statements)
        self.stalenesses = SqlStalenesses(statements)
        self.queue_condition = SqlQueueCondition(statements)
        self.stays = SqlStays(statements)
        self.bisections = SqlBisections(statements)
        self.accounts = SqlAccounts(statements)
        self.notices = SqlNotices(statements)
        self.channel_defaults = SqlChannelDefaults(statements)
        self.group_acts = SqlGroupActs(statements)
        self.timers = SqlTimers(statements)
        self.reminders = SqlReminders(statements)

    def prune(self, before: datetime) -> Mapping[str, int]:
        """Delete a slice of what is older; how many rows, by table."""
        return prune(self.statements, before)

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
