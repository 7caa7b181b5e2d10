"""Give a pause a later end, or an end where it had none."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.audit import Action, Actor, ActResult, AuditRecord, Origin
from bot.domain.deliveries import Subject, SubjectKind
from bot.domain.durations import For, Lasting, lifts_at
from bot.domain.errors import about
from bot.domain.group_acts import GroupAct, as_part
from bot.domain.pause_records import Timer, extended
from bot.domain.pauses import Extended, ExtendOutcome, NotPaused, OtherEnd, OtherPause, Told
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import KnownPause
from bot.ports import MergeQueue
from bot.store.transactions import Transaction
from bot.usecases.pausing.acts import ActLog, told_together
from bot.usecases.pausing.group_pauses import touch_group
from bot.usecases.pausing.pause_history import hearing_pauses
from bot.usecases.pausing.recorded_pauses import find_pause, know_pause, touch_pause
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

    async def _extend(self, request: ExtendRequest, known: KnownPause) -> Extended:
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
        known: KnownPause | None = None,
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
            stored_reason=known.pause.reason if known is not None else None,
            paused_at=known.pause.paused_at if known is not None else None,
            previous_reason=known.reason if known is not None else None,
            lifts_at=end,
        )
        return as_part(record, request.part_of) if request.part_of is not None else record


def _store_extension(
    transaction: Transaction, act: AuditRecord, known: KnownPause, here: list[str]
) -> None:
    # Pauses before timers and cards, and cards before lines, as whoever else tells of one.
    pause = find_pause(transaction, act.repository, known.pause.paused_at)
    before = transaction.timers.locked(act.repository, known.pause.paused_at)
    record_id = transaction.audit.add(act)
    transaction.timers.save(_timer(act, known, before))
    if pause is not None:
        touch_pause(transaction, pause, act.at)
        touch_group(transaction, pause, act.at)
    together = told_together(transaction, act)
    hearing = {*here, *hearing_pauses(transaction, act.repository)}.difference(together)
    subject = Subject(SubjectKind.ACT, act.repository, record_id)
    tell_urgently(transaction, subject, hearing, act.at, identity=act.identity)


def _timer(act: AuditRecord, known: KnownPause, before: Timer | None) -> Timer:
    """It belongs to the pause as the service tells it, however it was first told."""
    end = act.lifts_at or act.at
    return Timer(
        repository=act.repository,
        paused_at=before.paused_at if before is not None else known.pause.paused_at,
        lifts_at=end,
        due_at=end,
        set_by=act.actor.user_id,
        set_by_name=act.actor.name,
        channel_id=act.channel_id or (before.channel_id if before is not None else None),
    )
