"""Posts about freezes as they go on: before the start, at the start and at the end."""

import asyncio
import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bot.freezes.following import (
    cards_of_freeze,
    freeze_subscribers,
    notify_of_stage,
    save,
    show_freeze,
)
from bot.freezes.freeze import Freeze, Stage, advanced, waiting_for
from bot.freezes.matching import is_as_listed, is_change_of
from bot.freezes.reading import freeze_events, listed_freezes
from bot.freezes.rows import Freezes
from bot.kernel.clock import Clock
from bot.kernel.configured import Configured
from bot.kernel.errors import MergeQueueError
from bot.kernel.repository import RepositoryName
from bot.kernel.tasks import side_by_side
from bot.log.rows import Events
from bot.log.types import FREEZE_TYPES
from bot.merge_queue.errors import FreezesNotOffered
from bot.merge_queue.port import MergeQueue
from bot.posts.wake import Wake
from bot.store.job_lease import JobLease
from bot.store.transaction import Transaction
from bot.store.transactions import Store

logger = logging.getLogger(__name__)

CONCURRENT = 2
"""Requests for due freezes; polls and people have the others."""

LONGEST_FREEZE_WAIT = 30.0
"""Seconds between two readings for a freeze that waits for a poll, or for the service's time."""


@dataclass(frozen=True, slots=True)
class DueFreeze:
    """A freeze whose next stage has begun."""

    freeze: Freeze
    is_followed: bool  #: somebody is notified of it


@dataclass(frozen=True, slots=True)
class Wait:
    """A due freeze that could not go on."""

    tries: int
    until: float
    """By the monotonic clock."""


@dataclass(frozen=True, slots=True)
class NotifyFreezes:
    """Notifies channels before a freeze starts, when it starts and when it ends: each time once.

    The times are the service's, so a jump of our clock posts nothing. Stages missed in an outage
    are skipped: people read about the present one. Where nobody is notified, nothing is read.
    """

    store: Store
    clock: Clock
    wake: Wake
    merge_queue: MergeQueue
    configured: Configured
    #: how far the service's clock is ahead of the bot's, if known
    service_ahead: Callable[[], timedelta | None]
    lease: JobLease | None = None
    """That of polling, because only the process that polls knows the service's time. Without one
    every process does it."""

    waits: dict[int, Wait] = field(default_factory=dict)
    """The freezes that could not go on, by their row."""

    concurrency: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(CONCURRENT))

    async def run(self) -> None:
        """Notify of what is due; raises StoreError."""
        names = self.configured.repositories.names
        found = await self.store.read(_due_freezes, names, self._now())
        for row_id in set(self.waits) - {due.freeze.row_id for due in found}:
            del self.waits[row_id]
        ready = [due for due in found if not self._is_waiting(due)]
        if not ready or not await self._is_ours():
            return
        await side_by_side(self._advance(due) for due in ready)

    def _is_waiting(self, due: DueFreeze) -> bool:
        wait = self.waits.get(due.freeze.row_id)
        return wait is not None and wait.until > self.clock.monotonic()

    async def _is_ours(self) -> bool:
        """Whether no other process does it now."""
        lease = self.lease
        if lease is None:
            return True
        return await self.store.run(lease.take, self.clock.now()) is not None

    def _wait(self, freeze: Freeze) -> None:
        """Leave it for ever longer: it is read again each time."""
        known = self.waits.get(freeze.row_id)
        tries = known.tries + 1 if known is not None else 1
        gap = min(2.0**tries, LONGEST_FREEZE_WAIT)
        self.waits[freeze.row_id] = Wait(tries, self.clock.monotonic() + gap)

    def _now(self) -> datetime:
        return self.clock.now() + (self.service_ahead() or timedelta())

    async def _advance(self, due: DueFreeze) -> None:
        freeze = due.freeze
        # Until it has gone on.
        self._wait(freeze)
        async with self.concurrency:
            after = await self._after(freeze) if due.is_followed else advanced(freeze, self._now())
        if after.stage is freeze.stage:
            return
        if await self.store.run(_advance, freeze, after, self.clock.now()):
            del self.waits[freeze.row_id]
            self.wake()

    async def _after(self, freeze: Freeze) -> Freeze:
        """The freeze in its present stage, with whom it keeps waiting.

        As it is where a poll has yet to read the event that changed it.
        """
        confirmed_at = await self._confirmed_at(freeze)
        if confirmed_at is None:
            return freeze
        now = min(self._now(), confirmed_at)
        after = advanced(freeze, now)
        if after.stage in {freeze.stage, Stage.OVER}:
            return after
        return replace(after, queued=await self._queued(after, now))

    async def _confirmed_at(self, freeze: Freeze) -> datetime | None:
        """The service's time at which it has the freeze as its row says; None if it doesn't."""
        try:
            reading = await listed_freezes(self.merge_queue, freeze.repository)
        except MergeQueueError as error:
            if not isinstance(error, FreezesNotOffered):
                _log_unread(freeze, error)
            return None if await self._is_changed_in_log(freeze) else self._now()
        served_at = reading.served_at or self._now()
        return served_at if is_as_listed(freeze, reading.freezes, served_at) else None

    async def _is_changed_in_log(self, freeze: Freeze) -> bool:
        """Whether the log has a later event of the freeze; one that is unreadable has none."""
        try:
            log = await freeze_events(self.merge_queue, freeze.repository, self.clock.now())
        except MergeQueueError as error:
            _log_unread(freeze, error)
            return False
        return any(is_change_of(event, freeze) for event in log)

    async def _queued(self, freeze: Freeze, now: datetime) -> int | None:
        """How many pull requests it keeps waiting; None if the queue can't be read."""
        try:
            status = await self.merge_queue.status(freeze.repository, freeze.branch)
            return waiting_for(freeze, status, now)
        except MergeQueueError as error:
            _log_unread(freeze, error)
            return None


def _due_freezes(
    transaction: Transaction, names: Collection[RepositoryName], now: datetime
) -> list[DueFreeze]:
    found = []
    for freeze in Freezes(transaction).due(now):
        if freeze.repository in names:
            followers = freeze_subscribers(transaction, freeze.repository)
            cards = cards_of_freeze(transaction, freeze)
            found.append(DueFreeze(freeze, is_followed=bool(followers or cards)))
    return found


def _advance(transaction: Transaction, seen: Freeze, due: Freeze, now: datetime) -> bool:
    """Store the stage and its posts, unless the freeze has changed since it was `seen`."""
    known = Freezes(transaction).locked(seen.repository)
    unrouted = Events(transaction).unrouted(seen.repository)
    if seen not in known or any(event.type in FREEZE_TYPES for event in unrouted):
        return False
    save(transaction, due, now)
    if due.stage is not Stage.OVER:
        subscribers = freeze_subscribers(transaction, seen.repository)
        show_freeze(transaction, due, subscribers, now)
    notify_of_stage(transaction, due, now)
    return True


def _log_unread(freeze: Freeze, error: MergeQueueError) -> None:
    fields = {"repository": freeze.repository, "error": type(error).__name__}
    extra = {"action": "freeze_unread", **fields}
    logger.info("what the service says of a due freeze could not be read", extra=extra)
