"""Compares a queue's pause with the one on record, and updates the record."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.domain.audit import Action
from bot.domain.errors import MergeQueueError
from bot.domain.event_log import Window
from bot.domain.event_types import CHECKS_END
from bot.domain.leases import Lease
from bot.domain.pause_records import NEAR, PauseRecord
from bot.domain.polling import DEPTH_INTERVALS
from bot.domain.preceding_events import stopped_batches
from bot.domain.queue import Pause, QueueStatus
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
from bot.usecases.polling.poll_state import Poll
from bot.usecases.polling.queue_reading import QueueReading, QueueState
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
        name, reading, lease = poll.repository, poll.queue, poll.lease
        pause = await reading.pause()
        if pause is None:
            # For a repository that doesn't exist the service also answers "not paused".
            if known is not None and await self._is_gone(state, reading):
                await self._store(lease, lambda transaction, now: _over(transaction, known, now))
            return
        state.gone_since = None
        if known is None or not _is_it(known, pause):
            is_settled = await self._store(
                lease, lambda transaction, now: _see(transaction, name, known, pause, now)
            )
            if not is_settled:
                # Somebody acts on it, or was cut off: the next poll checks again.
                state.read_at = None
        elif known.queued_at_start is None or state.is_depth_due(self.clock.now()):
            state.depth_at = self.clock.now() + DEPTH_INTERVALS * self.interval
            measured = _measured(known, await reading.status())
            measured = replace(measured, stopped=await self._stopped(known, reading))
            if measured != known:
                await self._store(
                    lease, lambda transaction, now: _keep(transaction, known, measured, now)
                )

    async def notify_ends(self, repositories: Collection[RepositoryName]) -> None:
        """Post ends that have had no event, because it may never come. Raises StoreError."""
        now = self.clock.now()
        unposted = await self.store.read(_unposted_ends, now)
        for one in unposted:
            if one.repository in repositories and await self.store.run(_post_end, one, now):
                self.wake()

    async def _stopped(self, known: PauseRecord, reading: QueueReading) -> frozenset[str]:
        """The batches that the pause stopped, read from the log while it is new."""
        if known.stopped or self.clock.now() - known.paused_at > STOPPED_WITHIN:
            return known.stopped
        around = Window(known.paused_at - STOPPED_WITHIN, known.paused_at + STOPPED_WITHIN)
        try:
            return stopped_batches(await reading.events(around, {CHECKS_END}))
        except MergeQueueError:
            return known.stopped  # A number on a live message is not worth a second request.

    async def _is_gone(self, state: QueueState, reading: QueueReading) -> bool:
        """Whether the status, or else an earlier reading, says so too."""
        status, ticks = await reading.status(), self.clock.monotonic()
        if status.paused is not None:
            state.gone_since = None
            return not status.paused
        if state.gone_since is None:
            state.gone_since = ticks
        return ticks - state.gone_since >= GONE.total_seconds()

    async def _store(self, lease: Lease, notify: Callable[[Transaction, datetime], bool]) -> bool:
        """Store an observation under the repository's lock; `notify` returns whether it is news."""
        async with self.storing.slot():
            is_news = await self.store.run(_under, lease, notify, self.clock.now())
        if is_news:
            self.wake()
        return is_news


def _under(
    transaction: Transaction,
    lease: Lease,
    notify: Callable[[Transaction, datetime], bool],
    now: datetime,
) -> bool:
    transaction.leases.require(lease, now)
    return notify(transaction, now)


def _unposted_ends(transaction: Transaction, now: datetime) -> Sequence[PauseRecord]:
    return transaction.pauses.untold_ends(now - UNPOSTED_FOR)


def _post_end(transaction: Transaction, unposted: PauseRecord, now: datetime) -> bool:
    """Post the end without a name, unless it was posted meanwhile."""
    if unposted not in transaction.pauses.of(unposted.repository, now - PAUSE_LOOKBACK):
        return False
    channels = pause_subscribers(transaction, unposted.repository)
    notify_end(transaction, unposted, channels, now)
    return True


def _see(
    transaction: Transaction,
    name: RepositoryName,
    known: PauseRecord | None,
    pause: Pause,
    now: datetime,
) -> bool:
    """Record a pause, or a reason, that is new."""
    in_force = pause_in_force(transaction, name, now)
    if (in_force is not None or known is not None) and in_force != known:
        return False  # It was recorded while the bot called the service: check again.
    act = act_behind(transaction, name, pause, now)
    if act is not None and is_under_way(transaction, act, (), now):
        return False
    report_reading(transaction, name, pause, act, now)
    return True


def _over(transaction: Transaction, known: PauseRecord, now: datetime) -> bool:
    """Record that it ended; only the event log may say who resumed the queue."""
    in_force = pause_in_force(transaction, known.repository, now)
    acts = transaction.audit.since(known.repository, now - NEAR)
    if in_force != known:
        return False
    for act in acts:
        if act.action is Action.RESUME and is_under_way(transaction, act, acts, now):
            return False
    end_pause(transaction, known, now, None, now)
    return True


def _measured(known: PauseRecord, status: QueueStatus) -> PauseRecord:
    """Update how many wait now, how many did at the start, and who joined since."""
    queued = status.queued
    joined = frozenset(one.number for one in queued if one.queued_at > known.paused_at)
    return replace(
        known,
        queued_now=len(queued),
        queued_at_start=len(queued) - len(joined)
        if known.queued_at_start is None
        else known.queued_at_start,
        joined=known.joined | joined,
    )


def _keep(
    transaction: Transaction, known: PauseRecord, measured: PauseRecord, now: datetime
) -> bool:
    if pause_in_force(transaction, known.repository, now) != known:
        return False
    transaction.pauses.save(measured)
    touch_pause(transaction, measured, now)
    if measured.stopped != known.stopped:
        touch_group(transaction, measured, now)
    return True


def _is_it(known: PauseRecord, pause: Pause) -> bool:
    is_its_time = known.is_exact and known.is_of(pause.paused_at)
    return known.stored_reason == pause.reason and (is_its_time or not pause.is_dated)
