"""Transactions: commit on a clean exit, roll back otherwise."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sqlalchemy.ext.asyncio import AsyncEngine
from typing_extensions import override

from bot import ports
from bot.storage.accounts import SqlAccounts
from bot.storage.audit import SqlAudit
from bot.storage.bisections import SqlBisections
from bot.storage.boards import SqlBoards
from bot.storage.cards import SqlCards
from bot.storage.channel_defaults import SqlChannelDefaults
from bot.storage.connections import connections_of
from bot.storage.events import SqlEvents
from bot.storage.failures import as_store_errors
from bot.storage.group_acts import SqlGroupActs
from bot.storage.leases import SqlLeases
from bot.storage.outbox import SqlOutbox
from bot.storage.pauses import SqlPauses
from bot.storage.polls import SqlPolls
from bot.storage.positions import SqlPositions
from bot.storage.pull_requests import SqlPullRequests
from bot.storage.queue_health import SqlQueueHealth
from bot.storage.reminders import SqlReminders
from bot.storage.resume_watchers import SqlResumeWatchers
from bot.storage.seen_requests import SqlSeenRequests
from bot.storage.slack_limits import SqlSlackLimits
from bot.storage.stalenesses import SqlStalenesses
from bot.storage.statements import Statements
from bot.storage.stays import SqlStays
from bot.storage.subscriptions import SqlSubscriptions
from bot.storage.timers import SqlTimers
from bot.storage.workers import SqlWorkers


class SqlTransaction(ports.Transaction):
    """One transaction's view of the database."""

    def __init__(self, statements: Statements) -> None:
        self._leases = SqlLeases(statements)
        self._positions = SqlPositions(statements)
        self._events = SqlEvents(statements)
        self._pull_requests = SqlPullRequests(statements)
        self._stays = SqlStays(statements)
        self._bisections = SqlBisections(statements)
        self._stalenesses = SqlStalenesses(statements)
        self._queue_health = SqlQueueHealth(statements)
        self._outbox = SqlOutbox(statements)
        self._subscriptions = SqlSubscriptions(statements)
        self._audit = SqlAudit(statements)
        self._seen_requests = SqlSeenRequests(statements)
        self._cards = SqlCards(statements)
        self._boards = SqlBoards(statements)
        self._pauses = SqlPauses(statements)
        self._resume_watchers = SqlResumeWatchers(statements)
        self._polls = SqlPolls(statements)
        self._workers = SqlWorkers(statements)
        self._slack_limits = SqlSlackLimits(statements)
        self._accounts = SqlAccounts(statements)
        self._channel_defaults = SqlChannelDefaults(statements)
        self._group_acts = SqlGroupActs(statements)
        self._timers = SqlTimers(statements)
        self._reminders = SqlReminders(statements)

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

    @property
    @override
    def seen_requests(self) -> SqlSeenRequests:
        return self._seen_requests

    @property
    @override
    def cards(self) -> SqlCards:
        return self._cards

    @property
    @override
    def boards(self) -> SqlBoards:
        return self._boards

    @property
    @override
    def pauses(self) -> SqlPauses:
        return self._pauses

    @property
    @override
    def resume_watchers(self) -> SqlResumeWatchers:
        return self._resume_watchers

    @property
    @override
    def polls(self) -> SqlPolls:
        return self._polls

    @property
    @override
    def workers(self) -> SqlWorkers:
        return self._workers

    @property
    @override
    def slack_limits(self) -> SqlSlackLimits:
        return self._slack_limits

    @property
    @override
    def stalenesses(self) -> SqlStalenesses:
        return self._stalenesses

    @property
    @override
    def queue_health(self) -> SqlQueueHealth:
        return self._queue_health

    @property
    @override
    def stays(self) -> SqlStays:
        return self._stays

    @property
    @override
    def bisections(self) -> SqlBisections:
        return self._bisections

    @property
    @override
    def accounts(self) -> SqlAccounts:
        return self._accounts

    @property
    @override
    def channel_defaults(self) -> SqlChannelDefaults:
        return self._channel_defaults

    @property
    @override
    def group_acts(self) -> SqlGroupActs:
        return self._group_acts

    @property
    @override
    def timers(self) -> SqlTimers:
        return self._timers

    @property
    @override
    def reminders(self) -> SqlReminders:
        return self._reminders


class SqlStore(ports.Store):
    """The database behind an engine of `create_engine`."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._connections = connections_of(engine)
        self._inside: set[asyncio.Task[object] | None] = set()

    @override
    @asynccontextmanager
    async def begin(self) -> AsyncIterator[SqlTransaction]:
        """Raise RuntimeError inside another transaction of the same task.

        On SQLite the inner one would wait for the outer one for ever.
        """
        task = asyncio.current_task()
        if task in self._inside:
            raise RuntimeError("a task has one transaction at a time")
        self._inside.add(task)
        try:
            async with self._connections.begin() as statements:
                yield SqlTransaction(statements)
        finally:
            self._inside.discard(task)

    async def end_leases(self) -> None:
        """End the leases of processes that are known to have died."""
        async with self.begin() as transaction:
            await transaction.leases.end_all()
            await transaction.workers.forget_all()

    async def close(self) -> None:
        """Close all connections; the store can be used again afterwards."""
        with as_store_errors():
            await self._connections.close()
