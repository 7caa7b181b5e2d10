"""Give all that is paused for a group one later end, or an end where it had none."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from bot.domain.audit import Action, Actor
from bot.domain.durations import For, Lasting, lifts_at, read_whole
from bot.domain.group_acts import (
    EVERY_ACT,
    GroupAct,
    GroupOutcome,
    RepositoryResult,
)
from bot.domain.groups import Group
from bot.domain.pause_records import PauseRecord, extended, timed
from bot.domain.pauses import Extended, NotPaused, OtherEnd, OtherPause
from bot.domain.repository import RepositoryName
from bot.usecases.pausing.extend_pause import ExtendPause
from bot.usecases.pausing.group_work import GroupRequest, GroupWork, Report, SinceThen


@dataclass(frozen=True, slots=True)
class NothingHeld:
    """Nothing that was paused for the group is paused still."""


@dataclass(frozen=True, slots=True)
class ExtendGroup:
    """What is extended ends together, whatever ends its pauses had."""

    extend_pause: ExtendPause
    work: GroupWork

    async def permit(self, request: GroupRequest) -> None:
        """Before a time is asked for: raises PermissionDenied; the audit says so."""
        await self.work.permit(request, Action.EXTEND)

    async def run(
        self, request: GroupRequest, report: Report
    ) -> GroupAct | SinceThen | NothingHeld:
        """`request.asked` is the length or the time of day, and nothing else.

        Raises PermissionDenied or InvalidDuration; what fails of the group is in the result.
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
            end = before.lifts_at
        if not left:
            return NothingHeld()
        if end is None or end <= self.work.acts.clock.now():
            # An end that has passed meanwhile would lift the rest at once.
            end = await self._end(request.caller.actor, lasting, left.values())
        act = await self.work.begin(request, Action.EXTEND, list(left), end)
        return await self.carry_out(act, report)

    async def carry_out(self, act: GroupAct, report: Report) -> GroupAct:
        """Extend what has no result yet."""
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
        """What was paused for the group and is in force, as far as the bot has heard."""
        held = {one.repository: one for one in await self.work.paused_for(group.name)}
        in_order = dict.fromkeys([*group.repositories, *held])
        return {name: held[name] for name in in_order if name in held}

    async def _end(self, actor: Actor, lasting: Lasting, left: Collection[PauseRecord]) -> datetime:
        """Later than the latest end there is; a time of day is that of the person."""
        now = self.work.acts.clock.now()
        if not isinstance(lasting, For):
            zone = await self.work.acts.check.zone(actor)
            return lifts_at(lasting, now, zone)
        latest = timed(left)[-1:]
        return extended(latest[0].lifts_at if latest else None, now, lasting.length)
