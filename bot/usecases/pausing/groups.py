"""Pausing, resuming and extending all queues of a group."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.domain.audit import Action, Actor, ActResult
from bot.domain.durations import For, Lasting, read_whole, resumes_at
from bot.domain.errors import about
from bot.domain.group_acts import (
    CHANGES,
    EVERY_ACT,
    GroupAct,
    GroupOutcome,
    RepositoryResult,
    read_asked,
)
from bot.domain.groups import Group
from bot.domain.pause_records import NEAR, PauseRecord, extended, timed
from bot.domain.pauses import (
    AlreadyPaused,
    Extended,
    NotPaused,
    OtherEnd,
    OtherPause,
    Paused,
    Resumed,
    check_reason,
)
from bot.domain.queue import Pause
from bot.domain.repository import RepositoryName
from bot.ports import MergeQueue
from bot.store.transactions import Transaction
from bot.usecases.pausing.acts import made_by
from bot.usecases.pausing.extend_pause import ExtendPause
from bot.usecases.pausing.group_pauses import group_act_of
from bot.usecases.pausing.group_work import GroupRequest, GroupWork, Report, SinceThen
from bot.usecases.pausing.pause_history import know_pause
from bot.usecases.pausing.pause_queue import PauseQueue
from bot.usecases.pausing.resume_queue import ResumeQueue


@dataclass(frozen=True, slots=True)
class PauseGroup:
    """Pauses all running queues and remembers which; leaves other pauses alone."""

    pause_queue: PauseQueue
    work: GroupWork

    async def permit(self, request: GroupRequest) -> None:
        """Before anything is asked: raises PermissionDenied; the audit says so."""
        await self.work.permit(request, Action.PAUSE)

    async def resumes_at(self, request: GroupRequest) -> datetime | None:
        """When the pauses end by themselves. Raises InvalidReason and InvalidDuration."""
        asked = read_asked(request.asked)
        check_reason(asked.reason)
        if asked.lasting is None:
            return None
        zone = await self.work.acts.check.zone(request.caller.actor)
        return resumes_at(asked.lasting, self.work.acts.clock.now(), zone)

    async def run(self, request: GroupRequest, report: Report) -> GroupAct | SinceThen:
        """Raises InvalidReason, InvalidDuration or PermissionDenied.

        Failures of single repositories are in the result.
        """
        await self.permit(request)
        end = await self.resumes_at(request)
        repositories: Sequence[RepositoryName] = request.group.repositories
        if request.again is not None:
            before = await self.work.act_to_go_on_with(request, CHANGES)
            if isinstance(before, SinceThen):
                return before
            repositories = before.left_to_try
            if before.resumes_at is not None and before.resumes_at > self.work.acts.clock.now():
                end = before.resumes_at
        act = await self.work.begin(request, Action.PAUSE, repositories, end)
        return await self.carry_out(act, report)

    async def carry_out(self, act: GroupAct, report: Report) -> GroupAct:
        """Pause the repositories without a result."""

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


@dataclass(frozen=True, slots=True)
class ResumeGroup:
    """Resumes each queue that the bot paused for the group, if that pause is still in force."""

    merge_queue: MergeQueue
    resume_queue: ResumeQueue
    work: GroupWork

    async def run(self, request: GroupRequest, report: Report) -> GroupAct | SinceThen:
        """Raises PermissionDenied; failures of single repositories are in the result."""
        await self.work.permit(request, Action.RESUME)
        paused = [one.repository for one in await self.work.paused_for(request.group.name)]
        # Include repositories no longer in the group, because the bot paused them for it.
        repositories: Sequence[RepositoryName] = list(
            dict.fromkeys([*request.group.repositories, *paused])
        )
        if request.again is not None:
            rest = await self.work.rest(request)
            if isinstance(rest, SinceThen):
                return rest
            repositories = rest
        act = await self.work.begin(request, Action.RESUME, repositories)
        return await self.carry_out(act, report)

    async def carry_out(self, act: GroupAct, report: Report) -> GroupAct:
        """Resume the repositories without a result."""

        async def resume(repository: RepositoryName) -> RepositoryResult:
            with about(repository):
                return await self._one(act, repository)

        return await self.work.run(act, resume, report)

    async def _one(self, act: GroupAct, repository: RepositoryName) -> RepositoryResult:
        pause = await self.merge_queue.current_pause(repository)
        if pause is None:
            await self.resume_queue.require_running(repository)
            return RepositoryResult(repository, GroupOutcome.NOT_PAUSED)
        store, now = self.work.acts.store, self.work.acts.clock.now()
        known = await know_pause(store, repository, pause)
        if not await store.run(_is_of_group, act.group, known, pause, now):
            was_paused = await store.run(_was_paused_for, act, repository)
            left_alone = GroupOutcome.REPLACED if was_paused else GroupOutcome.NOT_OURS
            return RepositoryResult(repository, left_alone, known.by_name)
        match await self.resume_queue.run(
            act.caller, repository, expected=pause.paused_at, part_of=act
        ):
            case Resumed():
                return RepositoryResult(repository, GroupOutcome.CHANGED)
            case NotPaused():
                return RepositoryResult(repository, GroupOutcome.NOT_PAUSED)
            case OtherPause(known=other):
                return RepositoryResult(repository, GroupOutcome.REPLACED, other.by_name)


def _is_of_group(
    transaction: Transaction, group: str, known: PauseRecord, pause: Pause, now: datetime
) -> bool:
    """Whether an act on the group made the pause, even if its answer was lost."""
    act = group_act_of(transaction, known)
    if act is not None:
        return act.group == group
    acts = transaction.audit.since(known.repository, min(now, pause.paused_at) - NEAR)
    made = made_by(pause, acts)
    return made is not None and made.result is ActResult.STARTED and made.group == group


def _was_paused_for(transaction: Transaction, act: GroupAct, repository: RepositoryName) -> bool:
    """Whether another pause has replaced the group's pause of the repository."""
    acts = transaction.group_acts.pausing(act.group, before=act.group_act_id)
    changed = {one.repository for paused in acts for one in paused.of(GroupOutcome.CHANGED)}
    in_force = {one.repository for one in transaction.pauses.of_group(act.group)}
    return repository in changed | in_force


@dataclass(frozen=True, slots=True)
class NothingHeld:
    """None of the group's pauses is still in force."""


@dataclass(frozen=True, slots=True)
class ExtendGroup:
    """Extends the group's pauses to one common end."""

    extend_pause: ExtendPause
    work: GroupWork

    async def permit(self, request: GroupRequest) -> None:
        """Check before asking for a time; raises PermissionDenied and audits it."""
        await self.work.permit(request, Action.EXTEND)

    async def run(
        self, request: GroupRequest, report: Report
    ) -> GroupAct | SinceThen | NothingHeld:
        """Extend; `request.asked` is only the length or the time of day.

        Raises PermissionDenied or InvalidDuration; failures of single repositories are in the
        result.
        """
        await self.permit(request)
        lasting = read_whole(request.asked)
        left = await self._left(request.group)
        end: datetime | None = None
        if request.again is not None:
            before = await self.work.act_to_go_on_with(request, EVERY_ACT)
            if isinstance(before, SinceThen):
                return before
            left = {name: left[name] for name in before.left_to_try if name in left}
            end = before.resumes_at
        if not left:
            return NothingHeld()
        if end is None or end <= self.work.acts.clock.now():
            # An end that has passed meanwhile would resume the rest immediately.
            end = await self._end(request.caller.actor, lasting, left.values())
        act = await self.work.begin(request, Action.EXTEND, list(left), end)
        return await self.carry_out(act, report)

    async def carry_out(self, act: GroupAct, report: Report) -> GroupAct:
        """Extend the repositories without a result."""
        lasting = read_whole(act.asked)
        left = await self._left(Group(act.group, act.repositories))

        async def extend(repository: RepositoryName) -> RepositoryResult:
            pause = left.get(repository)
            if pause is None:
                return RepositoryResult(repository, GroupOutcome.NOT_PAUSED)
            return await self._one(act, lasting, pause)

        return await self.work.run(act, extend, report)

    async def _one(self, act: GroupAct, lasting: Lasting, pause: PauseRecord) -> RepositoryResult:
        match await self.extend_pause.run(
            act.caller, pause.repository, lasting, expected=pause.paused_at, part_of=act
        ):
            case Extended():
                return RepositoryResult(pause.repository, GroupOutcome.CHANGED)
            case NotPaused():
                return RepositoryResult(pause.repository, GroupOutcome.NOT_PAUSED)
            case OtherPause(known=known) | OtherEnd(known=known):
                return RepositoryResult(pause.repository, GroupOutcome.REPLACED, known.by_name)

    async def _left(self, group: Group) -> dict[RepositoryName, PauseRecord]:
        """The group's pauses that are in force, as far as the bot knows."""
        paused = {one.repository: one for one in await self.work.paused_for(group.name)}
        in_order = dict.fromkeys([*group.repositories, *paused])
        return {name: paused[name] for name in in_order if name in paused}

    async def _end(self, actor: Actor, lasting: Lasting, left: Collection[PauseRecord]) -> datetime:
        """The new end, later than the latest existing one; a time of day is the person's."""
        now = self.work.acts.clock.now()
        if not isinstance(lasting, For):
            zone = await self.work.acts.check.zone(actor)
            return resumes_at(lasting, now, zone)
        latest = timed(left)[-1:]
        return extended(latest[0].resumes_at if latest else None, now, lasting.length)
