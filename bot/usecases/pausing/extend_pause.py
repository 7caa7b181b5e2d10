"""Give a pause a later end, or an end where it had none."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.domain.audit import Action, Actor, ActResult, AuditRecord, Origin
from bot.domain.deliveries import Subject, SubjectKind
from bot.domain.durations import For, Lasting, lifts_at
from bot.domain.errors import about
from bot.domain.group_acts import GroupAct, as_part
from bot.domain.pause_records import PauseRecord, Timer, Who, extended
from bot.domain.pauses import Extended, ExtendOutcome, NotPaused, OtherEnd, OtherPause, Told
from bot.domain.repository import RepositoryName
from bot.ports import MergeQueue
from bot.store.transactions import Transaction
from bot.usecases.pausing.acts import ActLog, told_together
from bot.usecases.pausing.group_pauses import touch_group
from bot.usecases.pausing.pause_history import hearing_pauses, see_pause
from bot.usecases.pausing.recorded_pauses import know_pause
from bot.usecases.tell_urgently import tell_urgently

ANY_LENGTH = For(timedelta(hours=1))
"""Who may extend a pause may do so for any time."""


@dataclass(frozen=True, slots=True)
class ExtendRequest:
    """What is asked: a length on top of the end there is, or a time of day instead of it.

    `had_end` is whether the pause had an end when the menu was drawn, if one was.
    `part_of` is the act on a group that this is a part of; its pauses end when it says.
    """

    repository: RepositoryName
    lasting: Lasting
    actor: Actor
    origin: Origin
    channel_id: str | None = None
    expected: datetime | None = None
    had_end: bool | None = None
    part_of: GroupAct | None = None


@dataclass(frozen=True, slots=True)
class ExtendPause:
    """The service is only asked whether that pause is still in force: it knows no ends."""

    merge_queue: MergeQueue
    acts: ActLog

    async def run(self, request: ExtendRequest) -> ExtendOutcome:
        """Raises InvalidDuration, PermissionDenied, QueueBusy or MergeQueueError."""
        await self.acts.permit(self._act(request))
        with about(request.repository):
            async with self.acts.turn(self._act(request)):
                return await self._in_turn(request)

    async def permit(
        self,
        repository: RepositoryName,
        actor: Actor,
        origin: Origin,
        channel_id: str | None,
    ) -> None:
        """Before a time is asked for: raises PermissionDenied; the audit says so."""
        request = ExtendRequest(repository, ANY_LENGTH, actor, origin, channel_id)
        await self.acts.permit(self._act(request))

    async def _in_turn(self, request: ExtendRequest) -> ExtendOutcome:
        current = await self.merge_queue.current_pause(request.repository)
        if current is None:
            await self.acts.leave(self._act(request), "not paused")
            return NotPaused()
        known = await know_pause(self.acts.store, request.repository, current)
        if request.expected is not None and not known.is_of(request.expected):
            await self.acts.leave(self._act(request, known), "another pause is in force")
            return OtherPause(known)
        if request.had_end not in {None, known.lifts_at is not None}:
            await self.acts.leave(self._act(request, known), "its end has changed")
            return OtherEnd(known)
        return await self._extend(request, known)

    async def _extend(self, request: ExtendRequest, known: PauseRecord) -> Extended:
        now = self.acts.clock.now()
        end = request.part_of.lifts_at if request.part_of is not None else None
        if end is None and isinstance(request.lasting, For):
            end = extended(known.lifts_at, now, request.lasting.length)
        elif end is None:
            zone = await self.acts.check.zone(request.actor)
            end = lifts_at(request.lasting, now, zone)
        here = await self.acts.here(request.channel_id)
        act = self._act(request, known, end)
        await self.acts.store.run(_store_extension, act, known, here)
        self.acts.nudge()
        return Extended(Told(act, posted_here=bool(here)))

    def _act(
        self,
        request: ExtendRequest,
        known: PauseRecord | None = None,
        end: datetime | None = None,
    ) -> AuditRecord:
        record = AuditRecord(
            at=self.acts.clock.now(),
            actor=request.actor,
            action=Action.EXTEND,
            origin=request.origin,
            repository=request.repository,
            result=ActResult.DONE,
            channel_id=request.channel_id,
            stored_reason=known.stored_reason if known is not None else None,
            paused_at=known.paused_at if known is not None else None,
            previous_reason=known.reason if known is not None else None,
            lifts_at=end,
        )
        return as_part(record, request.part_of) if request.part_of is not None else record


def _store_extension(
    transaction: Transaction, act: AuditRecord, known: PauseRecord, here: list[str]
) -> None:
    together = told_together(transaction, act)
    hearing = hearing_pauses(transaction, act.repository).difference(together)
    # Pauses before lines, as whoever else tells of one.
    cards = () if known.pause_id else hearing
    seen = see_pause(transaction, _extended(act, known), cards, act.at, sets_end=True)
    touch_group(transaction, seen.record, act.at)
    subject = Subject(SubjectKind.ACT, act.repository, transaction.audit.add(act))
    told = {*here, *hearing}.difference(together)
    tell_urgently(transaction, subject, told, act.at, identity=act.identity)


def _extended(act: AuditRecord, known: PauseRecord) -> PauseRecord:
    end, before = (
        act.lifts_at or act.at,
        known.timer.channel_id if known.timer is not None else None,
    )
    set_by = Who(act.actor.name, act.actor.user_id)
    channel_id = act.channel_id or before
    return replace(known, timer=Timer(end, end, set_by, known.stored_reason, channel_id))
