"""Pauses that end by themselves: each one once, only that one, and groups together."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bot.domain.audit import Action
from bot.domain.deliveries import Subject, SubjectKind
from bot.domain.errors import BotError, MergeQueueError, MergeQueueUnavailable, QueueBusy, answer_of
from bot.domain.group_acts import GroupAct, GroupOutcome, RepositoryResult
from bot.domain.groups import Group
from bot.domain.pacing import retry_delay
from bot.domain.pause_records import PauseRecord, Timer, Who, hurried, moved
from bot.domain.pauses import NotPaused, OtherPause, Resumed, ResumeOutcome, ResumesLater
from bot.domain.repository import RepositoryName
from bot.ports import Clock, Wake
from bot.store.transactions import Store, Transaction
from bot.usecases.leases import JobLease
from bot.usecases.live_messages import reply
from bot.usecases.pausing.group_pauses import touch_group
from bot.usecases.pausing.group_work import GroupRequest, GroupWork, ignore_progress
from bot.usecases.pausing.pause_history import cards_of, touch_pause
from bot.usecases.pausing.resume_queue import ResumeQueue
from bot.usecases.tasks import Tasks

logger = logging.getLogger(__name__)


LARGEST_BATCH = 10_000
"""More than the largest group has: a group that ends at one moment ends in one act and one post."""

CONCURRENT_RESUMES = 32
"""Of those that are not parts of a group. Most of them wait for nothing but the service."""

LEASE_NAME = "timers"
LEASE = timedelta(seconds=30)


RECHECK_DELAY = timedelta(seconds=15)
"""The delay after a check that found no pause although its record is open."""

LONGEST_WAIT = timedelta(minutes=1)
"""Between two tries while the service does not answer."""


@dataclass(frozen=True, slots=True)
class Postponed:
    """Not resumed yet, and why; the bot retries."""

    error: MergeQueueError | QueueBusy


@dataclass(frozen=True, slots=True)
class ResumeByTimer:
    """Resumes a queue if the timer's own pause is still in force.

    If it isn't, the threads of the pause's cards say that the timer did nothing.

    Each one that ends renews the lease, because many take longer than a lease lasts. The outcome is
    stored even if another process has the lease by then.
    """

    resume_queue: ResumeQueue
    store: Store
    clock: Clock
    jitter: Callable[[], float]

    async def run(
        self, timed: PauseRecord, lease: JobLease, part_of: GroupAct | None = None
    ) -> ResumeOutcome | ResumesLater | Postponed:
        """Resume the queue; raises StoreError."""
        timer = timed.timer
        if timer is None:
            return ResumesLater()
        try:
            outcome = await self.resume_queue.on_time(timed, timer, part_of)
        except (MergeQueueError, QueueBusy) as error:
            await self._later(timed, timer, lease, error)
            return Postponed(error)
        if isinstance(outcome, ResumesLater):
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
            "the queue of a timed pause could not be resumed yet",
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
    outcome: ResumeOutcome,
    now: datetime,
) -> None:
    lease.take(transaction, now)
    pause = transaction.pauses.locked(timed)
    if pause is None or pause.timer is None or not pause.ends_as(timed):
        # The lock was released: do not undo later requests of other people.
        return
    timer = pause.timer
    match outcome:
        case NotPaused() if pause.is_open:
            # The service may be wrong for a while. The timer ends with the pause's record.
            transaction.pauses.save(
                replace(pause, timer=replace(timer, due_at=now + RECHECK_DELAY))
            )
        case NotPaused() | Resumed():
            transaction.pauses.save(replace(pause, timer=replace(timer, due_at=None)))
        case OtherPause(record_id=record_id):
            transaction.pauses.save(replace(pause, timer=None))
            if record_id:
                subject = Subject(SubjectKind.ACT, pause.repository, record_id)
                identity = f"{pause.identity} stays at {timer.resumes_at.isoformat()}"
                reply(transaction, subject, cards_of(transaction, pause), now, identity=identity)


def _postpone(
    transaction: Transaction, timed: PauseRecord, later: Timer, lease: JobLease, now: datetime
) -> bool:
    """Store the retry; return whether there is one, unless somebody has changed the time."""
    lease.take(transaction, now)
    pause = transaction.pauses.locked(timed)
    if pause is None or not pause.ends_as(timed):
        return False
    postponed = replace(pause, timer=later)
    transaction.pauses.save(postponed)
    if later.failures == 1:
        notify_overdue(transaction, postponed, now)
    return True


def notify_overdue(transaction: Transaction, pause: PauseRecord, now: datetime) -> None:
    """Update live messages now; channels are reminded if it stays overdue for some minutes."""
    touch_pause(transaction, pause, now)
    touch_group(transaction, pause, now)
    transaction.pauses.save(replace(pause, reminders=hurried(pause.reminders, now)))


@dataclass(frozen=True, slots=True)
class DueBatch:
    """Pauses made by one act on a group that are all due to end, set by one person."""

    group: str
    pauses: tuple[PauseRecord, ...]


def batched(
    transaction: Transaction, due: Sequence[PauseRecord]
) -> tuple[Sequence[DueBatch], Sequence[PauseRecord]]:
    """Split due pauses into those that end together and those that end alone."""
    acts = transaction.group_acts.get({one.group_act_id for one in due if one.group_act_id})
    by_act: dict[tuple[int, Who | None], list[PauseRecord]] = defaultdict(list)
    for one in due:
        by_act[one.group_act_id, one.timer.set_by if one.timer else None].append(one)
    together: list[DueBatch] = []
    alone: list[PauseRecord] = []
    for (group_act_id, _), pauses in by_act.items():
        act = acts.get(group_act_id)
        if act is not None and len(pauses) > 1:
            together.append(DueBatch(act.group, tuple(pauses)))
        else:
            alone += pauses
    return together, alone


def _result(
    repository: RepositoryName, outcome: ResumeOutcome | ResumesLater | Postponed
) -> RepositoryResult:
    match outcome:
        case Resumed():
            return RepositoryResult(repository, GroupOutcome.CHANGED)
        case NotPaused():
            return RepositoryResult(repository, GroupOutcome.NOT_PAUSED)
        case OtherPause(known=known):
            return RepositoryResult(repository, GroupOutcome.REPLACED, known.by_name)
        case ResumesLater():
            detail = "somebody resumed it, or changed its end, meanwhile"
            return RepositoryResult(repository, GroupOutcome.FAILED, detail=detail)
        case Postponed(error=error):
            why = str(error) if isinstance(error, QueueBusy) else answer_of(error)
            detail = f"{why}; the bot retries"
            return RepositoryResult(repository, GroupOutcome.FAILED, detail=detail)


@dataclass(slots=True)
class ExpirePauses:
    """Resumes queues in one process at a time; without due timers it costs one indexed query.

    Each is a task of its own, so slow ones delay nothing. A running one is not started again.
    """

    resume_by_timer: ResumeByTimer
    work: GroupWork
    store: Store
    clock: Clock
    wake: Wake
    lease: JobLease
    under_way: set[int] = field(default_factory=set)
    tasks: Tasks = field(
        default_factory=lambda: Tasks("resuming by a timer has a defect", "expiry_defect")
    )
    concurrency: asyncio.Semaphore = field(
        default_factory=lambda: asyncio.Semaphore(CONCURRENT_RESUMES)
    )

    async def run(self) -> None:
        """Start what is due without waiting for it. Raises StoreError."""
        now = self.clock.now()
        together, alone = await self.store.run(self._take_due, now, frozenset(self.under_way))
        for due in together:
            self._start(due.pauses, self._resume_batch(due))
        for pause in alone:
            self._start([pause], self._resume(pause))

    async def drain(self) -> None:
        """Wait for running tasks."""
        await self.tasks.drain()

    async def release(self) -> None:
        """Release our lease."""
        await self.lease.release(self.store, self.clock.now())

    def _take_due(
        self, transaction: Transaction, now: datetime, under_way: Collection[int]
    ) -> tuple[Sequence[DueBatch], Sequence[PauseRecord]]:
        """Due pauses that end together, and alone; none while another process has the lease."""
        found = transaction.pauses.due(now, LARGEST_BATCH)
        due = [one for one in found if one.pause_id not in under_way]
        if not due or self.lease.take(transaction, now) is None:
            return [], []
        return batched(transaction, due)

    def _start(self, pauses: Sequence[PauseRecord], work: Awaitable[object]) -> None:
        ids = {one.pause_id for one in pauses}
        self.under_way.update(ids)
        self.tasks.start(self._finish(ids, work), f"resume {pauses[0].repository}")

    async def _finish(self, ids: set[int], work: Awaitable[object]) -> None:
        try:
            await work
        except BotError as error:
            # The pauses are still due, so the next run starts them again.
            logger.warning(
                "queues of timed pauses could not be resumed",
                extra={"action": "expiry_failed", "count": len(ids), "detail": str(error)},
            )
        finally:
            self.under_way.difference_update(ids)
        self.wake()

    async def _resume_batch(self, due: DueBatch) -> None:
        """Run an act on a group for its timers. Failures are retried one by one."""
        timer = due.pauses[0].timer
        if timer is None:
            return
        pauses = {one.repository: one for one in due.pauses}
        request = GroupRequest(Group(due.group, tuple(pauses)), timer.caller)
        act = await self.work.begin(request, Action.RESUME, tuple(pauses), timer.resumes_at)

        async def resume(repository: RepositoryName) -> RepositoryResult:
            outcome = await self.resume_by_timer.run(pauses[repository], self.lease, act)
            return _result(repository, outcome)

        await self.work.run(act, resume, ignore_progress)

    async def _resume(self, pause: PauseRecord) -> None:
        async with self.concurrency:
            await self.resume_by_timer.run(pause, self.lease)


def timers_lease(holder: str) -> JobLease:
    """The lease under which one process handles the times of pauses."""
    return JobLease(LEASE_NAME, holder, LEASE)


def move_times(
    transaction: Transaction,
    jump: timedelta,
    first_gap: Callable[[RepositoryName], timedelta],
    now: datetime,
) -> None:
    """After a clock jump, keep upcoming times as far off as before.

    An end given as a time of day stays. One set after the jump, within the second until this runs,
    is moved as well. `first_gap`: the time before a first reminder.
    """
    # In the order of their repositories, so that two processes never deadlock.
    pauses = [transaction.pauses.locked(one) for one in transaction.pauses.unended()]
    for pause in pauses:
        if pause is not None:
            transaction.pauses.save(moved(pause, jump, first_gap(pause.repository)))
            touch_pause(transaction, pause, now)
            touch_group(transaction, pause, now)
    # Repositories that an act left over are retried with the end that it gave the rest.
    for act in transaction.group_acts.with_pauses_ending_after(now - jump):
        if act.resumes_at is not None and not act.ends_at_time_of_day:
            transaction.group_acts.set_end_of_pauses(act.group_act_id, act.resumes_at + jump)
