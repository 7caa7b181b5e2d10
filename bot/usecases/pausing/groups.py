"""Pausing, resuming and extending all queues of a group."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from bot.domain.audit import Action, ActResult
from bot.domain.durations import read_whole, resumes_at
from bot.domain.group_acts import GroupAct, GroupOutcome, RepositoryResult, read_asked, result_of
from bot.domain.pause_records import PauseRecord
from bot.domain.pauses import AlreadyPaused, check_reason
from bot.domain.queue import Pause
from bot.domain.repository import RepositoryName
from bot.store.transactions import Transaction
from bot.usecases.pausing.group_pauses import group_act_of
from bot.usecases.pausing.group_work import GroupRequest, GroupWork, Report, SinceThen
from bot.usecases.pausing.pause_history import know_pause
from bot.usecases.pausing.pause_queue import PauseQueue
from bot.usecases.pausing.reports import act_behind
from bot.usecases.pausing.resume_queue import ResumeQueue


@dataclass(frozen=True, slots=True)
class PauseGroups:
    """Acts on groups; failures of single repositories are in the result."""

    pause_queue: PauseQueue
    resume_queue: ResumeQueue
    work: GroupWork

    async def pause(self, request: GroupRequest, report: Report) -> GroupAct | SinceThen:
        """Pause all running queues and remember which; leave other pauses alone.

        Raises InvalidReason, InvalidDuration or PermissionDenied.
        """
        await self.work.permit(request, Action.PAUSE)
        end, names = await self.resumes_at(request), request.group.repositories
        return await self.work.act(request, Action.PAUSE, names, self.carry_out, report, end)

    async def resumes_at(self, request: GroupRequest) -> datetime | None:
        """When the pauses end by themselves. Raises InvalidReason and InvalidDuration."""
        asked = read_asked(request.asked)
        check_reason(asked.reason)
        if asked.lasting is None:
            return None
        zone = await self.work.acts.check.zone(request.caller.actor)
        return resumes_at(asked.lasting, self.work.acts.clock.now(), zone)

    async def resume(self, request: GroupRequest, report: Report) -> GroupAct | SinceThen:
        """Resume each queue that the bot paused for the group, if that pause is still in force.

        Raises PermissionDenied.
        """
        await self.work.permit(request, Action.RESUME)
        # Include repositories no longer in the group, because the bot paused them for it.
        paused = await self._paused_for(request.group.name)
        names = list(dict.fromkeys([*request.group.repositories, *paused]))
        return await self.work.act(request, Action.RESUME, names, self.carry_out, report)

    async def extend(self, request: GroupRequest, report: Report) -> GroupAct | SinceThen | None:
        """Extend the group's pauses to one common end; None if none is in force.

        `request.asked` is only the length or the time of day. Raises PermissionDenied or
        InvalidDuration.
        """
        await self.work.permit(request, Action.EXTEND)
        lasting, paused = read_whole(request.asked), await self._paused_for(request.group.name)
        if not paused:
            return None
        in_order = dict.fromkeys([*request.group.repositories, *paused])
        names = [name for name in in_order if name in paused]
        latest = max((one.resumes_at for one in paused.values() if one.resumes_at), default=None)
        acts, actor = self.work.acts, request.caller.actor
        end = await acts.new_end(actor, latest, lasting, acts.clock.now())
        return await self.work.act(request, Action.EXTEND, names, self.carry_out, report, end)

    async def carry_out(self, act: GroupAct, report: Report) -> GroupAct:
        """Act on the repositories without a result."""
        works = {
            Action.PAUSE: self._pause,
            Action.RESUME: self._resume,
            Action.EXTEND: self._extend,
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
