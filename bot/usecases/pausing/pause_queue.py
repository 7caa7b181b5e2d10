"""Pause a queue at a person's request, and give a pause a later end, its first one, or none."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.domain import pauses
from bot.domain.audit import Action, ActResult, AuditRecord, Caller
from bot.domain.deliveries import Subject, SubjectKind
from bot.domain.durations import Lasting, resumes_at
from bot.domain.errors import MergeQueueError, join_answers
from bot.domain.group_acts import GroupAct
from bot.domain.notices import Notice
from bot.domain.pause_records import PauseRecord, Timer
from bot.domain.queue import QueueStatus
from bot.domain.repository import RepositoryName
from bot.ports import MergeQueue
from bot.store.transactions import Transaction
from bot.usecases.live_messages import reply
from bot.usecases.pausing.acts import ActLog
from bot.usecases.pausing.group_pauses import notified_together, shown_reminder, touch_group
from bot.usecases.pausing.pause_history import cards_of, know_pause, pause_subscribers
from bot.usecases.pausing.reports import report_pause
from bot.usecases.people import who_wants

IMPACT_SECONDS = 1.5
"""Seconds that the question before a pause may take to find out what would stop."""

SAME_END = timedelta(minutes=1)
"""Ends that are no further apart are the same: of two presses on one button."""

Begin = Callable[[Transaction], AuditRecord | None]


@dataclass(frozen=True, slots=True)
class PauseQueue:
    """Pauses a queue, unless it is paused already, and changes the ends of pauses.

    `part_of`: the act on a group that an act belongs to; its pauses share that act's end.
    """

    merge_queue: MergeQueue
    acts: ActLog

    async def run(
        self,
        caller: Caller,
        repository: RepositoryName,
        reason: str,
        *,
        lasting: Lasting | None = None,
        replacing: datetime | None = None,
        part_of: GroupAct | None = None,
    ) -> pauses.PauseOutcome:
        """Pause the queue.

        `replacing`: the time of the pause that it may replace, if any.
        Raises InvalidReason, InvalidDuration, PermissionDenied, QueueBusy, SecondPersonNeeded and
        MergeQueueError.
        """
        act = await self.acts.permitted(caller, Action.PAUSE, repository, reason, part_of)
        if part_of is not None:
            act = replace(act, resumes_at=part_of.resumes_at)
        elif lasting is not None:
            zone = await self.acts.check.zone(caller.actor)
            act = replace(act, resumes_at=resumes_at(lasting, act.at, zone))
        return await self._pause(act, replacing)

    async def impact(self, caller: Caller, repository: RepositoryName) -> QueueStatus | None:
        """The queue, if a pause would stop running checks; None where the person isn't asked.

        That is where nothing runs, where they have switched the question off, and where the queue
        is paused already. A slow answer is not waited for: nothing keeps people from pausing.
        """
        try:
            async with asyncio.timeout(IMPACT_SECONDS):
                status = await self.merge_queue.status(repository)
        except (MergeQueueError, TimeoutError):
            return None
        if status.paused or not status.running:
            return None
        user_id = caller.actor.user_id
        is_asked = await self.acts.store.run(
            lambda transaction: bool(
                who_wants(transaction, Notice.CONFIRMATION, [user_id])
                and not transaction.pauses.open([repository])
            )
        )
        return status if is_asked else None

    async def by_rule(self, act: AuditRecord, begin: Begin) -> pauses.PauseChange | None:
        """Pause for a rule of the settings, which needs no permission; None if it is not to.

        `begin`: decides, and stores the act's beginning in the same transaction.
        Raises QueueBusy and MergeQueueError.
        """
        async with self.acts.locked(act):
            current = await self.merge_queue.current_pause(act.repository)
            if current is not None:
                await self.acts.settle(act.repository, current)
                return None
            started = await self.acts.store.run(begin)
            return None if started is None else await self._ask_service(started)

    async def extend(
        self,
        caller: Caller,
        repository: RepositoryName,
        lasting: Lasting | None,
        *,
        expected: datetime | None = None,
        had_end: bool | None = None,
        part_of: GroupAct | None = None,
    ) -> pauses.ExtendOutcome:
        """Extend by a length, or to a time of day; keep it without an end if `lasting` is None.

        Asks the service only whether the pause is still in force, because it knows no ends.
        `expected`: the time of the pause to extend.
        `had_end`: whether it had an end when the menu was drawn, if one was.
        Raises InvalidDuration, PermissionDenied, QueueBusy, SecondPersonNeeded or MergeQueueError.
        """
        action = Action.KEEP if lasting is None else Action.EXTEND
        act = replace(self.acts.record(caller, action, repository, part_of), result=ActResult.DONE)
        await self.acts.permit(act)
        async with self.acts.locked(act):
            current = await self.merge_queue.current_pause(repository)
            if current is None:
                await self.acts.leave(act, "not paused")
                return pauses.NotPaused()
            # The end of an act that was cut off would replace the new one later.
            await self.acts.settle(repository, current)
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
                return pauses.OtherPause(known)
            if had_end not in {None, known.resumes_at is not None}:
                await self.acts.leave(act, "its end has changed")
                return pauses.OtherEnd(known)
            end = part_of.resumes_at if part_of is not None else None
            if end is None and lasting is not None:
                end = await self.acts.new_end(act.actor, known.resumes_at, lasting, act.at)
            if known.resumes_at is None or (end is not None and end < known.resumes_at):
                await self.acts.require_own(act, known)
            act = replace(act, resumes_at=end)
            here = await self.acts.here(act.channel_id)
            pause = await self.acts.store.run(_store_new_end, act, known, here)
            self.acts.wake()
            return pauses.PauseChange(act, pause, posted_here=bool(here))

    async def _pause(self, act: AuditRecord, replacing: datetime | None) -> pauses.PauseOutcome:
        async with self.acts.locked(act):
            current = await self.merge_queue.current_pause(act.repository)
            if current is None:
                return await self._ask_service(act)
            await self.acts.settle(act.repository, current)
            known = await know_pause(self.acts.store, act.repository, current)
            is_theirs = known.pauser == act.actor.user_id
            is_same = is_theirs and known.reason == act.reason and _has_end(known, act.resumes_at)
            if not known.is_of(replacing) or is_same:
                await self.acts.leave(act, "already paused")
                return pauses.AlreadyPaused(known, is_same)
            await self.acts.require_own(act, known)
            before = replace(
                act,
                previous_reason=known.reason,
                previous_paused_at=known.paused_at,
                resumes_at=act.resumes_at or known.end_to_come(act.at),
            )
            return await self._ask_service(before)

    async def _ask_service(self, act: AuditRecord) -> pauses.PauseChange:
        async with self.acts.begun(act) as (started, answers):
            pause = await self.merge_queue.pause(
                act.repository, act.stored_reason or "", on_answer=answers.append
            )
        done = replace(
            started,
            stored_reason=pause.reason,
            paused_at=pause.paused_at,
            answer=join_answers(answers),
        )
        return await self.acts.succeed(done)


def _has_end(known: PauseRecord, end: datetime | None) -> bool:
    return end is None or (known.resumes_at is not None and abs(known.resumes_at - end) < SAME_END)


def _store_new_end(
    transaction: Transaction, act: AuditRecord, known: PauseRecord, here: list[str]
) -> PauseRecord:
    """The card shows the new end, and its thread tells who set it."""
    together = notified_together(transaction, act)
    shown = [one for one in cards_of(transaction, known) if one.channel_id not in together]
    subscribed = {*here, *pause_subscribers(transaction, act.repository)}
    unshown = subscribed.difference(together, (one.channel_id for one in shown))
    timer = None
    if act.resumes_at is not None:
        set_in = act.channel_id or (known.timer.channel_id if known.timer is not None else None)
        timer = Timer(act.resumes_at, act.resumes_at, act.actor, known.stored_reason, set_in)
    # Lock pauses before channel queues, as everywhere else.
    known = replace(known, timer=timer)
    record = report_pause(transaction, known, None, unshown, act.at, sets_end=True)
    touch_group(transaction, record, act.at)
    transaction.live_messages.mark(shown_reminder(record), due_at=act.at)
    subject = Subject(SubjectKind.ACT, act.repository, transaction.audit.add(act))
    reply(transaction, subject, shown, act.at, identity=act.identity)
    return record
