"""Pausing, resuming, extending, freezing and unfreezing all queues of a group."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from bot.domain.audit import Action, ActResult, Caller
from bot.domain.durations import read_whole
from bot.domain.group_acts import GroupAct, GroupOutcome, RepositoryResult, result_of
from bot.domain.groups import Group
from bot.domain.pause_records import PauseRecord
from bot.domain.pauses import AlreadyPaused, check_reason
from bot.domain.queue import Pause
from bot.domain.repository import RepositoryName
from bot.store.transactions import Transaction
from bot.usecases.freezing import FreezeQueue
from bot.usecases.pausing.group_pauses import group_act_of
from bot.usecases.pausing.group_work import GroupRequest, GroupWork, Report, SinceThen
from bot.usecases.pausing.pause_history import know_pause
from bot.usecases.pausing.pause_queue import PauseQueue
from bot.usecases.pausing.reports import act_behind
from bot.usecases.pausing.resume_queue import ResumeQueue


@dataclass(frozen=True, slots=True)
class ActOnGroups:
    """Pauses, resumes, extends, freezes and unfreezes; failures of single queues are in the result.

    Everything that one act makes ends at the same time.
    """

    pause_queue: PauseQueue
    resume_queue: ResumeQueue
    freeze_queue: FreezeQueue
    work: GroupWork

    async def act(self, request: GroupRequest, report: Report) -> GroupAct | SinceThen | None:
        """Act on each queue; None if there is no pause to extend.

        Raises PermissionDenied, InvalidReason, InvalidDuration and FreezesNotOffered.
        """
        action, group, asked = request.action, request.group, request.asked
        await self.work.acts.permit_all(
            request.caller,
            action,
            group.repositories,
            group=group.name,
            reason=asked.written or None,
        )
        paused: Mapping[RepositoryName, PauseRecord] = {}
        if action in {Action.RESUME, Action.EXTEND}:
            paused = await self._paused_for(group.name)
        else:
            check_reason(asked.reason)
        # Include repositories no longer in the group, because the bot paused them for it.
        names = tuple(dict.fromkeys([*group.repositories, *paused]))
        if action is Action.EXTEND:
            names = tuple(name for name in names if name in paused)
            if not names:
                return None
        end = await self._end(request, paused.values())
        if action is Action.FREEZE:
            await self.freeze_queue.require_offered(names[0])
        return await self.work.act(request, names, self.carry_out, report, end)

    async def again(self, caller: Caller, group: Group, act_id: int) -> GroupRequest | None:
        """The same request for the rest of the act; None if the act isn't known any more."""
        act = await self.work.acts.store.run(lambda transaction: transaction.group_acts.one(act_id))
        if act is None or act.group != group.name:
            return None
        return GroupRequest(act.action, group, caller, act.wanted, act_id)

    async def _end(self, request: GroupRequest, paused: Iterable[PauseRecord]) -> datetime | None:
        """The one end of all that the act makes."""
        caller, asked, acts = request.caller, request.asked, self.work.acts
        if request.action is Action.FREEZE:
            return (await self.freeze_queue.terms(caller, asked)).end
        if asked.lasting is None:
            return None
        latest = max((one.resumes_at for one in paused if one.resumes_at), default=None)
        return await acts.new_end(caller.actor, latest, asked.lasting, acts.clock.now())

    async def carry_out(self, act: GroupAct, report: Report) -> GroupAct:
        """Act on the repositories without a result."""
        works = {
            Action.PAUSE: self._pause,
            Action.RESUME: self._resume,
            Action.EXTEND: self._extend,
            Action.FREEZE: self._freeze,
            Action.UNFREEZE: self._unfreeze,
        }
        return await self.work.run(act, works[act.action], report)

    async def _pause(self, act: GroupAct, repository: RepositoryName) -> RepositoryResult:
        outcome = await self.pause_queue.run(act.caller, repository, act.wanted.reason, part_of=act)
        if isinstance(outcome, AlreadyPaused) and outcome.known.group_act_id == act.group_act_id:
            # Made before a crash cut the act off.
            return RepositoryResult(repository, GroupOutcome.CHANGED)
        return result_of(repository, outcome)

    async def _resume(self, act: GroupAct, repository: RepositoryName) -> RepositoryResult:
        pause = await self.resume_queue.merge_queue.current_pause(repository)
        if pause is None:
            await self.resume_queue.require_running(repository)
            return RepositoryResult(repository, GroupOutcome.NOT_PAUSED)
        store, now = self.work.acts.store, self.work.acts.clock.now()
        known = await know_pause(store, repository, pause)
        left_alone = await store.run(_left_alone, act, known, pause, now)
        if left_alone is not None:
            return RepositoryResult(repository, left_alone, known.by_name)
        outcome = await self.resume_queue.run(
            act.caller, repository, expected=pause.paused_at, part_of=act
        )
        return result_of(repository, outcome)

    async def _extend(self, act: GroupAct, repository: RepositoryName) -> RepositoryResult:
        pause = (await self._paused_for(act.group)).get(repository)
        if pause is None:
            return RepositoryResult(repository, GroupOutcome.NOT_PAUSED)
        outcome = await self.pause_queue.extend(
            act.caller, repository, read_whole(act.asked), expected=pause.paused_at, part_of=act
        )
        return result_of(repository, outcome)

    async def _freeze(self, act: GroupAct, repository: RepositoryName) -> RepositoryResult:
        outcome = await self.freeze_queue.freeze(act.caller, repository, act.wanted, part_of=act)
        known = outcome.freezes[0]
        if outcome.because is None or known.group_act_id == act.group_act_id:
            # One that is there already was made before a crash cut the act off.
            return RepositoryResult(repository, GroupOutcome.CHANGED)
        return RepositoryResult(repository, GroupOutcome.ALREADY_PAUSED, known.by)

    async def _unfreeze(self, act: GroupAct, repository: RepositoryName) -> RepositoryResult:
        outcome = await self.freeze_queue.unfreeze(
            act.caller, repository, act.wanted.reason, part_of=act
        )
        if outcome.because is None:
            return RepositoryResult(repository, GroupOutcome.CHANGED)
        others = await self.freeze_queue.freezes(repository)
        if not others:
            return RepositoryResult(repository, GroupOutcome.NOT_PAUSED)
        return RepositoryResult(repository, GroupOutcome.NOT_OURS, others[0].by)

    async def _paused_for(self, group: str) -> Mapping[RepositoryName, PauseRecord]:
        """The group's pauses that are in force, as far as the bot knows."""
        found = await self.work.acts.store.run(
            lambda transaction: transaction.pauses.of_group(group)
        )
        return {one.repository: one for one in found}


def _left_alone(
    transaction: Transaction, act: GroupAct, known: PauseRecord, pause: Pause, now: datetime
) -> GroupOutcome | None:
    """None if an act on the group made the pause, even if its answer was lost.

    REPLACED if this pause has replaced the group's.
    """
    made = group_act_of(transaction, known)
    part = None if made is not None else act_behind(transaction, known.repository, pause, now)
    is_lost = part is not None and part.result is ActResult.STARTED and part.group == act.group
    if is_lost or (made is not None and made.group == act.group):
        return None
    acts = transaction.group_acts.pausing(act.group, before=act.group_act_id)
    changed = {one.repository for paused in acts for one in paused.of(GroupOutcome.CHANGED)}
    changed |= {one.repository for one in transaction.pauses.of_group(act.group)}
    return GroupOutcome.REPLACED if known.repository in changed else GroupOutcome.NOT_OURS
