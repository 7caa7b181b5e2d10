"""Pausing, resuming and extending all queues of a group."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.domain.audit import Action, ActResult
from bot.domain.durations import read_whole, resumes_at
from bot.domain.group_acts import (
    GroupAct,
    GroupOutcome,
    RepositoryResult,
    read_asked,
    result_of,
)
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
        end = await self.resumes_at(request)
        names = request.group.repositories
        act = await self.work.begin_or_retry(request, Action.PAUSE, names, end)
        return act if isinstance(act, SinceThen) else await self.carry_out(act, report)

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
        paused = [one.repository for one in await self._paused_for(request.group.name)]
        names = list(dict.fromkeys([*request.group.repositories, *paused]))
        act = await self.work.begin_or_retry(request, Action.RESUME, names)
        return act if isinstance(act, SinceThen) else await self.carry_out(act, report)

    async def extend(self, request: GroupRequest, report: Report) -> GroupAct | SinceThen | None:
        """Extend the group's pauses to one common end; None if none is in force.

        `request.asked` is only the length or the time of day. Raises PermissionDenied or
        InvalidDuration.
        """
        await self.work.permit(request, Action.EXTEND)
        lasting = read_whole(request.asked)
        paused = {one.repository: one for one in await self._paused_for(request.group.name)}
        if not paused:
            return None
        in_order = dict.fromkeys([*request.group.repositories, *paused])
        names = [name for name in in_order if name in paused]
        acts, now = self.work.acts, self.work.acts.clock.now()
        latest = max((one.resumes_at for one in paused.values() if one.resumes_at), default=None)
        end = await acts.new_end(request.caller.actor, latest, lasting, now)
        act = await self.work.begin_or_retry(request, Action.EXTEND, names, end)
        return act if isinstance(act, SinceThen) else await self.carry_out(act, report)

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
        is_ours = isinstance(outcome, AlreadyPaused) and (
            outcome.known.group_act_id == act.group_act_id
        )
        if is_ours:
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
        if not await store.run(_is_of_group, act.group, known, pause, now):
            was_paused = await store.run(_was_paused_for, act, repository)
            left_alone = GroupOutcome.REPLACED if was_paused else GroupOutcome.NOT_OURS
            return RepositoryResult(repository, left_alone, known.by_name)
        outcome = await self.resume_queue.run(
            act.caller, repository, expected=pause.paused_at, part_of=act
        )
        return result_of(repository, outcome)

    async def _extend(self, act: GroupAct, repository: RepositoryName) -> RepositoryResult:
        pauses = await self._paused_for(act.group)
        pause = next((one for one in pauses if one.repository == repository), None)
        if pause is None:
            return RepositoryResult(repository, GroupOutcome.NOT_PAUSED)
        outcome = await self.pause_queue.extend(
            act.caller, repository, read_whole(act.asked), expected=pause.paused_at, part_of=act
        )
        return result_of(repository, outcome)

    async def _paused_for(self, group: str) -> Sequence[PauseRecord]:
        """The group's pauses that are in force, as far as the bot knows."""
        return await self.work.acts.store.run(
            lambda transaction: transaction.pauses.of_group(group)
        )


def _is_of_group(
    transaction: Transaction, group: str, known: PauseRecord, pause: Pause, now: datetime
) -> bool:
    """Whether an act on the group made the pause, even if its answer was lost."""
    act = group_act_of(transaction, known)
    if act is not None:
        return act.group == group
    made = act_behind(transaction, known.repository, pause, now)
    return made is not None and made.result is ActResult.STARTED and made.group == group


def _was_paused_for(transaction: Transaction, act: GroupAct, repository: RepositoryName) -> bool:
    """Whether another pause has replaced the group's pause of the repository."""
    acts = transaction.group_acts.pausing(act.group, before=act.group_act_id)
    changed = {one.repository for paused in acts for one in paused.of(GroupOutcome.CHANGED)}
    in_force = {one.repository for one in transaction.pauses.of_group(act.group)}
    return repository in changed | in_force
