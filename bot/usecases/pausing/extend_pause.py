"""Give a pause a later end, its first one, or none."""

from dataclasses import dataclass, replace
from datetime import datetime

from bot.domain.audit import Action, ActResult, AuditRecord, Caller
from bot.domain.deliveries import Subject, SubjectKind
from bot.domain.durations import For, Lasting, resumes_at
from bot.domain.errors import about
from bot.domain.group_acts import GroupAct
from bot.domain.pause_records import PauseRecord, Timer, Who, extended
from bot.domain.pauses import Extended, ExtendOutcome, NotPaused, OtherEnd, OtherPause, PauseChange
from bot.domain.repository import RepositoryName
from bot.ports import MergeQueue
from bot.store.transactions import Transaction
from bot.usecases.live_messages import reply
from bot.usecases.pausing.acts import ActLog, notified_together
from bot.usecases.pausing.group_pauses import touch_group
from bot.usecases.pausing.pause_history import (
    cards_of,
    know_pause,
    pause_subscribers,
    see_pause,
    touch_reminder,
)


@dataclass(frozen=True, slots=True)
class ExtendPause:
    """Asks the service only whether the pause is still in force, because it knows no ends."""

    merge_queue: MergeQueue
    acts: ActLog

    async def run(
        self,
        caller: Caller,
        repository: RepositoryName,
        lasting: Lasting | None,
        *,
        expected: datetime | None = None,
        had_end: bool | None = None,
        part_of: GroupAct | None = None,
    ) -> ExtendOutcome:
        """Extend by a length, or to a time of day; keep it without an end if `lasting` is None.

        `expected`: the time of the pause to extend.
        `had_end`: whether it had an end when the menu was drawn, if one was.
        `part_of`: the act on a group that this belongs to; its pauses share that act's end.
        Raises InvalidDuration, PermissionDenied, QueueBusy, SecondPersonNeeded or MergeQueueError.
        """
        act = replace(
            self.acts.record(caller, _action(lasting), repository, part_of), result=ActResult.DONE
        )
        await self.acts.permit(act)
        with about(repository):
            async with self.acts.locked(act):
                current = await self.merge_queue.current_pause(repository)
                if current is None:
                    await self.acts.leave(act, "not paused")
                    return NotPaused()
                known = await know_pause(self.acts.store, repository, current)
                act = replace(
                    act,
                    at=self.acts.clock.now(),
                    stored_reason=known.stored_reason,
                    paused_at=known.paused_at,
                    previous_reason=known.reason,
                )
                if expected is not None and not known.is_of(expected):
                    await self.acts.leave(act, "another pause is in force")
                    return OtherPause(known)
                if had_end not in {None, known.resumes_at is not None}:
                    await self.acts.leave(act, "its end has changed")
                    return OtherEnd(known)
                end = part_of.resumes_at if part_of is not None else None
                end = end or await self._end(act, known, lasting)
                if known.resumes_at is None or (end is not None and end < known.resumes_at):
                    await self.acts.require_own(act, known)
                return await self._extend(replace(act, resumes_at=end), known)

    async def permit(self, caller: Caller, repository: RepositoryName) -> None:
        """Check before asking for a time; raises PermissionDenied and audits it."""
        await self.acts.permit(self.acts.record(caller, Action.EXTEND, repository))

    async def _end(
        self, act: AuditRecord, known: PauseRecord, lasting: Lasting | None
    ) -> datetime | None:
        if lasting is None:
            return None
        if isinstance(lasting, For):
            return extended(known.resumes_at, act.at, lasting.length)
        return resumes_at(lasting, act.at, await self.acts.check.zone(act.actor))

    async def _extend(self, act: AuditRecord, known: PauseRecord) -> Extended:
        here = await self.acts.here(act.channel_id)
        pause = await self.acts.store.run(_store_extension, act, known, here)
        self.acts.wake()
        return Extended(PauseChange(act, pause, posted_here=bool(here)))


def _action(lasting: Lasting | None) -> Action:
    return Action.KEEP if lasting is None else Action.EXTEND


def _store_extension(
    transaction: Transaction, act: AuditRecord, known: PauseRecord, here: list[str]
) -> PauseRecord:
    """The card shows the new end, and its thread tells who set it."""
    together = notified_together(transaction, act)
    shown = [one for one in cards_of(transaction, known) if one.channel_id not in together]
    subscribed = {*here, *pause_subscribers(transaction, act.repository)}
    unshown = subscribed.difference(together, (one.channel_id for one in shown))
    # Lock pauses before channel queues, as everywhere else.
    seen = see_pause(transaction, _extended(act, known), unshown, act.at, sets_end=True)
    touch_group(transaction, seen.record, act.at)
    touch_reminder(transaction, seen.record, act.at)
    subject = Subject(SubjectKind.ACT, act.repository, transaction.audit.add(act))
    reply(transaction, subject, shown, act.at, identity=act.identity)
    return seen.record


def _extended(act: AuditRecord, known: PauseRecord) -> PauseRecord:
    end = act.resumes_at
    if end is None:
        return replace(known, timer=None)
    before = known.timer.channel_id if known.timer is not None else None
    set_by = Who(act.actor.name, act.actor.user_id)
    channel_id = act.channel_id or before
    return replace(known, timer=Timer(end, end, set_by, known.stored_reason, channel_id))
