"""Unpause a queue on a person's word."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.domain.audit import Action, Actor, ActResult, AuditRecord, Origin
from bot.domain.errors import MergeQueueError, about
from bot.domain.group_acts import GroupAct, as_part
from bot.domain.pause_records import PauseEnding, PauseRecord
from bot.domain.pauses import LiftsLater, NotPaused, OtherPause, Unpaused, UnpauseOutcome
from bot.domain.repository import RepositoryName
from bot.domain.service_answers import heard
from bot.domain.snapshots import KnownPause
from bot.domain.timers import Timer
from bot.ports import MergeQueue
from bot.usecases.pausing.acts import ActLog
from bot.usecases.pausing.known_pause import know_pause
from bot.usecases.pausing.pause_timers import reason_when_set

RECALLED = timedelta(days=1)
"""How long a person who resumes a running queue is told who resumed it."""


@dataclass(frozen=True, slots=True)
class UnpauseRequest:
    """What is asked. `expected` is the time of the pause a button was drawn for, if it was.

    `part_of` is the act on a group that this is a part of. `lifts_at` is the time of the timer
    that asks.
    """

    repository: RepositoryName
    actor: Actor
    origin: Origin
    channel_id: str | None = None
    expected: datetime | None = None
    part_of: GroupAct | None = None
    lifts_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class UnpauseQueue:
    """Lifts the pause in force; a stale button lifts nothing."""

    merge_queue: MergeQueue
    acts: ActLog

    async def run(self, request: UnpauseRequest) -> UnpauseOutcome:
        """Raises PermissionDenied, QueueBusy or MergeQueueError; the audit says so."""
        await self.acts.permit(self._act(request, None))
        with about(request.repository):
            async with self.acts.turn(self._act(request, None)):
                return await self._in_turn(request)

    async def paused(self, repositories: Collection[RepositoryName]) -> set[RepositoryName]:
        """Those that are paused, as far as the bot has heard."""
        async with self.acts.store.begin() as transaction:
            return {one.repository for one in await transaction.pauses.open(repositories)}

    async def on_time(self, request: UnpauseRequest, timer: Timer) -> UnpauseOutcome | LiftsLater:
        """As `run`, for a timer, whose end somebody may change while it waits for its turn.

        Whoever set it was allowed to when they did; no request of Slack says so.
        """
        with about(request.repository):
            async with self.acts.turn(self._act(request, None)):
                async with self.acts.store.begin() as transaction:
                    now_set = await transaction.timers.locked(timer.repository, timer.paused_at)
                    saying = await reason_when_set(transaction, timer)
                if now_set is None or not now_set.is_still(timer):
                    return LiftsLater()
                return await self._in_turn(request, saying)

    async def _in_turn(self, request: UnpauseRequest, saying: str | None = None) -> UnpauseOutcome:
        """`saying` is the reason that the service held when the timer was set, if one asks."""
        current = await self.merge_queue.current_pause(request.repository)
        known = await know_pause(self.acts.store, request.repository, current)
        if known is None:
            # The service says 404 for "not paused" and "no such repository"; the status tells.
            await self.merge_queue.status(request.repository)
            await self.acts.leave(self._act(request, None), "not paused")
            return NotPaused(await self._ended_last(request.repository))
        if not _is_meant(known, request.expected, saying):
            record_id = await self.acts.leave(
                self._act(request, known), "another pause is in force"
            )
            return OtherPause(known, record_id)
        return await self._unpause(self._act(request, known), known)

    async def _unpause(self, act: AuditRecord, known: KnownPause) -> UnpauseOutcome:
        started = await self.acts.start(act)
        answers: list[str] = []
        try:
            lifted = await self.merge_queue.unpause(act.repository, hear=answers.append)
        except MergeQueueError as error:
            await self.acts.fail(started, error)
            raise
        answered = replace(started, answer=heard(answers))
        if not lifted:
            await self.acts.end(answered, ActResult.UNCHANGED)
            return NotPaused(await self._ended_last(act.repository))
        return Unpaused(await self.acts.succeed(answered), known)

    async def _ended_last(self, repository: RepositoryName) -> PauseRecord | None:
        """None while a pause is open on record: nobody knows yet who ended that one."""
        async with self.acts.store.begin() as transaction:
            known = await transaction.pauses.of(repository, self.acts.clock.now() - RECALLED)
        if any(one.is_open for one in known):
            return None
        ended = (one for one in known if one.ending is not PauseEnding.REPLACED)
        return max(ended, key=lambda one: one.ended_at or one.paused_at, default=None)

    def _act(self, request: UnpauseRequest, known: KnownPause | None) -> AuditRecord:
        record = AuditRecord(
            at=self.acts.clock.now(),
            actor=request.actor,
            action=Action.UNPAUSE,
            origin=request.origin,
            repository=request.repository,
            result=ActResult.STARTED,
            channel_id=request.channel_id,
            previous_reason=known.reason if known is not None else None,
            previous_paused_at=known.pause.paused_at if known is not None else None,
            lifts_at=request.lifts_at,
        )
        return as_part(record, request.part_of)


def _is_meant(known: KnownPause, expected: datetime | None, saying: str | None) -> bool:
    if expected is not None and not known.is_of(expected):
        return False
    return saying is None or known.says(saying)
