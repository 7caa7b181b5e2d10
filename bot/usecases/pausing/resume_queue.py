"""Resume a queue at a person's request."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.domain.audit import Action, Actor, ActResult, AuditRecord, Caller
from bot.domain.errors import (
    MergeQueueProtocolError,
    MergeQueueUnavailable,
    StaleReading,
    join_answers,
)
from bot.domain.group_acts import GroupAct
from bot.domain.groups import Group, Target
from bot.domain.pause_records import PauseEnding, PauseRecord, Timer
from bot.domain.pauses import NotPaused, OtherPause, ResumeOutcome
from bot.domain.permissions import Right
from bot.domain.queue import Pause
from bot.domain.repository import RepositoryName
from bot.ports import MergeQueue, OnAnswer
from bot.store.transactions import Transaction
from bot.usecases.pausing.acts import RECALLED, ActLog
from bot.usecases.pausing.pause_history import know_pause

OTHER = "another pause is in force"
FRESH_SECONDS = 1.0
READS = 3


IsFresh = Callable[[], bool]
"""Whether a reading is young enough to act on."""


@dataclass(frozen=True, slots=True)
class ResumeQueue:
    """Resumes the queue; a stale button changes nothing.

    The service can't resume one particular pause only. So the request leaves within FRESH_SECONDS
    of a check that showed that pause, or after another check.
    """

    merge_queue: MergeQueue
    acts: ActLog

    async def run(
        self,
        caller: Caller,
        repository: RepositoryName,
        *,
        expected: datetime | None = None,
        part_of: GroupAct | None = None,
    ) -> ResumeOutcome:
        """Resume the queue, but only from the pause that began at `expected`, if given.

        `part_of`: the act on a group that this belongs to. Raises PermissionDenied, QueueBusy,
        SecondPersonNeeded or MergeQueueError, and audits them.
        """
        act = self.acts.record(caller, Action.RESUME, repository, part_of)
        await self.acts.permit(act)
        async with self.acts.locked(act):
            return await self._under_lock(act, expected)

    async def paused_instead(
        self, meant: RepositoryName | None, repositories: Collection[RepositoryName]
    ) -> Sequence[PauseRecord]:
        """The pauses in force, as far as the bot knows; none if the queue `meant` is paused.

        Raises MergeQueueError.
        """
        known = await self.acts.store.run(lambda transaction: transaction.pauses.open(repositories))
        if meant is None or not known:
            return known
        is_known = any(one.repository == meant for one in known)
        is_paused = is_known or await self.merge_queue.current_pause(meant) is not None
        return () if is_paused else known

    async def watch(self, target: Target, actor: Actor) -> bool | None:
        """Notify the person once, after the pause in force, or the last of the group's, ends.

        A replacement counts as the pause it replaced. False if they had asked already, None if
        nothing is paused. Raises PermissionDenied.
        """
        await self.acts.check.require(actor, Right.READ)
        now = self.acts.clock.now()
        return await self.acts.store.run(_watch, target, actor.user_id, now)

    async def on_time(
        self, timed: PauseRecord, timer: Timer, part_of: GroupAct | None = None
    ) -> ResumeOutcome | None:
        """Like `run`, for a timer; None if somebody changes the end before it has the lock.

        The person who set it had permission then; there is no Slack request to check now.
        """
        act = self.acts.record(timer.caller, Action.RESUME, timed.repository, part_of)
        act = replace(act, resumes_at=timer.resumes_at)
        async with self.acts.locked(act):
            known = await self.acts.store.run(lambda transaction: transaction.pauses.locked(timed))
            if known is None or known.timer is None or not known.ends_as(timed):
                return None
            saying, is_over = known.timer.stored_reason, not known.is_open
            return await self._under_lock(act, timed.paused_at, saying, is_over=is_over)

    async def require_running(self, repository: RepositoryName) -> None:
        """For a queue without a pause: raise MergeQueueError unless its status agrees.

        The service answers 404 for "not paused", for "no such repository" and, when it has
        problems, even for a pause in force.
        """
        status = await self.merge_queue.status(repository)
        if status.paused:
            raise MergeQueueProtocolError("the status says paused, the pause says not")

    async def _under_lock(
        self,
        act: AuditRecord,
        expected: datetime | None,
        saying: str | None = None,
        *,
        is_over: bool = False,
    ) -> ResumeOutcome:
        """Resume under the repository lock. `saying` is the stored reason when a timer was set.

        `is_over`: the pause is known to have ended, so finding no other is not posted.
        """
        pause, is_fresh = await self._read_pause(act.repository)
        if pause is None:
            await self.require_running(act.repository)
            if not is_over:
                await self.acts.leave(act, "not paused")
            return NotPaused(await self._ended_last(act.repository))
        known = await know_pause(self.acts.store, act.repository, pause)
        found = replace(
            act,
            at=self.acts.clock.now(),
            previous_reason=known.reason,
            previous_paused_at=known.paused_at,
        )
        if not _is_expected(known, expected, saying):
            if is_over:
                return OtherPause(known)
            return OtherPause(known, await self.acts.leave(found, OTHER))
        await self.acts.require_second(found, known)
        return await self._resume(found, known, is_fresh)

    async def _resume(
        self, act: AuditRecord, known: PauseRecord, is_fresh: IsFresh
    ) -> ResumeOutcome:
        async with self.acts.begun(act) as (started, answers):
            resumed = await self._ask_service(known, act.repository, is_fresh, answers.append)
        if isinstance(resumed, Pause):
            other = await know_pause(self.acts.store, started.repository, resumed)
            found = replace(
                started, previous_reason=other.reason, previous_paused_at=resumed.paused_at
            )
            return OtherPause(other, await self.acts.end(found, ActResult.UNCHANGED, OTHER))
        answered = replace(started, answer=join_answers(answers))
        if not resumed:
            await self.acts.end(answered, ActResult.UNCHANGED)
            return NotPaused(await self._ended_last(act.repository))
        return await self.acts.succeed(answered)

    async def _ended_last(self, repository: RepositoryName) -> PauseRecord | None:
        """The last pause that ended; None while one is open, whose end is not known yet."""
        since = self.acts.clock.now() - RECALLED
        known = await self.acts.store.run(lambda one: one.pauses.of(repository, since))
        if any(one.is_open for one in known):
            return None
        ended = (one for one in known if one.ending is not PauseEnding.REPLACED)
        return max(ended, key=lambda one: one.ended_at or one.paused_at, default=None)

    async def _read_pause(self, repository: RepositoryName) -> tuple[Pause | None, IsFresh]:
        """Read the pause, again if the process was suspended meanwhile, but not if slow."""
        for _ in range(READS - 1):
            is_fresh = self._fresh_from_now()
            pause = await self.merge_queue.current_pause(repository)
            if is_fresh():
                return pause, is_fresh
        pause = await self.merge_queue.current_pause(repository)
        return pause, self._fresh_from_now()

    def _fresh_from_now(self) -> IsFresh:
        """Check both clocks: one ignores a machine's sleep, the other may be set."""
        clock = self.acts.clock
        at, ticks = clock.now(), clock.monotonic()

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
    ) -> bool | Pause:
        """Whether the queue was resumed; another pause if that has taken its place."""
        for _ in range(READS):
            try:
                return await self.merge_queue.resume(
                    repository, on_answer=on_answer, may_send=is_fresh
                )
            except StaleReading:
                pause, is_fresh = await self._read_pause(repository)
            if pause is None:
                return False
            is_of = known.is_of(pause.paused_at) or not pause.is_dated
            if not is_of or not known.has_reason(pause.reason):
                return pause
        problem = "the pause could not be resumed while it was known"
        raise MergeQueueUnavailable(problem, arrived=False)


def _is_expected(known: PauseRecord, expected: datetime | None, saying: str | None) -> bool:
    is_it = expected is None or known.is_of(expected)
    return is_it and (saying is None or known.has_reason(saying))


def _watch(transaction: Transaction, target: Target, user_id: str, now: datetime) -> bool | None:
    if isinstance(target, Group):
        # Locked: the last of them could end in between, without notifying this person.
        for pause in transaction.pauses.of_group(target.name):
            transaction.pauses.of(pause.repository, now)
        pauses = transaction.pauses.of_group(target.name)
    else:
        pauses = [one for one in transaction.pauses.of(target, now) if one.is_open]
    added = [transaction.resume_watchers.add(one.pause_id, user_id) for one in pauses]
    return any(added) if added else None
