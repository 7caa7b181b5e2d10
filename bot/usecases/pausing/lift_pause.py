"""Lift one pause because its time has come."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.domain.deliveries import Subject, SubjectKind
from bot.domain.errors import MergeQueueError, MergeQueueUnavailable, QueueBusy
from bot.domain.group_acts import GroupAct
from bot.domain.pacing import retry_delay
from bot.domain.pause_records import PauseRecord, Timer
from bot.domain.pauses import LiftsLater, NotPaused, OtherPause, Unpaused, UnpauseOutcome
from bot.ports import Clock
from bot.store.transactions import Store, Transaction
from bot.usecases.leases import JobLease
from bot.usecases.pausing.overdue_pauses import tell_overdue
from bot.usecases.pausing.unpause_queue import UnpauseQueue
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
        self, timed: PauseRecord, lease: JobLease, part_of: GroupAct | None = None
    ) -> UnpauseOutcome | LiftsLater | Postponed:
        """Raises StoreError."""
        timer = timed.timer
        if timer is None:
            return LiftsLater()
        try:
            outcome = await self.unpause_queue.on_time(timed, timer, part_of)
        except (MergeQueueError, QueueBusy) as error:
            await self._later(timed, timer, lease, error)
            return Postponed(error)
        if isinstance(outcome, LiftsLater):
            return outcome
        await self.store.run(_settle, timed, lease, outcome, self.clock.now())
        return outcome

    async def _later(
        self,
        timed: PauseRecord,
        timer: Timer,
        lease: JobLease,
        error: MergeQueueError | QueueBusy,
    ) -> None:
        hint = error.retry_after if isinstance(error, MergeQueueUnavailable) else None
        wait = timedelta(seconds=retry_delay(timer.failures + 1, hint=hint, jitter=self.jitter()))
        now = self.clock.now()
        later = replace(timer, failures=timer.failures + 1, due_at=now + min(wait, LONGEST_WAIT))
        if not await self.store.run(_postpone, timed, later, lease, now):
            return
        logger.warning(
            "a timed pause could not be lifted yet",
            extra={
                "action": "timer_postponed",
                "repository": timed.repository,
                "error": type(error).__name__,
                "failures": later.failures,
            },
        )


def _settle(
    transaction: Transaction,
    timed: PauseRecord,
    lease: JobLease,
    outcome: UnpauseOutcome,
    now: datetime,
) -> None:
    lease.take(transaction, now)
    pause = transaction.pauses.locked(timed)
    if pause is None or pause.timer is None or not pause.ends_as(timed):
        # The turn was over: what somebody else asks for from then on is not undone.
        return
    timer = pause.timer
    match outcome:
        case NotPaused() if pause.is_open:
            # The service may be wrong for a while. The timer ends with the pause's record.
            transaction.pauses.save(replace(pause, timer=replace(timer, due_at=now + LOOK_AGAIN)))
        case NotPaused() | Unpaused():
            transaction.pauses.save(replace(pause, timer=replace(timer, due_at=None)))
        case OtherPause(record_id=record_id):
            transaction.pauses.save(replace(pause, timer=None))
            if record_id and timer.channel_id is not None:
                # Where it was set, people hear that somebody else's pause stays.
                subject = Subject(SubjectKind.ACT, pause.repository, record_id)
                identity = f"{pause.identity} stays at {timer.lifts_at.isoformat()}"
                tell_urgently(transaction, subject, [timer.channel_id], now, identity=identity)


def _postpone(
    transaction: Transaction, timed: PauseRecord, later: Timer, lease: JobLease, now: datetime
) -> bool:
    """Whether it is tried again: nobody has changed its time meanwhile."""
    lease.take(transaction, now)
    pause = transaction.pauses.locked(timed)
    if pause is None or not pause.ends_as(timed):
        return False
    postponed = replace(pause, timer=later)
    transaction.pauses.save(postponed)
    if later.failures == 1:
        tell_overdue(transaction, postponed, now)
    return True
