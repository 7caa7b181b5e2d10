"""Pauses that end by themselves: each one once, only that one, and groups together."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bot.acts.asked import NOTHING_ASKED
from bot.acts.errors import QueueBusy
from bot.acts.group_act import GroupAct, GroupOutcome, RepositoryResult
from bot.acts.permission import is_machine
from bot.acts.record import Action, ActResult, AuditRecord, Outcome, Previous, Where
from bot.acts.rows import Audit
from bot.kernel.actor import Actor, Origin
from bot.kernel.clock import Clock
from bot.kernel.errors import BotError, MergeQueueError, MergeQueueRefused
from bot.kernel.groups import Group
from bot.kernel.pacing import retry_delay
from bot.kernel.repository import RepositoryName
from bot.kernel.tasks import Tasks
from bot.merge_queue.errors import MergeQueueUnavailable, answer_of
from bot.pauses.group_pauses import group_act_of
from bot.pauses.group_result import result_of
from bot.pauses.group_work import GroupWork, ignore_progress
from bot.pauses.history import cards_of, touch
from bot.pauses.outcomes import NotPaused, NotYetResumed, OtherPause, Overtaken, TimedOutcome
from bot.pauses.pause import NEAR, PauseRecord, Timer, hurried
from bot.pauses.resuming import ResumeQueue
from bot.pauses.rows import Pauses
from bot.posts.delivery import Subject, SubjectKind
from bot.posts.enqueueing import enqueue_urgent, reply
from bot.store.job_lease import JobLease
from bot.store.lease_values import DUE_LEASE
from bot.store.processes import ClockJumps
from bot.store.transaction import Transaction
from bot.store.transactions import Store

logger = logging.getLogger(__name__)


LARGEST_BATCH = 10_000
"""More than the largest group has: a group that ends at one moment ends in one act and one post."""

CONCURRENT_RESUMES = 32
"""Of those that are not parts of a group. Most of them wait for nothing but the service."""

LEASE = timedelta(seconds=30)


RECHECK_DELAY = timedelta(seconds=15)
"""The delay after a check that found no pause although its record is open."""

SMALLEST_JUMP = timedelta(seconds=2)
"""A gradual correction of the clock moves it less than this between two checks."""

CLOCK_WARNING = timedelta(minutes=1)
"""The largest difference between our clock and the service's without a warning."""

LONGEST_WAIT = timedelta(minutes=1)
"""Between two tries while the service does not answer."""

REFUSED_WAIT = timedelta(minutes=1)
LONGEST_REFUSED_WAIT = timedelta(hours=1)
"""Between two tries while the service refuses: the first wait, which doubles, and the last."""

NOT_PAUSED_TWICE = 2
"""Failures after which a removal that finds no pause, though the service shows one, is told."""


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
        default_factory=lambda: Tasks("resuming by a timer failed with a defect", "expiry_defect")
    )
    concurrency: asyncio.Semaphore = field(
        default_factory=lambda: asyncio.Semaphore(CONCURRENT_RESUMES)
    )

    async def run(self) -> None:
        """Start what is due without waiting for it. Raises StoreError."""
        now = self.work.acts.clock.now()
        due = await self.work.acts.store.run(self._take_due, now, frozenset(self.under_way))
        for pauses in due:
            ids = {pause.pause_id for pause in pauses}
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
        found = Pauses(transaction).due(now, LARGEST_BATCH)
        due = [pause for pause in found if pause.pause_id not in under_way]
        if not due or self.lease.take(transaction, now) is None:
            return []
        by_act: dict[tuple[int, int, Actor | None], list[PauseRecord]] = defaultdict(list)
        for pause in due:
            # One act made them, and one person set their end.
            made_by = pause.line.group_act_id
            alone = 0 if made_by else pause.pause_id
            set_by = pause.timer.set_by if pause.timer else None
            by_act[made_by, alone, set_by].append(pause)
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
                "timed pauses couldn't be ended",
                extra={"action": "expiry_failed", "count": len(ids), "detail": str(error)},
            )
        finally:
            self.under_way.difference_update(ids)
        self.work.acts.wake()

    async def _resume_together(self, due: Sequence[PauseRecord]) -> None:
        """Run an act on a group for its timers. Each failure has its own time for the next try."""
        timer = due[0].timer
        made = await self.work.acts.store.run(group_act_of, due[0])
        if timer is None or made is None:  # the store keeps an act as long as its pauses
            raise TypeError(due[0])
        pauses = {pause.repository: pause for pause in due}
        now = self.work.acts.clock.now()
        group = Group(made.group, tuple(pauses))
        act = GroupAct.by(timer.caller, now, Action.RESUME, group, NOTHING_ASKED)
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
            return Overtaken()
        outcome: TimedOutcome
        failures = timer.failures + 1
        try:
            outcome = await self.resume_queue.on_time(timed, timer, part_of)
        except (MergeQueueError, QueueBusy) as error:
            outcome = NotYetResumed(error)
            fields = {"repository": timed.repository, "error": type(error).__name__}
            logger.warning(
                "a timed pause couldn't be ended yet",
                extra={"action": "timer_postponed", **fields, "failures": failures},
            )
        if not isinstance(outcome, Overtaken):
            wait = _wait_after(outcome, failures, self.jitter())
            now = self.work.acts.clock.now()
            await self.work.acts.store.run(_settle, timed, self.lease, outcome, wait, now)
        return outcome


def _wait_after(outcome: TimedOutcome, failures: int, jitter: float) -> timedelta:
    """How long to wait before the next try; it grows with the `failures` so far."""
    doubled = 1 << min(failures - 1, 16)
    match outcome:
        case NotPaused():
            return min(RECHECK_DELAY * doubled, LONGEST_REFUSED_WAIT)
        case NotYetResumed(MergeQueueRefused()):
            return min(REFUSED_WAIT * doubled, LONGEST_REFUSED_WAIT)
        case NotYetResumed(MergeQueueUnavailable(retry_after=hint)):
            seconds = retry_delay(failures, hint=hint, jitter=jitter)
        case _:
            seconds = retry_delay(failures, hint=None, jitter=jitter)
    return min(timedelta(seconds=seconds), LONGEST_WAIT)


def _result(repository: RepositoryName, outcome: TimedOutcome) -> RepositoryResult:
    if isinstance(outcome, Overtaken):
        why = "somebody resumed it, or changed its end, meanwhile"
    elif isinstance(outcome, NotYetResumed):
        error = outcome.error
        said = answer_of(error) if isinstance(error, MergeQueueError) else error
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
    pause = Pauses(transaction).locked(timed)
    if pause is None or pause.timer is None or not pause.ends_as(timed):
        # The lock was released: do not undo later requests of other people.
        return
    timer: Timer | None = pause.timer
    failures = pause.timer.failures + 1
    match outcome:
        case NotYetResumed():
            timer = replace(pause.timer, failures=failures, due_at=now + wait)
        case NotPaused() if pause.is_open:
            # The service may be wrong for a while. The timer ends with the pause's record.
            timer = replace(pause.timer, failures=failures, due_at=now + wait)
        case OtherPause(record_id=record_id):
            timer = None
            if record_id:
                subject = Subject(SubjectKind.ACT, pause.repository, record_id)
                identity = f"{pause.identity} stays at {pause.timer.resumes_at.isoformat()}"
                reply(transaction, subject, cards_of(transaction, pause), now, identity=identity)
        case _:
            timer = replace(pause.timer, due_at=None)
    if timer is not None and timer.failures == failures:
        timer = _tell_of_failure(transaction, pause, timer, outcome, now)
    settled = replace(pause, timer=timer)
    if timer is not None and timer.failures == 1 and pause.timer.failures == 0:
        # Live messages say so now; channels are reminded if it stays overdue for some minutes.
        settled = replace(settled, reminders=hurried(pause.reminders, now))
        touch(transaction, settled, now)
    Pauses(transaction).save(settled)


def _tell_of_failure(
    transaction: Transaction,
    pause: PauseRecord,
    timer: Timer,
    outcome: TimedOutcome,
    now: datetime,
) -> Timer:
    """Record the first failure, and tell the person who set the timer of the first refusal."""
    record = _record_of_failure(transaction, pause, timer, outcome, now)
    is_told_of = isinstance(_error(outcome), MergeQueueRefused)
    is_refused = record.outcome.answer is not None and record.outcome.circumstance is None
    if isinstance(outcome, NotPaused) and is_refused:
        is_told_of = timer.failures == NOT_PAUSED_TWICE
    if is_told_of and not timer.is_told:
        subject = Subject(SubjectKind.ACT, pause.repository, record.record_id)
        if is_machine(timer.set_by.user_id):
            cards = cards_of(transaction, pause)
            reply(transaction, subject, cards, now, identity=record.identity)
        else:
            person = timer.set_by.user_id
            enqueue_urgent(transaction, subject, [person], now, identity=record.identity)
        timer = replace(timer, is_told=True)
    return replace(timer, act_id=record.act_id or record.record_id)


def _record_of_failure(
    transaction: Transaction,
    pause: PauseRecord,
    timer: Timer,
    outcome: TimedOutcome,
    now: datetime,
) -> AuditRecord:
    """The last record of this timer, which its first attempt left; else a new one."""
    since = min(now, timer.resumes_at) - NEAR
    own = [
        act
        for act in Audit(transaction).since(pause.repository, since)
        if act.action is Action.RESUME
        and act.where.origin is Origin.TIMER
        and act.actor == timer.set_by
        and act.resumes_at == timer.resumes_at
    ]
    if own:
        return own[-1]
    error = _error(outcome)
    answer = answer_of(error) if isinstance(error, MergeQueueError) else None
    detail = str(error)[:500] if isinstance(error, QueueBusy) else None
    is_refused = isinstance(error, MergeQueueRefused)
    record = AuditRecord(
        at=now,
        actor=timer.set_by,
        action=Action.RESUME,
        where=Where(Origin.TIMER, timer.channel_id),
        repository=pause.repository,
        result=ActResult.REFUSED if is_refused else ActResult.FAILED,
        previous=Previous(pause.line.reason, pause.line.paused_at),
        resumes_at=timer.resumes_at,
        outcome=Outcome(answer, detail),
    )
    return replace(record, record_id=Audit(transaction).add(record))


def _error(outcome: TimedOutcome) -> MergeQueueError | QueueBusy | None:
    """Why the bot tries again; None for an answer."""
    return outcome.error if isinstance(outcome, NotYetResumed) else None


def due_lease(holder: str) -> JobLease:
    """The lease under which one process ends what is due and holds windows."""
    return JobLease(DUE_LEASE, holder, LEASE)


@dataclass(slots=True)
class WatchClock:
    """Reports jumps of the wall clock, and when it and the service's clock differ.

    Nothing is moved: an end is a time, and the cards say which.
    """

    store: Store
    clock: Clock
    service_ahead: Callable[[], timedelta | None]
    """How far the service's clock is ahead, from the `Date` of its answers."""

    last: tuple[datetime, float] | None = None  #: both clocks at the last run
    unstored: list[tuple[datetime, timedelta]] = field(default_factory=list)
    is_off: bool = False

    async def run(self) -> None:
        """Raises StoreError; the next run stores a jump that could not be stored."""
        now = self.clock.now()
        ticks = self.clock.monotonic()
        last_now, last_ticks = self.last or (now, ticks)
        self.last = (now, ticks)
        # How far the wall clock was set ahead since the last run; negative if set back.
        jump = now - last_now - timedelta(seconds=ticks - last_ticks)
        if abs(jump) >= SMALLEST_JUMP:
            fields = {"action": "clock_jumped", "seconds": jump.total_seconds()}
            logger.warning("the clock jumped", extra=fields)
            self.unstored.append((now, jump))
        if self.unstored:
            jumps = tuple(self.unstored)
            await self.store.run(_keep_jumps, jumps)
            self.unstored = [known for known in self.unstored if known not in jumps]
        self._compare()

    def _compare(self) -> None:
        """Log when it begins and when it ends, not at every check."""
        ahead = self.service_ahead()
        if ahead is None or (abs(ahead) > CLOCK_WARNING) is self.is_off:
            return
        self.is_off = not self.is_off
        seconds = -ahead.total_seconds()
        if self.is_off:
            extra = {"action": "clock_off", "seconds": seconds}
            logger.warning(
                "this machine's clock and the service's are more than a minute apart", extra=extra
            )
        else:
            extra = {"action": "clock_right", "seconds": seconds}
            logger.info("this machine's clock and the service's agree again", extra=extra)


def _keep_jumps(transaction: Transaction, jumps: Sequence[tuple[datetime, timedelta]]) -> None:
    for at, jump in jumps:
        # It is stored already if only the answer to an earlier commit was lost.
        ClockJumps(transaction).add(at, jump)
