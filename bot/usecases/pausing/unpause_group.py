"""Restore what was paused for a group, and nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.domain.audit import Action, ActResult
from bot.domain.errors import about
from bot.domain.group_acts import GroupAct, GroupOutcome, RepositoryResult
from bot.domain.pause_records import NEAR, PauseRecord
from bot.domain.pauses import NotPaused, OtherPause, Unpaused
from bot.domain.queue import Pause
from bot.domain.repository import RepositoryName
from bot.ports import MergeQueue
from bot.store.transactions import Transaction
from bot.usecases.pausing.acts import made_by
from bot.usecases.pausing.group_pauses import group_act_of
from bot.usecases.pausing.group_work import GroupRequest, GroupWork, Report, SinceThen
from bot.usecases.pausing.recorded_pauses import know_pause
from bot.usecases.pausing.unpause_queue import UnpauseQueue


@dataclass(frozen=True, slots=True)
class UnpauseGroup:
    """Lifts each pause that the bot made for the group, as long as it is still that pause."""

    merge_queue: MergeQueue
    unpause_queue: UnpauseQueue
    work: GroupWork

    async def run(self, request: GroupRequest, report: Report) -> GroupAct | SinceThen:
        """Raises PermissionDenied; what fails of the group is in the result."""
        await self.work.permit(request, Action.UNPAUSE)
        held = [one.repository for one in await self.work.paused_for(request.group.name)]
        # Also what has left the group since: the bot paused it for the group.
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

        async def unpause(repository: RepositoryName) -> RepositoryResult:
            with about(repository):
                return await self._one(act, repository)

        return await self.work.run(act, unpause, report)

    async def _one(self, act: GroupAct, repository: RepositoryName) -> RepositoryResult:
        pause = await self.merge_queue.current_pause(repository)
        if pause is None:
            await self.unpause_queue.require_running(repository)
            return RepositoryResult(repository, GroupOutcome.NOT_PAUSED)
        store, now = self.work.acts.store, self.work.acts.clock.now()
        known = await know_pause(store, repository, pause)
        if not await store.run(_is_of_group, act.group, known, pause, now):
            was_paused = await store.run(_was_paused_for, act, repository)
            left_alone = GroupOutcome.REPLACED if was_paused else GroupOutcome.NOT_OURS
            return RepositoryResult(repository, left_alone, known.by_name)
        match await self.unpause_queue.run(
            act.caller, repository, expected=pause.paused_at, part_of=act
        ):
            case Unpaused():
                return RepositoryResult(repository, GroupOutcome.CHANGED)
            case NotPaused():
                return RepositoryResult(repository, GroupOutcome.NOT_PAUSED)
            case OtherPause(known=other):
                return RepositoryResult(repository, GroupOutcome.REPLACED, other.by_name)


def _is_of_group(
    transaction: Transaction, group: str, known: PauseRecord, pause: Pause, now: datetime
) -> bool:
    """Whether an act on the group made the pause, though its answer may have been lost."""
    act = group_act_of(transaction, known)
    if act is not None:
        return act.group == group
    acts = transaction.audit.since(known.repository, min(now, pause.paused_at) - NEAR)
    made = made_by(pause, acts)
    return made is not None and made.result is ActResult.STARTED and made.group == group


def _was_paused_for(transaction: Transaction, act: GroupAct, repository: RepositoryName) -> bool:
    """Whether the group's pause of the repository has given way to another."""
    acts = transaction.group_acts.pausing(act.group, before=act.group_act_id)
    changed = {one.repository for paused in acts for one in paused.of(GroupOutcome.CHANGED)}
    in_force = {one.repository for one in transaction.pauses.of_group(act.group)}
    return repository in changed | in_force
