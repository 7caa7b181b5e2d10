"""Transactions: plain functions, each in a thread with a connection of its own."""

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from datetime import datetime
from typing import Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection, Engine, select

from bot.domain.errors import StoreUnavailable
from bot.store.attempts import Attempt, is_transient, roll_back
from bot.store.engines import (
    COMMAND_LIMIT,
    CONNECTIONS,
    DATABASE_CLOCK,
    READERS,
    reading_engine,
)
from bot.store.failures import as_store_errors
from bot.store.outbox import Outbox
from bot.store.parts.alerts import Alerts, Outages
from bot.store.parts.audit import Audit
from bot.store.parts.coordination import ClockJumps, Leases, SeenRequests, SlackLimits, Workers
from bot.store.parts.events import Events
from bot.store.parts.group_acts import GroupActs
from bot.store.parts.live_messages import Boards, LiveMessages
from bot.store.parts.pauses import Pauses, ResumeWatchers
from bot.store.parts.people import Accounts, Notices
from bot.store.parts.pruning import prune
from bot.store.parts.pull_requests import PullRequests
from bot.store.parts.repositories import Polls, Positions
from bot.store.parts.subscriptions import ChannelDefaults, Subscriptions
from bot.store.parts.threads import Bisections, QueueEntries
from bot.store.statements import Statements

TRIES = 3
"""How often a transaction runs that the database gives up before the commit."""

P = ParamSpec("P")
T = TypeVar("T")


class Transaction:
    """An open transaction, as its body sees it; each part stands for a group of tables."""

    def __init__(self, connection: Connection) -> None:
        has_clock = connection.get_execution_options().get(DATABASE_CLOCK, False)
        self.statements = statements = Statements(connection, has_clock=has_clock)
        self.leases = Leases(statements)
        self.positions = Positions(statements)
        self.events = Events(statements)
        self.pull_requests = PullRequests(statements)
        self.outbox = Outbox(statements)
        self.subscriptions = Subscriptions(statements)
        self.audit = Audit(statements)
        self.seen_requests = SeenRequests(statements)
        self.live_messages = LiveMessages(statements)
        self.boards = Boards(statements)
        self.pauses = Pauses(statements)
        self.resume_watchers = ResumeWatchers(statements)
        self.polls = Polls(statements)
        self.workers = Workers(statements)
        self.slack_limits = SlackLimits(statements)
        self.clock_jumps = ClockJumps(statements)
        self.outages = Outages(statements)
        self.alerts = Alerts(statements)
        self.queue_entries = QueueEntries(statements)
        self.bisections = Bisections(statements)
        self.accounts = Accounts(statements)
        self.notices = Notices(statements)
        self.channel_defaults = ChannelDefaults(statements)
        self.group_acts = GroupActs(statements)

    def prune(self, before: datetime) -> Mapping[str, int]:
        """Delete a slice of what is older; how many rows, by table."""
        return prune(self.statements, before)


class _Lane:
    """An engine, and the threads in which so many transactions run on it at once."""

    def __init__(self, engine: Engine, width: int, threads: Executor | None, name: str) -> None:
        self.engine = engine
        self.threads = threads or ThreadPoolExecutor(width, thread_name_prefix=name)
        # A transaction's time to work begins when a thread is free for it.
        self.free = asyncio.Semaphore(width)


class Store:
    """The database behind an engine of `create_engine`.

    SQLite has one writer thread: transactions run one at a time, in the order they were asked for.
    PostgreSQL has as many threads as connections. `threads`, when given, run them instead. What
    only reads has a connection and a thread of its own.
    """

    def __init__(self, engine: Engine, threads: Executor | None = None) -> None:
        self.engine = engine
        self._limit: float | None = engine.get_execution_options().get(COMMAND_LIMIT)
        width = 1 if engine.dialect.name == "sqlite" else CONNECTIONS
        self._threads = threads
        self._writing = _Lane(engine, width, threads, "store")
        self._reading: _Lane | None = None

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
        return await self._run(self._writing, lambda one: body(one, *args, **kwargs))

    async def read(
        self, body: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """As `run`, for what only reads: however long that takes, no change waits for it.

        Raises StoreUnavailable when `body` changes anything.
        """
        if self._reading is None:
            engine = reading_engine(self.engine)
            self._reading = _Lane(engine, READERS, self._threads, "reader")
        return await self._run(self._reading, lambda one: body(one, *args, **kwargs))

    async def _run(self, lane: _Lane, body: Callable[[Transaction], T]) -> T:
        for tries in range(1, TRIES + 1):
            attempt = Attempt()
            try:
                return await self._in_thread(lane, attempt, body)
            except StoreUnavailable as error:
                if tries == TRIES or attempt.is_committing or not is_transient(error.__cause__):
                    raise
        raise AssertionError("the last try returns or raises")

    async def _in_thread(
        self, lane: _Lane, attempt: Attempt, body: Callable[[Transaction], T]
    ) -> T:
        """Run `body` in a thread of the lane, to its end even when the caller is cancelled."""
        await lane.free.acquire()
        loop = asyncio.get_running_loop()
        done = loop.run_in_executor(lane.threads, _transact, lane.engine, attempt, body)
        done.add_done_callback(lambda _: lane.free.release())
        if self._limit is not None:
            timer = loop.call_later(self._limit, attempt.break_off)
            done.add_done_callback(lambda _: timer.cancel())
        return await asyncio.shield(done)

    async def ask(self) -> None:
        """Raises StoreUnavailable when the database does not answer."""
        # PostgreSQL's driver sends nothing for a transaction without a statement.
        await self.run(lambda transaction: transaction.statements.run(select(1)))

    async def end_leases(self) -> None:
        """End the leases of processes that are known to have died."""
        await self.run(_end_leases)

    async def close(self) -> None:
        """Wait for the transactions under way and close all connections."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        lanes = [lane for lane in (self._reading, self._writing) if lane is not None]
        for lane in lanes:
            lane.threads.shutdown()
        with as_store_errors():
            for lane in lanes:
                lane.engine.dispose()


def _transact(engine: Engine, attempt: Attempt, body: Callable[[Transaction], T]) -> T:
    with as_store_errors(), engine.connect() as connection, attempt.on(connection):
        begun = connection.begin()
        try:
            result = body(Transaction(connection))
        except BaseException:
            roll_back(connection)
            raise
        attempt.is_committing = True
        begun.commit()
        return result


def _end_leases(transaction: Transaction) -> None:
    transaction.leases.end_all()
