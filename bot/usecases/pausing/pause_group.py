"""Pause all queues of a group on a person's word."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.domain.audit import Action
from bot.domain.durations import lifts_at
from bot.domain.group_acts import (
    CHANGES,
    GroupAct,
    GroupOutcome,
    RepositoryResult,
    read_asked,
)
from bot.domain.pauses import AlreadyPaused, Paused, check_reason
from bot.domain.repository import RepositoryName
from bot.usecases.pausing.group_work import GroupRequest, GroupWork, Report, SinceThen
from bot.usecases.pausing.pause_queue import PauseQueue


@dataclass(frozen=True, slots=True)
class PauseGroup:
    """Pauses what is not paused, and remembers which those were; leaves other pauses alone."""

    pause_queue: PauseQueue
    work: GroupWork

    async def permit(self, request: GroupRequest) -> None:
        """Before anything is asked: raises PermissionDenied; the audit says so."""
        await self.work.permit(request, Action.PAUSE)

    async def lifts_at(self, request: GroupRequest) -> datetime | None:
        """When the pauses are to lift themselves; raises InvalidReason and InvalidDuration."""
        asked = read_asked(request.asked)
        check_reason(asked.reason)
        if asked.lasting is None:
            return None
        zone = await self.work.acts.check.zone(request.caller.actor)
        return lifts_at(asked.lasting, self.work.acts.clock.now(), zone)

    async def run(self, request: GroupRequest, report: Report) -> GroupAct | SinceThen:
        """Raises InvalidReason, InvalidDuration or PermissionDenied.

        What fails of the group is in the result.
        """
        await self.permit(request)
        end = await self.lifts_at(request)
        repositories: Sequence[RepositoryName] = request.group.repositories
        if request.again is not None:
            before = await self.work.act_to_go_on_with(request, CHANGES)
            if isinstance(before, SinceThen):
                return before
            repositories = before.left_to_try
            if before.lifts_at is not None and before.lifts_at > self.work.acts.clock.now():
                end = before.lifts_at
        act = await self.work.begin(request, Action.PAUSE, repositories, end)
        return await self.carry_out(act, report)

    async def carry_out(self, act: GroupAct, report: Report) -> GroupAct:
        """Pause what has no result yet."""

        async def pause(repository: RepositoryName) -> RepositoryResult:
            reason = act.wanted.reason
            match await self.pause_queue.run(act.caller, repository, reason, part_of=act):
                case Paused():
                    return RepositoryResult(repository, GroupOutcome.CHANGED)
                case AlreadyPaused(known=known):
                    if known.group_act_id == act.group_act_id:
                        # Made before a crash cut the act off.
                        return RepositoryResult(repository, GroupOutcome.CHANGED)
                    who = known.by_name
                    return RepositoryResult(repository, GroupOutcome.ALREADY_PAUSED, who)

        return await self.work.run(act, pause, report)
