"""Freezing all queues of a group, and ending exactly those freezes."""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.domain.audit import Action
from bot.domain.errors import FreezesNotOffered, MergeQueueError
from bot.domain.freezing import AlreadyFrozen, Frozen, NotFrozen, SeveralFreezes, Unfrozen
from bot.domain.group_acts import FREEZES, GroupAct, GroupOutcome, RepositoryResult
from bot.domain.pauses import check_reason
from bot.domain.repository import RepositoryName
from bot.domain.typed_freezes import read_freeze, read_kept
from bot.usecases.freezing.freeze_queue import FreezeQueue
from bot.usecases.pausing.group_work import GroupRequest, GroupWork, Report, SinceThen


@dataclass(frozen=True, slots=True)
class FreezeGroup:
    """Freezes the queues that aren't frozen yet, until one common end."""

    queue: FreezeQueue
    work: GroupWork

    async def require_offered(self, request: GroupRequest) -> None:
        """Raise FreezesNotOffered before anything is done; other failures are each queue's own."""
        try:
            await self.queue.freezes(request.group.repositories[0])
        except FreezesNotOffered:
            raise
        except MergeQueueError:
            return

    async def run(self, request: GroupRequest, report: Report) -> GroupAct | SinceThen:
        """Raises InvalidReason, InvalidDuration, PermissionDenied and FreezesNotOffered.

        Failures of single repositories are in the result.
        """
        await self.work.permit(request, Action.FREEZE)
        typed = read_freeze(request.asked.split())
        check_reason(typed.reason)
        end = (await self.queue.window(request.caller, typed)).end
        await self.require_offered(request)
        repositories: Sequence[RepositoryName] = request.group.repositories
        if request.again is not None:
            before = await self.work.act_to_go_on_with(request, FREEZES)
            if isinstance(before, SinceThen):
                return before
            repositories = before.left_to_try
            if before.resumes_at is not None and before.resumes_at > self.work.acts.clock.now():
                end = before.resumes_at
        act = await self.work.begin(request, Action.FREEZE, repositories, end)
        return await self.carry_out(act, report)

    async def carry_out(self, act: GroupAct, report: Report) -> GroupAct:
        """Freeze the repositories without a result."""
        typed = read_kept(act.asked)

        async def freeze(repository: RepositoryName) -> RepositoryResult:
            match await self.queue.freeze(act.caller, repository, typed, part_of=act):
                case Frozen():
                    return RepositoryResult(repository, GroupOutcome.CHANGED)
                case AlreadyFrozen(known=known):
                    if known.group_act_id == act.group_act_id:
                        # Made before a crash cut the act off.
                        return RepositoryResult(repository, GroupOutcome.CHANGED)
                    return RepositoryResult(repository, GroupOutcome.ALREADY_PAUSED, known.by)

        return await self.work.run(act, freeze, report)


@dataclass(frozen=True, slots=True)
class UnfreezeGroup:
    """Ends each freeze that the bot made for the group, if it is still there."""

    queue: FreezeQueue
    work: GroupWork

    async def run(self, request: GroupRequest, report: Report) -> GroupAct | SinceThen:
        """As for freezing; `request.asked` is only the reason."""
        await self.work.permit(request, Action.UNFREEZE)
        check_reason(request.asked)
        repositories: Sequence[RepositoryName] = request.group.repositories
        if request.again is not None:
            before = await self.work.act_to_go_on_with(request, FREEZES)
            if isinstance(before, SinceThen):
                return before
            repositories = before.left_to_try
        act = await self.work.begin(request, Action.UNFREEZE, repositories)
        return await self.carry_out(act, report)

    async def carry_out(self, act: GroupAct, report: Report) -> GroupAct:
        """End the group's freezes of the repositories without a result."""

        async def unfreeze(repository: RepositoryName) -> RepositoryResult:
            outcome = await self.queue.unfreeze(act.caller, repository, act.asked, part_of=act)
            match outcome:
                case Unfrozen():
                    return RepositoryResult(repository, GroupOutcome.CHANGED)
                case NotFrozen() | SeveralFreezes():
                    return await self._left_alone(repository)

        return await self.work.run(act, unfreeze, report)

    async def _left_alone(self, repository: RepositoryName) -> RepositoryResult:
        others = await self.queue.freezes(repository)
        if not others:
            return RepositoryResult(repository, GroupOutcome.NOT_PAUSED)
        return RepositoryResult(repository, GroupOutcome.NOT_OURS, others[0].by)
