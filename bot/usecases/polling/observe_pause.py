"""Compares a queue's pause with the one on record, and updates the record."""

from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.domain.audit import Action
from bot.domain.errors import MergeQueueError
from bot.domain.event_log import Window
from bot.domain.event_types import CHECKS_END
from bot.domain.pause_records import NEAR, PauseRecord
from bot.domain.polling import DEPTH_INTERVALS
from bot.domain.preceding_events import stopped_batches
from bot.domain.queue import Pause
from bot.domain.repository import RepositoryName
from bot.ports import Clock, Wake
from bot.store.transactions import Store, Transaction
from bot.usecases.leases import is_under_way
from bot.usecases.pausing.group_pauses import touch_group
from bot.usecases.pausing.pause_history import (
    PAUSE_LOOKBACK,
    end_pause,
    notify_end,
    pause_in_force,
    pause_subscribers,
    touch_pause,
)
from bot.usecases.pausing.reports import act_behind, report_reading
from bot.usecases.polling.poll import Poll
from bot.usecases.polling.poll_state import QueueState
from bot.usecases.tasks import ConcurrencyLimit

GONE = timedelta(seconds=30)
"""The shortest time between two readings without a pause, if the status doesn't show it."""

STOPPED_WITHIN = timedelta(minutes=2)
"""How far a pause may be from the end of the checks it stopped, and how late the log may be."""

UNPOSTED_FOR = timedelta(seconds=30)
"""How long to wait for the event that says who resumed the queue before posting without it."""


@dataclass(frozen=True, slots=True)
class ObservePause:
    """Compares the service's pause with the one on record.

    A reading without news costs no transaction. `storing`: the polls' concurrency limit.
    """

    store: Store
    clock: Clock
    wake: Wake
    interval: timedelta
    storing: ConcurrencyLimit

    async def run(self, poll: Poll, known: PauseRecord | None, state: QueueState) -> None:
        """Compare with `known`, the pause on record before the service was called.

        Raises MergeQueueError, StoreError or LimitClosed.
        """
        measured, pause = None, await poll.pause()
        if pause is None:
            # For a repository that doesn't exist the service also answers "not paused".
            if known is None or not await self._is_gone(state, poll):
                return
        else:
            state.gone_since = None
            is_same = known is not None and known.stored_reason == pause.reason
            if (
                known is not None
                and is_same
                and (not pause.is_dated or (known.is_exact and known.is_of(pause.paused_at)))
            ):
                measured = await self._measure(known, poll, state)
                if measured == known:
                    return
        async with self.storing.slot():
            is_news = await self.store.run(_compare, poll, known, pause, measured, self.clock.now())
        if is_news:
            self.wake()
        elif pause is not None and measured is None:
            # Somebody acts on it, or was cut off: the next poll checks again.
            state.read_at = None

    async def notify_ends(self, repositories: Collection[RepositoryName]) -> None:
        """Post ends that have had no event, because it may never come. Raises StoreError."""
        now = self.clock.now()
        since = now - UNPOSTED_FOR
        for one in await self.store.read(lambda transaction: transaction.pauses.untold_ends(since)):
            if one.repository in repositories and await self.store.run(_post_end, one, now):
                self.wake()

    async def _measure(self, known: PauseRecord, reading: Poll, state: QueueState) -> PauseRecord:
        """Update how many wait now, how many did at the start, and who joined since, if due."""
        now = self.clock.now()
        is_measured = known.queued_at_start is not None
        if is_measured and state.depth_at is not None and state.depth_at > now:
            return known
        state.depth_at = now + DEPTH_INTERVALS * self.interval
        queued = (await reading.status()).queued
        joined = frozenset(one.number for one in queued if one.queued_at > known.paused_at)
        at_start, stopped = known.queued_at_start, known.stopped
        if not stopped and self.clock.now() - known.paused_at <= STOPPED_WITHIN:
            around = Window(known.paused_at - STOPPED_WITHIN, known.paused_at + STOPPED_WITHIN)
            # A number on a live message is not worth a second request.
            with suppress(MergeQueueError):
                stopped = stopped_batches(await reading.events(around, {CHECKS_END}))
        return replace(
            known,
            queued_now=len(queued),
            queued_at_start=len(queued) - len(joined) if at_start is None else at_start,
            joined=known.joined | joined,
            stopped=stopped,
        )

    async def _is_gone(self, state: QueueState, reading: Poll) -> bool:
        """Whether the status, or else an earlier reading, says so too."""
        status, ticks = await reading.status(), self.clock.monotonic()
        if status.paused is not None:
            state.gone_since = None
            return not status.paused
        if state.gone_since is None:
            state.gone_since = ticks
        return ticks - state.gone_since >= GONE.total_seconds()


def _post_end(transaction: Transaction, unposted: PauseRecord, now: datetime) -> bool:
    """Post the end without a name, unless it was posted meanwhile."""
    if unposted not in transaction.pauses.of(unposted.repository, now - PAUSE_LOOKBACK):
        return False
    channels = pause_subscribers(transaction, unposted.repository)
    notify_end(transaction, unposted, channels, now)
    return True


def _compare(
    transaction: Transaction,
    poll: Poll,
    known: PauseRecord | None,
    pause: Pause | None,
    measured: PauseRecord | None,
    now: datetime,
) -> bool:
    """Record what is new: a pause or its reason, the depth of the queue, or the end.

    False if it was recorded, or somebody acted, while the bot called the service.
    """
    transaction.leases.require(poll.lease, now)
    if pause_in_force(transaction, poll.repository, now) != known:
        return False
    if pause is None:
        # Only the event log may say who resumed the queue.
        acts = transaction.audit.since(poll.repository, now - NEAR)
        resumes = (one for one in acts if one.action is Action.RESUME)
        if known is None or any(is_under_way(transaction, one, acts, now) for one in resumes):
            return False
        end_pause(transaction, known, now, None, now)
        return True
    if measured is not None:
        transaction.pauses.save(measured)
        touch_pause(transaction, measured, now)
        if known is not None and measured.stopped != known.stopped:
            touch_group(transaction, measured, now)
        return True
    act = act_behind(transaction, poll.repository, pause, now)
    if act is not None and is_under_way(transaction, act, (), now):
        return False
    report_reading(transaction, poll.repository, pause, act, now)
    return True
