"""Pausing, resuming, extending, freezing and unfreezing all queues of a group."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.acts.asked import Asked
from bot.acts.group_act import (
    CHANGES,
    GroupAct,
    GroupOutcome,
    RepositoryResult,
    acts_like,
    in_group_order,
)
from bot.acts.group_acts import GroupActs
from bot.acts.reason import check_reason
from bot.acts.record import Action, AuditRecord
from bot.acts.rows import Audit
from bot.freezes.freezing import FreezeQueue
from bot.kernel.actor import Actor, Caller
from bot.kernel.durations import SHORTEST, Until, resumes_at
from bot.kernel.errors import is_uncertain
from bot.kernel.groups import Group
from bot.kernel.repository import RepositoryName
from bot.merge_queue.queue import Pause
from bot.pauses.group_pauses import group_act_of
from bot.pauses.group_result import result_of
from bot.pauses.group_work import GroupWork, Report, SinceThen, ignore_progress, on_each
from bot.pauses.history import know_pause
from bot.pauses.known import ActCertainty, Shown
from bot.pauses.observe import act_that_made
from bot.pauses.outcomes import AlreadyPaused
from bot.pauses.pause import PauseRecord
from bot.pauses.pausing import PauseQueue
from bot.pauses.requests import proposed_line
from bot.pauses.resuming import ResumeQueue
from bot.pauses.rows import Pauses
from bot.pauses.stored import load_stored
from bot.store.transaction import Transaction


@dataclass(frozen=True, slots=True)
class ActOnGroups:
    """Pauses, resumes, extends, freezes and unfreezes; failures of single queues are in the result.

    Everything that one act makes ends at the same time.
    """

    pause_queue: PauseQueue
    resume_queue: ResumeQueue
    freeze_queue: FreezeQueue
    work: GroupWork

    async def act(
        self, act: GroupAct, report: Report, *, again: int | None = None
    ) -> GroupAct | SinceThen | None:
        """Act on each queue; None if there is no pause to extend.

        `again`: the id of the act whose rest to retry.
        Raises PermissionDenied, InvalidReason, InvalidDuration and FreezesNotOffered.
        """
        action = act.action
        asked = act.asked
        await self.work.acts.permit_all(
            act.caller, action, act.repositories, group=act.group, reason=asked.written or None
        )
        paused: Mapping[RepositoryName, PauseRecord] = {}
        if action in {Action.RESUME, Action.EXTEND}:
            paused = await self._paused_for(act.group)
        _check_reason(action, asked)
        names = await self._named(act, paused)
        if action is Action.EXTEND:
            names = tuple(name for name in names if name in paused)
            if not names:
                return None
        end = await self._end(act, paused.values())
        if action is Action.FREEZE:
            await self.freeze_queue.require_offered(names[0])
        if again is not None:
            # Somebody may have resumed the group after a pause that half failed. Pausing the other
            # half then would be the opposite of what people want.
            before = await self._latest(act)
            if before is None or before.group_act_id != again or not before.left_to_try:
                return SinceThen(before)
            names = _left_to_try(before, act)
            if before.resumes_at is not None and before.resumes_at > self.work.acts.clock.now():
                end = before.resumes_at
        begun = await self.work.begin(replace(act, repositories=names, resumes_at=end), again)
        return await self.carry_out(begun, report)

    async def _named(
        self, act: GroupAct, paused: Iterable[RepositoryName]
    ) -> tuple[RepositoryName, ...]:
        """Those of the act, and those no longer in the group that were paused or frozen for it."""
        if act.approved is not None:
            return act.repositories
        left = paused
        if act.action is Action.UNFREEZE:
            left = await self.freeze_queue.left_by(Group(act.group, act.repositories))
        return tuple(dict.fromkeys([*act.repositories, *left]))

    async def _latest(self, act: GroupAct) -> GroupAct | None:
        rivals = CHANGES if act.action in CHANGES else acts_like(act.action)
        return await self.work.acts.store.read(
            lambda transaction: GroupActs(transaction).latest(act.group, rivals)
        )

    async def again(self, caller: Caller, group: Group, act_id: int) -> GroupAct | None:
        """The same act for its rest, of the same proposal; None if the act isn't known any more."""
        acts = self.work.acts
        now = acts.clock.now()
        act = await acts.store.read(lambda transaction: GroupActs(transaction).one(act_id))
        if act is None or act.group != group.name:
            return None
        asked = act.asked
        if asked.start is not None:
            # A time of day is the first actor's; once it has passed, the rest begins at once.
            zone = await acts.check.zone(act.actor)
            start = resumes_at(asked.start, act.at, zone)
            if start - now >= SHORTEST:
                asked = replace(asked, start=Until(start.time(), start.date(), "UTC"))
            else:
                asked = replace(asked, start=None)
        caller = replace(caller, approved=act.approved)
        return GroupAct.by(caller, now, act.action, group, asked)

    async def _end(self, act: GroupAct, paused: Iterable[PauseRecord]) -> datetime | None:
        """The one end of all that the act makes."""
        caller = act.caller
        asked = act.asked
        acts = self.work.acts
        if act.action is Action.FREEZE:
            terms = await self.freeze_queue.terms(caller, asked)
            return terms.end
        if asked.lasting is None:
            return None
        ends = [pause.resumes_at for pause in paused if pause.resumes_at]
        latest = max(ends, default=None)
        return await acts.new_end(caller.actor, latest, asked.lasting, acts.clock.now())

    async def carry_out(self, act: GroupAct, report: Report) -> GroupAct:
        """Act on each repository of the act, which has begun."""
        works = {
            Action.PAUSE: self._pause,
            Action.RESUME: self._resume,
            Action.EXTEND: self._extend,
            Action.FREEZE: self._freeze,
            Action.UNFREEZE: self._unfreeze,
        }
        return await self.work.run(act, works[act.action], report)

    async def _pause(self, act: GroupAct, repository: RepositoryName) -> RepositoryResult:
        reason = act.asked.reason
        outcome = await self.pause_queue.run(act.caller, repository, reason, part_of=act)
        if isinstance(outcome, AlreadyPaused) and outcome.is_as_asked(act.actor, reason):
            return RepositoryResult(repository, GroupOutcome.AS_ASKED, outcome.known.by_name)
        return result_of(repository, outcome)

    async def _resume(self, act: GroupAct, repository: RepositoryName) -> RepositoryResult:
        pause = await self.resume_queue.merge_queue.current_pause(repository)
        if pause is None:
            resuming = self.resume_queue
            await resuming.acts.require_running(resuming.merge_queue, repository)
            return RepositoryResult(repository, GroupOutcome.NOT_PAUSED)
        store = self.work.acts.store
        now = self.work.acts.clock.now()
        known = await know_pause(store, repository, pause)
        left_alone = await store.run(_left_alone, act, known, pause, now)
        if left_alone is not None:
            return RepositoryResult(repository, left_alone, known.by_name)
        proposal = await store.read(_proposal, act, repository)
        outcome = await self.resume_queue.run(
            act.caller,
            repository,
            expected=known.drawn if proposal is None else proposed_line(proposal),
            part_of=act,
            reason=act.asked.reason,
        )
        return result_of(repository, outcome)

    async def _extend(self, act: GroupAct, repository: RepositoryName) -> RepositoryResult:
        paused = await self._paused_for(act.group)
        pause = paused.get(repository)
        if pause is None:
            return RepositoryResult(repository, GroupOutcome.NOT_PAUSED)
        outcome = await self.pause_queue.extend(
            act.caller, repository, act.asked.lasting, expected=pause.drawn, part_of=act
        )
        return result_of(repository, outcome)

    async def _freeze(self, act: GroupAct, repository: RepositoryName) -> RepositoryResult:
        outcome = await self.freeze_queue.freeze(act.caller, repository, act.asked, part_of=act)
        known = outcome.freezes[0]
        if outcome.because is None:
            return RepositoryResult(repository, GroupOutcome.CHANGED)
        if not known.has_begun(act.at):
            return RepositoryResult(repository, GroupOutcome.ALREADY_PLANNED, known.by)
        if known.is_made_by(act.actor) and known.reason == act.asked.reason.strip():
            return RepositoryResult(repository, GroupOutcome.AS_ASKED, known.by)
        return RepositoryResult(repository, GroupOutcome.ALREADY_PAUSED, known.by)

    async def _unfreeze(self, act: GroupAct, repository: RepositoryName) -> RepositoryResult:
        proposal = await self.work.acts.store.read(_proposal, act, repository)
        outcome = await self.freeze_queue.unfreeze(
            act.caller,
            repository,
            act.asked.reason,
            part_of=act,
            only=proposal.freezes if proposal is not None else None,
        )
        if outcome.error is not None and is_uncertain(outcome.error):
            raise outcome.error
        if outcome.error is not None:
            left = len(outcome.left)
            count = "1 freeze is" if left == 1 else f"{left} freezes are"
            said = f"{count} left: {outcome.error}"[:500]
            return RepositoryResult(repository, GroupOutcome.FAILED, detail=said)
        if outcome.because is None:
            return RepositoryResult(repository, GroupOutcome.CHANGED)
        return await self._left_frozen(act, repository)

    async def left_as_they_are(self, act: GroupAct) -> GroupAct:
        """How the queues are, where the act, which isn't carried out, would end nothing."""
        look = self._left_paused if act.action is Action.RESUME else self._left_frozen
        found = await on_each(act, look, ignore_progress)
        results = in_group_order(act.repositories, found.results)
        return replace(found, results=results, ended_at=self.work.acts.clock.now())

    async def _left_paused(self, _act: GroupAct, repository: RepositoryName) -> RepositoryResult:
        known = await self.resume_queue.in_force(repository)
        if known is None:
            return RepositoryResult(repository, GroupOutcome.NOT_PAUSED)
        return RepositoryResult(repository, GroupOutcome.NOT_OURS, known.by_name)

    async def _left_frozen(self, _act: GroupAct, repository: RepositoryName) -> RepositoryResult:
        others = await self.freeze_queue.freezes(repository)
        if not others:
            return RepositoryResult(repository, GroupOutcome.NOT_PAUSED)
        now = self.work.acts.clock.now()
        for other in others:
            if other.has_begun(now):
                return RepositoryResult(repository, GroupOutcome.NOT_OURS, other.by)
        return RepositoryResult(repository, GroupOutcome.ALREADY_PLANNED, others[0].by)

    async def paused_alone(self, caller: Caller, group: Group) -> Sequence[PauseRecord]:
        """The pauses in force of the group's queues, if none of them was made through the group.

        Resuming the group ends none of these. Raises PermissionDenied, recorded once.
        """
        names = group.repositories
        acts = self.work.acts
        await acts.permit_all(caller, Action.RESUME, names, group=group.name)
        if await self._paused_for(group.name):
            return ()
        return await acts.store.read(lambda transaction: Pauses(transaction).open(names))

    async def _paused_for(self, group: str) -> Mapping[RepositoryName, PauseRecord]:
        """The group's pauses that are in force, as far as the bot knows."""
        found = await self.work.acts.store.read(
            lambda transaction: Pauses(transaction).of_group(group)
        )
        return {result.repository: result for result in found}


def _left_to_try(before: GroupAct, act: GroupAct) -> tuple[RepositoryName, ...]:
    """The rest of an act; of what a machine proposed, only what is still open."""
    if act.approved is None:
        return before.left_to_try
    return tuple(name for name in before.left_to_try if name in act.repositories)


def _proposal(
    transaction: Transaction, act: GroupAct, repository: RepositoryName
) -> AuditRecord | None:
    """What a machine proposed for the repository, if the act carries that out."""
    if act.approved is None:
        return None
    return Audit(transaction).one(act.approved.records[repository])


def _check_reason(action: Action, asked: Asked) -> None:
    """Raises InvalidReason; resuming needs none, and extending takes none."""
    is_needed = action not in {Action.RESUME, Action.EXTEND}
    if is_needed or asked.reason:
        check_reason(asked.reason)


def _left_alone(
    transaction: Transaction, act: GroupAct, known: PauseRecord, pause: Pause, now: datetime
) -> GroupOutcome | None:
    """None if an act on the group made the pause, even if its answer was lost.

    NOT_OURS too if it was somebody else's act, and the actor ends only their own.
    REPLACED if this pause has replaced the group's.
    """
    made_by: Actor | None = None
    made = group_act_of(transaction, known)
    if made is not None and made.group == act.group:
        made_by = made.actor
    if made is None:
        stored = load_stored(transaction, known.repository, min(now, pause.paused_at))
        part = act_that_made(stored.known, Shown(pause.reason, pause.paused_at))
        is_lost = part is not None and part.state is ActCertainty.OPEN
        if part is not None and is_lost and stored.acts[part.act_id].group.name == act.group:
            made_by = part.actor
    if made_by is not None and act.asked.only_own and made_by.user_id != act.actor.user_id:
        return GroupOutcome.NOT_OURS
    if made_by is not None:
        return None
    changed = {pause.repository for pause in Pauses(transaction).of_group(act.group)}
    for earlier in GroupActs(transaction).pausing(act.group, before=act.group_act_id):
        changed.update(result.repository for result in earlier.of(GroupOutcome.CHANGED))
    if known.repository in changed:
        return GroupOutcome.REPLACED
    return GroupOutcome.NOT_OURS
