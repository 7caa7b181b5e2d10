"""Lift one pause because its time has come."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta

from bot.domain.audit import Actor, Origin
from bot.domain.backoff import retry_delay
from bot.domain.deliveries import Subject, SubjectKind
from bot.domain.errors import MergeQueueError, MergeQueueUnavailable, QueueBusy
from bot.domain.group_acts import GroupAct
from bot.domain.pauses import LiftsLater, NotPaused, OtherPause, Unpaused, UnpauseOutcome
from bot.domain.timers import Timer, TimerState
from bot.ports import Clock, Store, Transaction
from bot.usecases.job_lease import JobLease
from bot.usecases.pausing.overdue_pauses import tell_overdue
from bot.usecases.pausing.pause_cards import find_pause
from bot.usecases.pausing.unpause_queue import UnpauseQueue, UnpauseRequest
from bot.usecases.tell_urgently import tell_urgently

logger = logging.getLogger(__name__)

LOOK_AGAIN = timedelta(seconds=15)
"""After a look that found no pause, where the pause's record is open."""

LONGEST_WAIT = timedelta(minutes=1)
"""Between two tries while the service does not answer."""


@dataclass(frozen=True, slots=True)
class Postponed:
    """Not lifted yet, and why; it is tried again by itself."""

    error: MergeQueueError | QueueBusy


@dataclass(frozen=True, slots=True)
class LiftPause:
    """Compares before it acts: somebody else's pause stays, and the channel is told so.

    Each that ends renews the lease under which it was taken on: many take longer than a lease
    lasts. What became of it is stored also when another process has the lease by then.
    """

    unpause_queue: UnpauseQueue
    store: Store
    clock: Clock
    jitter: Callable[[], float]

    async def run(
        self,
        timer: Timer,
        lease: JobLease,
        part_of: GroupAct | None = None,
        *,
        moved: timedelta = timedelta(),
    ) -> UnpauseOutcome | LiftsLater | Postponed:
        """`moved`: how far the clock jumped since the timer was set. Raises StoreError."""
        request = UnpauseRequest(
            timer.repository,
            Actor(timer.set_by, timer.set_by_name),
            Origin.TIMER,
            timer.channel_id,
            expected=timer.paused_at,
            part_of=part_of,
            lifts_at=timer.lifts_at + moved,
        )
        try:
            outcome = await self.unpause_queue.on_time(request, timer)
        except (MergeQueueError, QueueBusy) as error:
            await self._later(timer, lease, error)
            return Postponed(error)
        if isinstance(outcome, LiftsLater):
            return outcome
        async with self.store.begin() as transaction:
            await lease.take(transaction, self.clock.now())
            # Pauses before timers, as whoever else ends both.
            pause = await find_pause(transaction, timer.repository, timer.paused_at)
            if not await _is_still_set(transaction, timer):
                # The turn was over: what somebody else asks for from then on is not undone.
                return outcome
            match outcome:
                case Unpaused():
                    await transaction.timers.save(replace(timer, state=TimerState.FIRED))
                case NotPaused():
                    # The service may be wrong for a while. The timer ends with the pause's record.
                    is_open = pause is not None and pause.is_open
                    again = replace(timer, due_at=self.clock.now() + LOOK_AGAIN)
                    over = replace(timer, state=TimerState.VOID)
                    await transaction.timers.save(again if is_open else over)
                case OtherPause(record_id=record_id):
                    await transaction.timers.save(replace(timer, state=TimerState.VOID))
                    if record_id:
                        await self._tell_void(transaction, timer, record_id)
        return outcome

    async def _later(
        self, timer: Timer, lease: JobLease, error: MergeQueueError | QueueBusy
    ) -> None:
        hint = error.retry_after if isinstance(error, MergeQueueUnavailable) else None
        wait = timedelta(seconds=retry_delay(timer.failures + 1, hint=hint, jitter=self.jitter()))
        now = self.clock.now()
        later = replace(timer, failures=timer.failures + 1, due_at=now + min(wait, LONGEST_WAIT))
        async with self.store.begin() as transaction:
            await lease.take(transaction, now)
            # Pauses before timers, as whoever else ends both.
            pause = await find_pause(transaction, timer.repository, timer.paused_at)
            if not await _is_still_set(transaction, timer):
                return
            await transaction.timers.save(later)
            if not timer.failures and pause is not None:
                await tell_overdue(transaction, pause, now)
        logger.warning(
            "a timed pause could not be lifted yet",
            extra={
                "action": "timer_postponed",
                "repository": timer.repository,
                "error": type(error).__name__,
                "failures": later.failures,
            },
        )

    async def _tell_void(self, transaction: Transaction, timer: Timer, record_id: int) -> None:
        """In the channel where it was set: somebody else's pause stays."""
        if timer.channel_id is None:
            return
        subject = Subject(SubjectKind.ACT, timer.repository, record_id)
        await tell_urgently(transaction, subject, [timer.channel_id], self.clock.now())


async def _is_still_set(transaction: Transaction, timer: Timer) -> bool:
    """Until the transaction ends nobody gives the pause another end."""
    stored = await transaction.timers.locked(timer.repository, timer.paused_at)
    return stored is not None and stored.is_still(timer)
