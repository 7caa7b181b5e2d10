"""Compares a queue's pause with the one on record, and updates the record."""

from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.feed.poll import Poll
from bot.feed.poll_state import QueueAtPoll
from bot.feed.polling import DEPTH_INTERVALS
from bot.kernel.clock import Clock
from bot.kernel.errors import MergeQueueError
from bot.kernel.repository import RepositoryName
from bot.kernel.tasks import ConcurrencyLimit
from bot.log.preceding import stopped_batches
from bot.merge_queue.event_types import CHECKS_END
from bot.merge_queue.queue import Pause
from bot.merge_queue.window import Window
from bot.pauses.group_pauses import touch_group
from bot.pauses.history import (
    notify_end,
    pause_in_force,
    pause_subscribers,
    touch_pause,
)
from bot.pauses.known import StatusSays
from bot.pauses.pause import PAUSE_LOOKBACK, PausedQueue, PauseRecord
from bot.pauses.readings import PauseReading, believe_log, observe_reading
from bot.pauses.rows import Pauses
from bot.pauses.settling import status_says
from bot.posts.wake import Wake
from bot.store.coordination import Leases
from bot.store.transaction import Transaction
from bot.store.transactions import Store

STOPPED_WITHIN = timedelta(minutes=2)
"""How far a pause may be from the end of the checks it stopped, and how late the log may be."""

UNPOSTED_FOR = timedelta(seconds=30)
"""How long to wait for the event that says who resumed the queue before posting without it."""


@dataclass(frozen=True, slots=True)
class ObservePause:
    """Compares the service's pause with the one on record.

    A reading without news costs no transaction.
    """

    store: Store
    clock: Clock
    wake: Wake
    interval: timedelta
    storing: ConcurrencyLimit  #: the polls' concurrency limit

    async def run(self, poll: Poll, known: PauseRecord | None, state: QueueAtPoll) -> None:
        """Compare with `known`, the pause on record before the service was called.

        Raises MergeQueueError, StoreError or LimitClosed.
        """
        measured = None
        pause = await poll.pause()
        status = StatusSays.NOTHING
        if pause is None:
            # For a repository that doesn't exist the service also answers "not paused".
            if known is None:
                return
            status = status_says(await poll.status())
        elif known is not None and _is_shown(known, pause):
            measured = await self._measure(known, poll, state)
            if measured == known:
                return
        reading = PauseReading(pause, poll.requests.merge_queue.service_time, status)
        async with self.storing.slot():
            is_news = await self.store.run(
                _compare, poll, known, reading, measured, self.clock.now()
            )
        if is_news:
            self.wake()
        elif measured is None:
            # Somebody acts on it, or it proved nothing: the next poll reads it again.
            state.read_at = None

    async def believe_log(self, poll: Poll) -> None:
        """Let the log's events count that were left without a reading.

        Raises StoreError or LimitClosed.
        """
        async with self.storing.slot():
            await self.store.run(_believe_log, poll, self.clock.now())
        self.wake()

    async def notify_ends(self, repositories: Collection[RepositoryName]) -> None:
        """Post ends that have had no event, because it may never come. Raises StoreError."""
        now = self.clock.now()
        since = now - UNPOSTED_FOR
        for pause in await self.store.read(
            lambda transaction: Pauses(transaction).unnotified_ends(since)
        ):
            if pause.repository in repositories and await self.store.run(_post_end, pause, now):
                self.wake()

    async def _measure(self, known: PauseRecord, poll: Poll, state: QueueAtPoll) -> PauseRecord:
        """Update who waits, how many do now, and how many did at the start, if due."""
        now = self.clock.now()
        before = known.queue
        is_measured = before.queued_at_start is not None
        if is_measured and state.depth_at is not None and state.depth_at > now:
            return known
        state.depth_at = now + DEPTH_INTERVALS * self.interval
        queued = (await poll.status()).queued
        at_start = before.queued_at_start
        if at_start is None:
            at_start = sum(pull_request.queued_at <= known.since for pull_request in queued)
        stopped = before.stopped
        if not stopped and self.clock.now() - known.since <= STOPPED_WITHIN:
            around = Window(known.since - STOPPED_WITHIN, known.since + STOPPED_WITHIN)
            # A number on a live message is not worth a second request.
            with suppress(MergeQueueError):
                stopped = stopped_batches(await poll.events(around, {CHECKS_END}))
        numbers = {pull_request.number for pull_request in queued}
        measured = PausedQueue(at_start, len(queued), before.waited | numbers, stopped)
        return replace(known, queue=measured)


def _is_shown(known: PauseRecord, pause: Pause) -> bool:
    """Whether the reading is no news."""
    if known.missing_since is not None or not known.has_reason(pause.reason):
        return False
    return not pause.is_dated or known.is_of(pause.paused_at)


def _post_end(transaction: Transaction, unposted: PauseRecord, now: datetime) -> bool:
    """Post the end without a name, unless it was posted meanwhile."""
    if unposted not in Pauses(transaction).of(unposted.repository, now - PAUSE_LOOKBACK):
        return False
    channels = pause_subscribers(transaction, unposted.repository)
    notify_end(transaction, unposted, channels, now)
    return True


def _believe_log(transaction: Transaction, poll: Poll, now: datetime) -> None:
    Leases(transaction).require(poll.lease, now)
    believe_log(transaction, poll.repository, now)


def _compare(
    transaction: Transaction,
    poll: Poll,
    known: PauseRecord | None,
    reading: PauseReading,
    measured: PauseRecord | None,
    now: datetime,
) -> bool:
    """Record what is new: the pause, or the depth of its queue; False to read it again."""
    Leases(transaction).require(poll.lease, now)
    if measured is None:
        return observe_reading(transaction, poll.repository, reading, now, revision=poll.revision)
    if pause_in_force(transaction, poll.repository, now) != known:
        return False
    Pauses(transaction).save(measured)
    touch_pause(transaction, measured, now)
    if known is not None and measured.queue.stopped != known.queue.stopped:
        touch_group(transaction, measured, now)
    return True
