"""Resume a queue at a person's request."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.acts.group_act import GroupAct
from bot.acts.permission import Right
from bot.acts.reason import check_reason
from bot.acts.record import Action, ActResult, AuditRecord, Circumstance, Previous
from bot.acts.recording import RECALLED, RecordActs
from bot.acts.rows import Audit
from bot.kernel.actor import Actor, Caller, Origin
from bot.kernel.errors import MergeQueueError
from bot.kernel.groups import Group, Target
from bot.kernel.repository import RepositoryName
from bot.merge_queue.errors import MergeQueueUnavailable, StaleReading, join_answers
from bot.merge_queue.port import MergeQueue, OnAnswer, UnclearChange
from bot.merge_queue.queue import Pause
from bot.pauses.history import know_pause
from bot.pauses.outcomes import NotPaused, OtherPause, Overtaken, ResumeOutcome, WatchOutcome
from bot.pauses.pause import DrawnLine, PauseRecord, Timer, drawn_line
from bot.pauses.readings import PauseReading
from bot.pauses.rows import Pauses, ResumeWatchers
from bot.pauses.second_person import require_second
from bot.pauses.settling import keep_own_reading, prove, status_says, succeed
from bot.pauses.stop import stop_by_pause
from bot.store.transaction import Transaction

ANOTHER_PAUSE = "another pause is in force"
FRESH_SECONDS = 1.0
READS = 2


IsFresh = Callable[[], bool]
"""Whether a reading is young enough to act on."""


@dataclass(frozen=True, slots=True)
class _ServiceSaid:
    """What the service said to a request to resume; by default, that the queue wasn't paused."""

    is_resumed: bool = False
    other: Pause | None = None  #: the pause that has taken the place of the one to resume
    unclear: UnclearChange | None = None  #: its answer was lost


@dataclass(frozen=True, slots=True)
class ResumeQueue:
    """Resumes the queue; a stale button changes nothing.

    The service can't resume one particular pause only. So the request leaves within FRESH_SECONDS
    of a check that showed that pause, or after another check.
    """

    merge_queue: MergeQueue
    acts: RecordActs

    async def run(
        self,
        caller: Caller,
        repository: RepositoryName,
        *,
        expected: DrawnLine | None = None,
        only_own: bool = False,
        part_of: GroupAct | None = None,
        reason: str = "",
    ) -> ResumeOutcome:
        """Resume the queue, but only from the pause as it was drawn, if `expected` is given.

        A person whose last resume failed means the same pause as then.
        `only_own`: not from anybody else's pause. `part_of`: the act on a group that this belongs
        to. `reason`: for the audit and the posts; the service takes none.
        Raises InvalidReason, and PermissionDenied, QueueBusy, SecondPersonNeeded or
        MergeQueueError, which it audits.
        """
        act = self.acts.record(caller, Action.RESUME, repository, part_of)
        if reason:
            act = replace(act, reason=check_reason(reason))
        await self.acts.permit(act)
        async with self.acts.locked(act):
            return await self._under_lock(act, expected, only_own=only_own)

    async def in_force(self, repository: RepositoryName) -> PauseRecord | None:
        """The pause that the service shows; None for a queue that runs. Raises MergeQueueError."""
        pause = await self.merge_queue.current_pause(repository)
        if pause is None:
            await self.acts.require_running(self.merge_queue, repository)
            return None
        return await know_pause(self.acts.store, repository, pause)

    async def paused_instead(
        self, meant: RepositoryName | None, repositories: Collection[RepositoryName]
    ) -> Sequence[PauseRecord]:
        """The pauses in force, as far as the bot knows; none if the queue `meant` is paused.

        Raises MergeQueueError.
        """
        known = await self.acts.store.read(
            lambda transaction: Pauses(transaction).open(repositories)
        )
        if meant is None or not known:
            return known
        is_known = any(pause.repository == meant for pause in known)
        is_paused = is_known or await self.merge_queue.current_pause(meant) is not None
        return () if is_paused else known

    async def watch(self, target: Target, actor: Actor) -> WatchOutcome:
        """Notify the person once, after the pause in force, or the last of the group's, ends.

        A replacement counts as the pause it replaced. Raises PermissionDenied.
        """
        await self.acts.check.require(actor, Right.READ)
        now = self.acts.clock.now()
        return await self.acts.store.run(_watch, target, actor.user_id, now)

    async def on_time(
        self, timed: PauseRecord, timer: Timer, part_of: GroupAct | None = None
    ) -> ResumeOutcome | Overtaken:
        """Like `run`, for a timer; Overtaken if the end has changed before it has the lock.

        The person who set it had permission then; there is no Slack request to check now.
        """
        act = self.acts.record(timer.caller, Action.RESUME, timed.repository, part_of)
        act = replace(act, resumes_at=timer.resumes_at, act_id=timer.act_id)
        async with self.acts.locked(act):
            known = await self.acts.store.run(lambda transaction: Pauses(transaction).locked(timed))
            if known is None or not known.ends_as(timed):
                return Overtaken()
            expected = drawn_line(timed.line.paused_at, timer.stored_reason)
            return await self._under_lock(act, expected, is_over=not known.is_open)

    async def _under_lock(
        self,
        act: AuditRecord,
        expected: DrawnLine | None,
        *,
        only_own: bool = False,
        is_over: bool = False,
    ) -> ResumeOutcome:
        """Resume under the repository lock.

        `is_over`: the pause is known to have ended, so finding no other is not posted.
        """
        pause, is_fresh = await self._read_pause(act.repository)
        service_at = self.merge_queue.service_time
        await keep_own_reading(self.acts, self.merge_queue, act.repository, pause)
        if pause is None:
            await self.acts.require_running(self.merge_queue, act.repository)
            if not is_over and not act.act_id:
                await self.acts.record_unchanged_as_read(act, "not paused")
            return NotPaused(await self._ended_last(act.repository))
        known = await know_pause(self.acts.store, act.repository, pause)
        found = replace(
            act,
            at=self.acts.clock.now(),
            service_at=service_at,
            previous=Previous(known.line.reason, known.line.paused_at),
        )
        is_another = expected is not None and not known.says_still(expected)
        is_others = known.pauser != act.actor.user_id
        if expected is None and is_others and act.where.origin is not Origin.MACHINE:
            before = await self.acts.store.read(_meant_before, act)
            is_another = before is not None and not known.is_of(before)
        if is_another or (only_own and is_others):
            if is_over:
                return OtherPause(known)
            return OtherPause(known, await self.acts.record_unchanged_as_read(found, ANOTHER_PAUSE))
        found = await require_second(self.acts, found, stop_by_pause(known))
        return await self._resume(found, known, is_fresh)

    async def _resume(
        self, act: AuditRecord, known: PauseRecord, is_fresh: IsFresh
    ) -> ResumeOutcome:
        async with self.acts.begun(act) as (started, answers, revision):
            said = await self._ask_service(known, act.repository, is_fresh, answers.append)
            if said.unclear is not None:
                unanswered = started.answered(join_answers(answers))
                return await self._after_lost_answer(unanswered, said.unclear, revision)
        if said.other is not None:
            other = await know_pause(self.acts.store, started.repository, said.other)
            found = replace(started, previous=Previous(other.line.reason, said.other.paused_at))
            return OtherPause(other, await self.acts.end(found, ActResult.UNCHANGED, ANOTHER_PAUSE))
        answered = started.answered(join_answers(answers))
        if not said.is_resumed and not act.act_id:
            await self.acts.end(answered, ActResult.UNCHANGED)
        if not said.is_resumed:
            return NotPaused(await self._ended_last(act.repository))
        reading = PauseReading(None, self.merge_queue.service_time)
        return await succeed(self.acts, answered, reading, revision)

    async def _after_lost_answer(
        self, started: AuditRecord, unclear: UnclearChange, revision: int
    ) -> NotPaused:
        """The queue runs, and only the log can tell whose doing that is.

        Where it is paused, or that can't be read, it raises why there was no answer.
        """
        if unclear.pause is not None:
            raise unclear.lost
        try:
            status = await self.merge_queue.status(started.repository)
        except MergeQueueError:
            raise unclear.lost from None
        reading = PauseReading(None, self.merge_queue.service_time, status_says(status))
        await prove(self.acts, started, reading, revision)
        if status.paused:
            raise unclear.lost
        if not started.act_id:
            await self.acts.end(started.under(Circumstance.FOUND_RUNNING), ActResult.FAILED)
        return NotPaused(await self._ended_last(started.repository), is_answer_lost=True)

    async def _ended_last(self, repository: RepositoryName) -> PauseRecord | None:
        """The last pause that ended; None while one is open, whose end is not known yet."""
        since = self.acts.clock.now() - RECALLED
        known = await self.acts.store.read(
            lambda transaction: Pauses(transaction).recent(repository, since)
        )
        if any(pause.is_open for pause in known):
            return None
        return max(known, key=lambda pause: pause.ended_at or pause.line.paused_at, default=None)

    async def _read_pause(self, repository: RepositoryName) -> tuple[Pause | None, IsFresh]:
        """Read the pause, and once more if that took long: the process may have been suspended.

        The second answer counts as fresh when it comes, so a slow service keeps nobody waiting.
        """
        is_fresh = self._fresh_from_now()
        pause = await self.merge_queue.current_pause(repository)
        if not is_fresh():
            pause = await self.merge_queue.current_pause(repository)
            is_fresh = self._fresh_from_now()
        return pause, is_fresh

    def _fresh_from_now(self) -> IsFresh:
        """Check both clocks: one ignores a machine's sleep, the other may be set."""
        clock = self.acts.clock
        at = clock.now()
        ticks = clock.monotonic()

        def is_fresh() -> bool:
            wall = abs((clock.now() - at).total_seconds())
            return max(wall, clock.monotonic() - ticks) <= FRESH_SECONDS

        return is_fresh

    async def _ask_service(
        self,
        known: PauseRecord,
        repository: RepositoryName,
        is_fresh: IsFresh,
        on_answer: OnAnswer,
    ) -> _ServiceSaid:
        """Resume the queue from the pause that is known, and no other."""
        for _ in range(READS):
            try:
                resumed = await self.merge_queue.resume(
                    repository, on_answer=on_answer, may_send=is_fresh
                )
            except StaleReading:
                pause, is_fresh = await self._read_pause(repository)
            else:
                if isinstance(resumed, UnclearChange):
                    return _ServiceSaid(unclear=resumed)
                return _ServiceSaid(is_resumed=resumed)
            if pause is None:
                return _ServiceSaid()
            is_of = known.is_of(pause.paused_at) or not pause.is_dated
            if not is_of or not known.has_reason(pause.reason):
                return _ServiceSaid(other=pause)
        problem = "the pause could not be resumed while it was known"
        raise MergeQueueUnavailable(problem, arrived=False)


def _meant_before(transaction: Transaction, act: AuditRecord) -> datetime | None:
    """The time of the pause that the person meant whose last resume failed; else None.

    Meanwhile somebody else may have paused the queue.
    """
    earlier = Audit(transaction).since(act.repository, act.at - RECALLED, Action.RESUME)
    own = [other for other in earlier if other.actor.user_id == act.actor.user_id]
    if not own or own[-1].result not in {ActResult.STARTED, ActResult.FAILED}:
        return None
    return own[-1].previous.paused_at


def _watch(transaction: Transaction, target: Target, user_id: str, now: datetime) -> WatchOutcome:
    if isinstance(target, Group):
        # Locked: the last of them could end in between, without notifying this person.
        for pause in Pauses(transaction).of_group(target.name):
            Pauses(transaction).lock(pause.repository)
        pauses = Pauses(transaction).of_group(target.name)
    else:
        pauses = [pause for pause in Pauses(transaction).of(target, now) if pause.is_open]
    added = [ResumeWatchers(transaction).add(known.pause_id, user_id) for known in pauses]
    if not added:
        return WatchOutcome.NOT_PAUSED
    return WatchOutcome.NEW if any(added) else WatchOutcome.KNOWN
