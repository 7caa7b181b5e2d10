"""Pause all queues of a group on a person's word."""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.domain.audit import Action
from bot.domain.group_acts import GroupAct, GroupOutcome, RepositoryResult
from bot.domain.pauses import AlreadyPaused, Paused, check_reason
from bot.domain.repository import RepositoryName
from bot.usecases.group_work import GroupRequest, GroupWork, Report, SinceThen
from bot.usecases.pause_queue import PauseQueue, PauseRequest


@dataclass(frozen=True, slots=True)
class PauseGroup:
    """Pauses what is not paused, and remembers which those were; leaves other pauses alone."""

    pause_queue: PauseQueue
    work: GroupWork

    async def permit(self, request: GroupRequest) -> None:
        """Before anything is asked: raises PermissionDenied; the audit says so."""
        await self.work.permit(request, Action.PAUSE)

    async def run(self, request: GroupRequest, report: Report) -> GroupAct | SinceThen:
        """Raises InvalidReason or PermissionDenied; what fails of the group is in the result."""
        reason = check_reason(request.asked)
        await self.permit(request)
        repositories: Sequence[RepositoryName] = request.group.repositories
        if request.again is not None:
            rest = await self.work.rest(request)
            if isinstance(rest, SinceThen):
                return rest
            repositories = rest
        act = await self.work.begin(request, Action.PAUSE, repositories)

        async def pause(repository: RepositoryName) -> RepositoryResult:
            asked = PauseRequest(
                repository,
                reason,
                request.actor,
                request.origin,
                request.channel_id,
                part_of=act,
            )
            match await self.pause_queue.run(asked):
                case Paused():
                    return RepositoryResult(repository, GroupOutcome.CHANGED)
                case AlreadyPaused(known=known):
                    who = known.actor.name if known.actor is not None else None
                    return RepositoryResult(repository, GroupOutcome.ALREADY_PAUSED, who)

        return await self.work.run(act, request, pause, report)
