"""Unpause a queue on a person's word."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

from bot.domain.audit import Action, ActResult, AuditRecord, Caller
from bot.domain.errors import (
    LookedTooLongAgo,
    MergeQueueError,
    MergeQueueProtocolError,
    MergeQueueUnavailable,
    about,
    heard,
)
from bot.domain.group_acts import GroupAct
from bot.domain.pause_records import PauseEnding, PauseRecord, Timer
from bot.domain.pauses import LiftsLater, NotPaused, OtherPause, Unpaused, UnpauseOutcome
from bot.domain.queue import Pause
from bot.domain.repository import RepositoryName
from bot.ports import Hear, MergeQueue
from bot.usecases.pausing.acts import ActLog
from bot.usecases.pausing.pause_history import know_pause

RECALLED = timedelta(days=1)
"""How long a person who resumes a running queue is told who resumed it."""

FRESH_SECONDS = 1.0
LOOKS = 3


@dataclass(frozen=True, slots=True)
class _Look:
    """The pause that was read, and when that was asked for, by the wall clock and in ticks."""

    pause: Pause | None
    at: datetime
    ticks: float


@dataclass(frozen=True, slots=True)
class UnpauseQueue:
    """Lifts the pause in force; a stale button lifts nothing.

    The service cannot be asked to lift one certain pause only. So the request leaves within
    FRESH_SECONDS of a look that showed that pause, or after another look.
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
    ) -> UnpauseOutcome:
        """Lift the pause; that one which began at `expected`, if that is given, and no other.

        `part_of` is the act on a group that this is a part of. Raises PermissionDenied, QueueBusy
        or MergeQueueError; the audit says so.
        """
        act = self.acts.record(caller, Action.UNPAUSE, repository, part_of)
        await self.acts.permit(act)
        with about(repository):
            async with self.acts.locked(act):
                return await self._in_turn(act, expected)

    async def paused(self, repositories: Collection[RepositoryName]) -> set[RepositoryName]:
        """Those that are paused, as far as the bot has heard."""
        paused = await self.acts.store.run(
            lambda transaction: transaction.pauses.open(repositories)
        )
        return {one.repository for one in paused}

    async def on_time(
        self, timed: PauseRecord, timer: Timer, part_of: GroupAct | None = None
    ) -> UnpauseOutcome | LiftsLater:
        """As `run`, for a timer, whose end somebody may change while it waits for its turn.

        Whoever set it was allowed to when they did; no request of Slack says so.
        """
        act = self.acts.record(timer.caller, Action.UNPAUSE, timed.repository, part_of)
        act = replace(act, lifts_at=timer.lifts_at)
        with about(timed.repository):
            async with self.acts.locked(act):
                known = await self.acts.store.run(
                    lambda transaction: transaction.pauses.locked(timed)
                )
                if known is None or known.timer is None or not known.ends_as(timed):
                    return LiftsLater()
                saying = known.timer.stored_reason
                return await self._in_turn(act, timed.paused_at, saying, is_over=not known.is_open)

    async def require_running(self, repository: RepositoryName) -> None:
        """For a queue without a pause: raise MergeQueueError unless its status agrees.

        The service says 404 for "not paused", for "no such repository" and, when something is
        wrong with it, of a pause that is in force.
        """
        status = await self.merge_queue.status(repository)
        if status.paused:
            raise MergeQueueProtocolError("the status says paused, the pause says not")

    async def _in_turn(
        self,
        act: AuditRecord,
        expected: datetime | None,
        saying: str | None = None,
        *,
        is_over: bool = False,
    ) -> UnpauseOutcome:
        """`saying` is the reason that the service held when the timer was set, if one asks.

        `is_over`: as far as is known its pause has ended, and nobody hears that it found no other.
        """
        look = await self._look(act.repository)
        if look.pause is None:
            await self.require_running(act.repository)
            if not is_over:
                await self.acts.leave(act, "not paused")
            return NotPaused(await self._ended_last(act.repository))
        known = await know_pause(self.acts.store, act.repository, look.pause)
        found = replace(
            act,
            at=self.acts.clock.now(),
            previous_reason=known.reason,
            previous_paused_at=known.paused_at,
        )
        if not _is_meant(known, expected, saying):
            if is_over:
                return OtherPause(known)
            record_id = await self.acts.leave(found, "another pause is in force")
            return OtherPause(known, record_id)
        return await self._unpause(found, known, look)

    async def _unpause(self, act: AuditRecord, known: PauseRecord, look: _Look) -> UnpauseOutcome:
        started = await self.acts.start(act)
        answers: list[str] = []
        try:
            lifted = await self._lift(known, act.repository, look, answers.append)
        except MergeQueueError as error:
            await self.acts.fail(started, error)
            raise
        if isinstance(lifted, Pause):
            return await self._leave_other(started, lifted)
        answered = replace(started, answer=heard(answers))
        if not lifted:
            await self.acts.end(answered, ActResult.UNCHANGED)
            return NotPaused(await self._ended_last(act.repository))
        return Unpaused(await self.acts.succeed(answered), known)

    async def _ended_last(self, repository: RepositoryName) -> PauseRecord | None:
        """None while a pause is open on record: nobody knows yet who ended that one."""
        since = self.acts.clock.now() - RECALLED
        known = await self.acts.store.run(
            lambda transaction: transaction.pauses.of(repository, since)
        )
        if any(one.is_open for one in known):
            return None
        ended = (one for one in known if one.ending is not PauseEnding.REPLACED)
        return max(ended, key=lambda one: one.ended_at or one.paused_at, default=None)

    async def _look(self, repository: RepositoryName) -> _Look:
        """A process that was stopped meanwhile looks again; a service that is slow stays slow."""
        clock, looks = self.acts.clock, 0
        while True:
            at, ticks, looks = clock.now(), clock.monotonic(), looks + 1
            look = _Look(await self.merge_queue.current_pause(repository), at, ticks)
            if self._is_fresh(look):
                return look
            if looks == LOOKS:
                return replace(look, at=clock.now(), ticks=clock.monotonic())

    def _is_fresh(self, look: _Look) -> bool:
        """By both clocks: one does not count a machine's sleep, the other may be set."""
        clock = self.acts.clock
        wall = abs((clock.now() - look.at).total_seconds())
        return max(wall, clock.monotonic() - look.ticks) <= FRESH_SECONDS

    async def _lift(
        self, known: PauseRecord, repository: RepositoryName, look: _Look, hear: Hear
    ) -> bool | Pause:
        """Whether a pause was lifted; another pause where that has come in its place."""
        for _ in range(LOOKS):
            try:
                return await self.merge_queue.unpause(
                    repository, hear=hear, may_send=partial(self._is_fresh, look)
                )
            except LookedTooLongAgo:
                look = await self._look(repository)
            if look.pause is None:
                return False
            is_of = known.is_of(look.pause.paused_at) or not look.pause.is_dated
            if not is_of or not known.says(look.pause.reason):
                return look.pause
        raise MergeQueueUnavailable(
            "the pause could not be resumed while it was known", arrived=False
        )

    async def _leave_other(self, started: AuditRecord, pause: Pause) -> OtherPause:
        known = await know_pause(self.acts.store, started.repository, pause)
        found = replace(started, previous_reason=known.reason, previous_paused_at=pause.paused_at)
        detail = "another pause is in force"
        return OtherPause(known, await self.acts.end(found, ActResult.UNCHANGED, detail))


def _is_meant(known: PauseRecord, expected: datetime | None, saying: str | None) -> bool:
    if expected is not None and not known.is_of(expected):
        return False
    return saying is None or known.says(saying)
