"""Pauses that end by themselves: each one once, only that one, and groups together.

When this process's clock jumps, their times follow it.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bot.domain.asked import NOTHING
from bot.domain.audit import Action, Actor
from bot.domain.deliveries import Subject, SubjectKind
from bot.domain.errors import BotError, MergeQueueError, MergeQueueUnavailable, QueueBusy, answer_of
from bot.domain.group_acts import GroupAct, GroupOutcome, RepositoryResult, result_of
from bot.domain.groups import Group
from bot.domain.pacing import retry_delay
from bot.domain.pause_records import PauseRecord, Timer, hurried, moved
from bot.domain.pauses import NotPaused, OtherPause, ResumeOutcome
from bot.domain.repository import RepositoryName
from bot.ports import Clock
from bot.store.transactions import Store, Transaction
from bot.usecases.leases import JobLease
from bot.usecases.live_messages import reply
from bot.usecases.pausing.group_pauses import group_act_of
from bot.usecases.pausing.group_work import GroupWork, ignore_progress
from bot.usecases.pausing.pause_history import cards_of, touch
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

SMALLEST_JUMP = timedelta(seconds=2)
"""A gradual correction of the clock moves it less than this between two checks."""

OFF = timedelta(minutes=1)
"""The largest difference between our clock and the service's without a warning."""

LONGEST_WAIT = timedelta(minutes=1)
"""Between two tries while the service does not answer."""

TimedOutcome = ResumeOutcome | MergeQueueError | QueueBusy | None
"""None if somebody else changed the end; an error if the bot is to try again."""


@dataclass(slots=True)
class ExpirePauses:
    """Resumes queues in one process at a time; without due timers it costs one indexed query.

    Each is a task of its own, so slow ones delay nothing. A running one is not started again.
    Each one that ends renews the lease, because many take longer than a lease lasts. The outcome is
    stored even if another process has the lease by then.
    """

    resume_queue: ResumeQueue
    work: GroupWork
    lease: JobLease
    jitter: Callable[[], float]
    under_way: set[int] = field(default_factory=set)
    tasks: Tasks = field(
        default_factory=lambda: Tasks("resuming by a timer has a defect", "expiry_defect")
    )
    concurrency: asyncio.Semaphore = field(
        default_factory=lambda: asyncio.Semaphore(CONCURRENT_RESUMES)
    )

    async def run(self) -> None:
        """Start what is due without waiting for it. Raises StoreError."""
        now = self.work.acts.clock.now()
        due = await self.work.acts.store.run(self._take_due, now, frozenset(self.under_way))
        for pauses in due:
            ids = {one.pause_id for one in pauses}
            self.under_way.update(ids)
            self.tasks.start(self._end(pauses, ids), f"resume {pauses[0].repository}")

    async def drain(self) -> None:
        await self.tasks.drain()

    async def release(self) -> None:
        await self.lease.release(self.work.acts.store, self.work.acts.clock.now())

    def _take_due(
        self, transaction: Transaction, now: datetime, under_way: Collection[int]
    ) -> Sequence[Sequence[PauseRecord]]:
        """Due pauses, as they resume together; none while another process has the lease."""
        found = transaction.pauses.due(now, LARGEST_BATCH)
        due = [one for one in found if one.pause_id not in under_way]
        if not due or self.lease.take(transaction, now) is None:
            return []
        by_act: dict[tuple[int, int, Actor | None], list[PauseRecord]] = defaultdict(list)
        for one in due:
            # One act made them, and one person set their end.
            alone = 0 if one.group_act_id else one.pause_id
            by_act[one.group_act_id, alone, one.timer.set_by if one.timer else None].append(one)
        return list(by_act.values())

    async def _end(self, pauses: Sequence[PauseRecord], ids: set[int]) -> None:
        try:
            if len(pauses) > 1:
                await self._resume_together(pauses)
            else:
                async with self.concurrency:
                    await self.resume(pauses[0])
        except BotError as error:
            # The pauses are still due, so the next run starts them again.
            logger.warning(
                "queues of timed pauses could not be resumed",
                extra={"action": "expiry_failed", "count": len(ids), "detail": str(error)},
            )
        finally:
            self.under_way.difference_update(ids)
        self.work.acts.wake()

    async def _resume_together(self, due: Sequence[PauseRecord]) -> None:
        """Run an act on a group for its timers. Failures are retried one by one."""
        timer = due[0].timer
        made = await self.work.acts.store.run(group_act_of, due[0])
        if timer is None or made is None:  # the store keeps an act as long as its pauses
            raise TypeError(due[0])
        pauses = {one.repository: one for one in due}
        now, group = self.work.acts.clock.now(), Group(made.group, tuple(pauses))
        act = GroupAct.by(timer.caller, now, Action.RESUME, group, NOTHING)
        begun = await self.work.begin(replace(act, resumes_at=timer.resumes_at))

        async def resume(act: GroupAct, repository: RepositoryName) -> RepositoryResult:
            return _result(repository, await self.resume(pauses[repository], act))

        await self.work.run(begun, resume, ignore_progress)

    async def resume(self, timed: PauseRecord, part_of: GroupAct | None = None) -> TimedOutcome:
        """Resume the queue if the timer's own pause is still in force; raises StoreError.

        If it isn't, the threads of the pause's cards say that the timer did nothing.
        """
        timer = timed.timer
        if timer is None:
            return None
        outcome: TimedOutcome
        wait = timedelta()
        try:
            outcome = await self.resume_queue.on_time(timed, timer, part_of)
        except (MergeQueueError, QueueBusy) as error:
            outcome, failures = error, timer.failures + 1
            fields = {"repository": timed.repository, "error": type(error).__name__}
            logger.warning(
                "the queue of a timed pause could not be resumed yet",
                extra={"action": "timer_postponed", **fields, "failures": failures},
            )
            hint = error.retry_after if isinstance(error, MergeQueueUnavailable) else None
            wait = timedelta(seconds=retry_delay(failures, hint=hint, jitter=self.jitter()))
        if outcome is not None:
            now, wait = self.work.acts.clock.now(), min(wait, LONGEST_WAIT)
            await self.work.acts.store.run(_settle, timed, self.lease, outcome, wait, now)
        return outcome


def _result(repository: RepositoryName, outcome: TimedOutcome) -> RepositoryResult:
    if outcome is None:
        why = "somebody resumed it, or changed its end, meanwhile"
    elif isinstance(outcome, MergeQueueError | QueueBusy):
        said = answer_of(outcome) if isinstance(outcome, MergeQueueError) else outcome
        why = f"{said}; the bot retries"
    else:
        return result_of(repository, outcome)
    return RepositoryResult(repository, GroupOutcome.FAILED, detail=why)


def _settle(
    transaction: Transaction,
    timed: PauseRecord,
    lease: JobLease,
    outcome: TimedOutcome,
    wait: timedelta,
    now: datetime,
) -> None:
    """Store what became of the timer; `wait`: until the next attempt after a failure."""
    lease.take(transaction, now)
    pause = transaction.pauses.locked(timed)
    if pause is None or pause.timer is None or not pause.ends_as(timed):
        # The lock was released: do not undo later requests of other people.
        return
    timer: Timer | None = pause.timer
    match outcome:
        case MergeQueueError() | QueueBusy():
            failures = pause.timer.failures + 1
            timer = replace(pause.timer, failures=failures, due_at=now + wait)
        case NotPaused() if pause.is_open:
            # The service may be wrong for a while. The timer ends with the pause's record.
            timer = replace(pause.timer, due_at=now + RECHECK_DELAY)
        case OtherPause(record_id=record_id):
            timer = None
            if record_id:
                subject = Subject(SubjectKind.ACT, pause.repository, record_id)
                identity = f"{pause.identity} stays at {pause.timer.resumes_at.isoformat()}"
                reply(transaction, subject, cards_of(transaction, pause), now, identity=identity)
        case _:
            timer = replace(pause.timer, due_at=None)
    settled = replace(pause, timer=timer)
    if timer is not None and timer.failures == 1 and pause.timer.failures == 0:
        # Live messages say so now; channels are reminded if it stays overdue for some minutes.
        settled = replace(settled, reminders=hurried(pause.reminders, now))
        touch(transaction, settled, now)
    transaction.pauses.save(settled)


def timers_lease(holder: str) -> JobLease:
    """The lease under which one process handles the times of pauses."""
    return JobLease(LEASE_NAME, holder, LEASE)


@dataclass(slots=True)
class WatchClock:
    """Keeps a half-hour pause half an hour long when the wall clock jumps.

    Run it before anything that compares times of pauses.
    `lease`: all processes on a machine see the clock jump, and its holder moves the times.
    `first_gap`: the time before the first reminder of a pause.
    `service_ahead`: how far the service's clock is ahead, from the `Date` of its answers.
    """

    store: Store
    clock: Clock
    lease: JobLease
    first_gap: Callable[[RepositoryName], timedelta]
    service_ahead: Callable[[], timedelta | None]
    last: tuple[datetime, float] | None = None
    unstored: list[tuple[datetime, timedelta]] = field(default_factory=list)
    is_off: bool = False

    async def run(self) -> None:
        """Raises StoreError; the next run stores a jump that could not be stored."""
        now, ticks = self.clock.now(), self.clock.monotonic()
        before, self.last = self.last or (now, ticks), (now, ticks)
        # How far the wall clock was set ahead since the last call; negative if set back.
        jump = now - before[0] - timedelta(seconds=ticks - before[1])
        if abs(jump) >= SMALLEST_JUMP:
            fields = {"action": "clock_jumped", "seconds": jump.total_seconds()}
            logger.warning("the clock jumped", extra=fields)
            self.unstored.append((now, jump))
        if self.unstored:
            jumps = tuple(self.unstored)
            await self.store.run(self._follow, jumps, now)
            self.unstored = [one for one in self.unstored if one not in jumps]
        self._compare()

    def _follow(
        self, transaction: Transaction, jumps: Sequence[tuple[datetime, timedelta]], now: datetime
    ) -> None:
        is_ours = self.lease.take(transaction, now) is not None
        for at, jump in jumps:
            # It is stored already if only the answer to an earlier commit was lost.
            if transaction.expiring_keys.add_jump(at, jump) and is_ours:
                move_times(transaction, jump, self.first_gap, now)

    def _compare(self) -> None:
        """Log when it begins and when it ends, not at every check."""
        ahead = self.service_ahead()
        if ahead is None or (abs(ahead) > OFF) is self.is_off:
            return
        self.is_off = not self.is_off
        seconds = -ahead.total_seconds()
        if self.is_off:
            extra = {"action": "clock_off", "seconds": seconds}
            logger.warning("our clock and the service's are more than a minute apart", extra=extra)
        else:
            extra = {"action": "clock_right", "seconds": seconds}
            logger.info("our clock and the service's agree again", extra=extra)


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
            touch(transaction, pause, now)
    # Repositories that an act left over are retried with the end that it gave the rest.
    for one in transaction.group_acts.with_pauses_ending_after(now - jump):
        act = transaction.group_acts.locked(one.group_act_id)
        if act is not None and act.resumes_at is not None and not act.ends_at_time_of_day:
            transaction.group_acts.save(replace(act, resumes_at=act.resumes_at + jump))
