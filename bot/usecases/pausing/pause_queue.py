"""Pause a queue on a person's word."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.domain.audit import Action, Actor, ActResult, AuditRecord, Origin
from bot.domain.durations import Lasting, lifts_at
from bot.domain.errors import MergeQueueError, about, heard
from bot.domain.group_acts import GroupAct, as_part
from bot.domain.pause_records import PauseRecord
from bot.domain.pauses import AlreadyPaused, Paused, PauseOutcome, check_reason, signed_reason
from bot.domain.repository import RepositoryName
from bot.ports import MergeQueue
from bot.usecases.pausing.acts import ActLog
from bot.usecases.pausing.recorded_pauses import know_pause

SAME_END = timedelta(minutes=1)
"""Ends that are no further apart are the same: of two presses on one button."""


@dataclass(frozen=True, slots=True)
class PauseRequest:
    """What is asked. `replacing` is the time of the pause that may be replaced, if any may.

    `part_of` is the act on a group that this is a part of; its pauses end when it says.
    """

    repository: RepositoryName
    reason: str
    actor: Actor
    origin: Origin
    channel_id: str | None = None
    replacing: datetime | None = None
    part_of: GroupAct | None = None
    lasting: Lasting | None = None


@dataclass(frozen=True, slots=True)
class PauseQueue:
    """Pauses, unless somebody already has."""

    merge_queue: MergeQueue
    acts: ActLog

    async def run(self, request: PauseRequest) -> PauseOutcome:
        """Raises InvalidReason, InvalidDuration, PermissionDenied, QueueBusy, MergeQueueError."""
        act = self._act(request, check_reason(request.reason))
        await self.acts.permit(act)
        if request.part_of is not None:
            act = replace(act, lifts_at=request.part_of.lifts_at)
        elif request.lasting is not None:
            zone = await self.acts.check.zone(request.actor)
            act = replace(act, lifts_at=lifts_at(request.lasting, act.at, zone))
        with about(request.repository):
            async with self.acts.turn(act):
                return await self._in_turn(request, act)

    async def permit(self, request: PauseRequest, *others: PauseRequest) -> None:
        """Before a reason is asked for: raises PermissionDenied; the audit says so.

        `others` name the other repositories that may yet be chosen.
        """
        act = self._act(request, request.reason)
        await self.acts.permit(act, *(self._act(each, each.reason) for each in others))

    async def _in_turn(self, request: PauseRequest, act: AuditRecord) -> PauseOutcome:
        current = await self.merge_queue.current_pause(request.repository)
        if current is None:
            return await self._pause(act, None)
        await self.acts.settle(request.repository, current)
        known = await know_pause(self.acts.store, request.repository, current)
        is_same = _says_so_already(known, act)
        if not known.is_of(request.replacing) or is_same:
            await self.acts.leave(act, "already paused")
            return AlreadyPaused(known, act.reason or "", request.lasting, is_same=is_same)
        before = replace(
            act,
            previous_reason=known.reason,
            previous_paused_at=known.paused_at,
            lifts_at=act.lifts_at or known.end_to_come(act.at),
        )
        return await self._pause(before, known)

    async def _pause(self, act: AuditRecord, known: PauseRecord | None) -> Paused:
        started = await self.acts.start(act)
        answers: list[str] = []
        try:
            pause = await self.merge_queue.pause(
                act.repository, act.stored_reason or "", hear=answers.append
            )
        except MergeQueueError as error:
            await self.acts.fail(started, error)
            raise
        done = replace(
            started,
            stored_reason=pause.reason,
            paused_at=pause.paused_at,
            answer=heard(answers),
        )
        return Paused(await self.acts.succeed(done), known)

    def _act(self, request: PauseRequest, reason: str) -> AuditRecord:
        record = AuditRecord(
            at=self.acts.clock.now(),
            actor=request.actor,
            action=Action.PAUSE,
            origin=request.origin,
            repository=request.repository,
            result=ActResult.STARTED,
            channel_id=request.channel_id,
            reason=reason,
            stored_reason=signed_reason(reason, request.actor),
        )
        return as_part(record, request.part_of) if request.part_of is not None else record


def _says_so_already(known: PauseRecord, act: AuditRecord) -> bool:
    """Whether the same person paused with that reason, and with that end if they gave one."""
    if known.by is None or known.by.user_id != act.actor.user_id or known.reason != act.reason:
        return False
    if act.lifts_at is None:
        return True
    return known.lifts_at is not None and abs(known.lifts_at - act.lifts_at) < SAME_END
