"""Restore what was paused for a group, and nothing else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.domain.audit import Action
from bot.domain.errors import about
from bot.domain.group_acts import GroupAct, GroupOutcome, HeldPause, RepositoryResult
from bot.domain.pauses import NotPaused, OtherPause, Unpaused
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import KnownPause
from bot.ports import MergeQueue
from bot.usecases.pausing.group_work import GroupRequest, GroupWork, Report, SinceThen
from bot.usecases.pausing.recorded_pauses import know_pause
from bot.usecases.pausing.unpause_queue import UnpauseQueue, UnpauseRequest


@dataclass(frozen=True, slots=True)
class UnpauseGroup:
    """Lifts each pause that the bot made for the group, as long as it is still that pause."""

    merge_queue: MergeQueue
    unpause_queue: UnpauseQueue
    work: GroupWork

    async def run(self, request: GroupRequest, report: Report) -> GroupAct | SinceThen:
        """Raises PermissionDenied; what fails of the group is in the result."""
        await self.work.permit(request, Action.UNPAUSE)
        held = await self._held(request.group.name)
        repositories: Sequence[RepositoryName] = list(
            dict.fromkeys([*request.group.repositories, *held])
        )
        if request.again is not None:
            rest = await self.work.rest(request)
            if isinstance(rest, SinceThen):
                return rest
            repositories = rest
        act = await self.work.begin(request, Action.UNPAUSE, repositories)
        return await self.carry_out(act, report)

    async def carry_out(self, act: GroupAct, report: Report) -> GroupAct:
        """Lift what has no result yet."""
        held = await self._held(act.group)

        async def unpause(repository: RepositoryName) -> RepositoryResult:
            with about(repository):
                return await self._one(act, repository, held.get(repository))

        return await self.work.run(act, unpause, report)

    async def _held(self, group: str) -> Mapping[RepositoryName, HeldPause]:
        """Also what has left the group since: the bot paused it for the group."""
        held = await self.work.acts.store.run(
            lambda transaction: transaction.group_acts.held(group)
        )
        return {one.repository: one for one in held}

    async def _one(
        self, act: GroupAct, repository: RepositoryName, held: HeldPause | None
    ) -> RepositoryResult:
        pause = await self.merge_queue.current_pause(repository)
        if pause is None:
            await self.unpause_queue.require_running(repository)
            await self._let_go(held)
            return RepositoryResult(repository, GroupOutcome.NOT_PAUSED)
        known = await know_pause(self.work.acts.store, repository, pause)
        if held is None:
            return _left_alone(repository, GroupOutcome.NOT_OURS, known)
        if not held.is_in_force(pause):
            await self._let_go(held)
            return _left_alone(repository, GroupOutcome.REPLACED, known)
        asked = UnpauseRequest(
            repository,
            act.actor,
            act.origin,
            act.channel_id,
            expected=pause.paused_at,
            part_of=act,
        )
        match await self.unpause_queue.run(asked):
            case Unpaused():
                return RepositoryResult(repository, GroupOutcome.CHANGED)
            case NotPaused():
                await self._let_go(held)
                return RepositoryResult(repository, GroupOutcome.NOT_PAUSED)
            case OtherPause(known=other):
                await self._let_go(held)
                return _left_alone(repository, GroupOutcome.REPLACED, other)

    async def _let_go(self, held: HeldPause | None) -> None:
        """Not what somebody has paused for the group since."""
        if held is not None:
            await self.work.acts.store.run(
                lambda transaction: transaction.group_acts.let_go(
                    held.group, held.repository, held.group_act_id
                )
            )


def _left_alone(
    repository: RepositoryName, outcome: GroupOutcome, known: KnownPause | None
) -> RepositoryResult:
    return RepositoryResult(repository, outcome, known.by if known is not None else None)
