"""Pause a queue at a person's request, and give a pause a later end, its first one, or none."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.acts.group_act import GroupAct
from bot.acts.record import Action, ActResult, AuditRecord, Previous
from bot.acts.recording import RecordActs
from bot.acts.rows import Audit
from bot.kernel.actor import Caller
from bot.kernel.durations import Lasting, resumes_at
from bot.kernel.errors import MergeQueueError
from bot.kernel.repository import RepositoryName
from bot.merge_queue.errors import join_answers
from bot.merge_queue.port import MergeQueue, UnclearChange
from bot.merge_queue.queue import QueueStatus
from bot.pauses import outcomes as pause_outcomes
from bot.pauses.actions import EndSeen
from bot.pauses.group_pauses import notified_together, shown_reminder, touch_group
from bot.pauses.history import (
    cards_of,
    know_pause,
    notify_responsible,
    open_pause_cards,
    pause_subscribers,
    touch_pause,
)
from bot.pauses.pause import DrawnLine, PauseRecord, Timer
from bot.pauses.readings import PauseReading
from bot.pauses.rows import Pauses
from bot.pauses.second_person import require_own
from bot.pauses.settling import prove, read_pause_for_act, succeed
from bot.pauses.stop import stop_by_pause
from bot.pauses.timeline import add_to_timeline
from bot.people.linking import who_wants
from bot.people.notices import Notice
from bot.posts.live_messages import LiveMessages
from bot.store.transaction import Transaction

IMPACT_SECONDS = 1.5
"""Seconds that the question before a pause may take to find out what would stop."""

SAME_END = timedelta(minutes=1)
"""Ends that are no further apart are the same: of two presses on one button."""

Begin = Callable[[Transaction, datetime], AuditRecord | None]


@dataclass(frozen=True, slots=True)
class PauseQueue:
    """Pauses a queue, unless it is paused already, and changes the ends of pauses.

    `part_of`: the act on a group that an act belongs to; its pauses share that act's end.
    """

    merge_queue: MergeQueue
    acts: RecordActs

    async def run(
        self,
        caller: Caller,
        repository: RepositoryName,
        reason: str,
        *,
        lasting: Lasting | None = None,
        replacing: DrawnLine | None = None,
        part_of: GroupAct | None = None,
    ) -> pause_outcomes.PauseOutcome:
        """Pause the queue.

        `replacing`: what the pause says that it may replace, if any.
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

    async def change_reason(
        self,
        caller: Caller,
        repository: RepositoryName,
        reason: str,
        *,
        drawn: DrawnLine | None,
    ) -> pause_outcomes.ReasonOutcome:
        """Change the reason of a pause, which keeps its start and its end.

        `drawn`: what the pause said as the person was asked for another reason. If it is over,
        nothing changes. Raises the same as `run`.
        """
        act = await self.acts.permitted(caller, Action.PAUSE, repository, reason)
        async with self.acts.locked(act):
            current = await read_pause_for_act(self.acts, self.merge_queue, repository)
            if current is None:
                await self.acts.require_running(self.merge_queue, repository)
                await self.acts.record_unchanged_as_read(act, "not paused")
                return pause_outcomes.NotPaused()
            known = await know_pause(self.acts.store, repository, current)
            service_at = self.merge_queue.service_time
            # An end that has passed stays too: the bot still tries to resume.
            act = replace(act, service_at=service_at, resumes_at=known.resumes_at)
            return await self._replace(act, known, drawn)

    async def impact(self, caller: Caller, repository: RepositoryName) -> QueueStatus | None:
        """The queue, if a pause would stop checks or a bisection; None where nobody is asked.

        That is where nothing runs, where they have switched the question off, and where the queue
        is paused already. A slow answer is not waited for: nothing keeps people from pausing.
        """
        try:
            async with asyncio.timeout(IMPACT_SECONDS):
                status = await self.merge_queue.status(repository)
        except (MergeQueueError, TimeoutError):
            return None
        if status.paused or not (status.running or status.bisecting):
            return None
        user_id = caller.actor.user_id
        is_asked = await self.acts.store.read(
            lambda transaction: bool(
                who_wants(transaction, Notice.CONFIRMATION, [user_id])
                and not Pauses(transaction).open([repository])
            )
        )
        return status if is_asked else None

    async def by_rule(self, act: AuditRecord, begin: Begin) -> pause_outcomes.PauseChange | None:
        """Pause for a rule of the settings, which needs no permission; None if it is not to.

        `begin`: decides, and stores the act's beginning in the same transaction, with the service's
        time of the reading before.
        Raises QueueBusy and MergeQueueError.
        """
        async with self.acts.locked(act):
            current = await read_pause_for_act(self.acts, self.merge_queue, act.repository)
            if current is not None:
                return None
            started = await self.acts.store.run(begin, self.merge_queue.service_time)
            return None if started is None else await self._ask_service(started)

    async def new_end_by_rule(self, act: AuditRecord, seen: PauseRecord) -> bool:
        """Give the pause in force the end of the act, for a rule of the settings.

        False if it isn't `seen` any more, or somebody changed its end. Raises QueueBusy and
        MergeQueueError.
        """
        async with self.acts.locked(act):
            current = await read_pause_for_act(self.acts, self.merge_queue, act.repository)
            if current is None:
                return False
            known = await know_pause(self.acts.store, act.repository, current)
            if not known.pause_id:
                return False
            if not known.is_of(seen.line.paused_at) or known.resumes_at != seen.resumes_at:
                return False
            about = _about_end_of(known, act)
            done = replace(about, at=self.acts.clock.now(), result=ActResult.DONE)
            await self.acts.store.run(_store_new_end, done, known, [])
            self.acts.wake()
            return True

    async def extend(
        self,
        caller: Caller,
        repository: RepositoryName,
        lasting: Lasting | None,
        *,
        expected: DrawnLine | None = None,
        seen: EndSeen = EndSeen.ANY,
        part_of: GroupAct | None = None,
    ) -> pause_outcomes.ExtendOutcome:
        """Extend by a length, or to a time of day; keep it without an end if `lasting` is None.

        Asks the service only whether the pause is still in force, because it knows no ends.
        `expected`: what the pause says that it is to extend.
        `seen`: the end that the person saw, from which a length counts.
        Raises InvalidDuration, PermissionDenied, QueueBusy, SecondPersonNeeded or MergeQueueError.
        """
        action = Action.KEEP if lasting is None else Action.EXTEND
        act = replace(self.acts.record(caller, action, repository, part_of), result=ActResult.DONE)
        await self.acts.permit(act)
        async with self.acts.locked(act):
            current = await read_pause_for_act(self.acts, self.merge_queue, repository)
            if current is None:
                await self.acts.record_unchanged_as_read(act, "not paused")
                return pause_outcomes.NotPaused()
            known = await know_pause(self.acts.store, repository, current)
            act = replace(_about_end_of(known, act), at=self.acts.clock.now())
            is_changed = expected is not None and not known.says_still(expected)
            if is_changed or not known.pause_id:
                await self.acts.record_unchanged_as_read(act, "another pause is in force")
                return pause_outcomes.OtherPause(await self._on_record(known))
            if not seen.is_still(known.resumes_at):
                await self.acts.record_unchanged_as_read(act, "its end has changed")
                return pause_outcomes.OtherEnd(known)
            end = part_of.resumes_at if part_of is not None else None
            if end is None and lasting is not None:
                end = await self.acts.new_end(act.actor, known.resumes_at, lasting, act.at)
            if known.resumes_at is None or (end is not None and end < known.resumes_at):
                await require_own(self.acts, act, stop_by_pause(known))
            act = replace(act, resumes_at=end)
            here = await self.acts.here(act.where.channel_id)
            pause = await self.acts.store.run(_store_new_end, act, known, here)
            self.acts.wake()
            return pause_outcomes.PauseChange(act, pause, posted_here=bool(here))

    async def _pause(
        self, act: AuditRecord, replacing: DrawnLine | None
    ) -> pause_outcomes.PauseOutcome:
        async with self.acts.locked(act):
            current = await read_pause_for_act(self.acts, self.merge_queue, act.repository)
            act = replace(act, service_at=self.merge_queue.service_time)
            if current is None:
                return await self._ask_service(await self._after_unseen_end(act))
            known = await know_pause(self.acts.store, act.repository, current)
            return await self._replace(act, known, replacing)

    async def _replace(
        self, act: AuditRecord, known: PauseRecord, replacing: DrawnLine | None
    ) -> pause_outcomes.PauseOutcome:
        """Replace the pause in force, if it still says what it may replace."""
        is_theirs = known.pauser == act.actor.user_id
        is_reason = known.line.reason == act.reason
        is_same = is_theirs and is_reason and _has_end(known, act.resumes_at)
        if not known.says_still(replacing) or is_same:
            await self.acts.record_unchanged_as_read(act, "already paused")
            return pause_outcomes.AlreadyPaused(known, is_same)
        await require_own(self.acts, act, stop_by_pause(known))
        before = replace(
            act,
            previous=Previous(known.line.reason, known.line.paused_at),
            resumes_at=act.resumes_at or known.end_to_come(act.at),
        )
        return await self._ask_service(before)

    async def _after_unseen_end(self, act: AuditRecord) -> AuditRecord:
        """The act; if the bot can't tell yet that the pause in force is over, it changes that."""
        known = await self._open_pause(act.repository)
        if known is None:
            return act
        return replace(act, previous=Previous(known.line.reason, known.line.paused_at))

    async def _on_record(self, read: PauseRecord) -> PauseRecord:
        """The pause as it was read, or the one on record if the answer was stale."""
        if read.pause_id:
            return read
        return await self._open_pause(read.repository) or read

    async def _open_pause(self, repository: RepositoryName) -> PauseRecord | None:
        found = await self.acts.store.read(
            lambda transaction: Pauses(transaction).open([repository])
        )
        return found[0] if found else None

    async def _ask_service(self, act: AuditRecord) -> pause_outcomes.PauseChange:
        async with self.acts.begun(act) as (started, answers, revision):
            pause = await self.merge_queue.pause(
                act.repository, act.stored_reason or "", on_answer=answers.append
            )
            if isinstance(pause, UnclearChange):
                unanswered = started.answered(join_answers(answers))
                reading = PauseReading(pause.pause, self.merge_queue.service_time)
                change = await prove(self.acts, unanswered, reading, revision)
                if change is None:
                    raise pause.lost
                return change
        done = replace(started, stored_reason=pause.reason, paused_at=pause.paused_at)
        answered = done.answered(join_answers(answers))
        reading = PauseReading(pause, self.merge_queue.service_time)
        return await succeed(self.acts, answered, reading, revision)


def _has_end(known: PauseRecord, end: datetime | None) -> bool:
    return end is None or (known.resumes_at is not None and abs(known.resumes_at - end) < SAME_END)


def _about_end_of(known: PauseRecord, act: AuditRecord) -> AuditRecord:
    """The act, of which the end of the pause that is known is the subject."""
    return replace(
        act,
        stored_reason=known.line.stored_reason,
        paused_at=known.line.paused_at,
        previous=Previous(known.line.reason),
    )


def _store_new_end(
    transaction: Transaction, act: AuditRecord, known: PauseRecord, here: list[str]
) -> PauseRecord:
    """The card shows the new end, and its thread tells who set it."""
    together = notified_together(transaction, act)
    shown = [card for card in cards_of(transaction, known) if card.channel_id not in together]
    subscribed = {*here, *pause_subscribers(transaction, act.repository)}
    unshown = subscribed.difference(together, (card.channel_id for card in shown))
    timer = None
    if act.resumes_at is not None:
        set_in = act.where.channel_id or (
            known.timer.channel_id if known.timer is not None else None
        )
        timer = Timer(act.resumes_at, act.resumes_at, act.actor, known.line.stored_reason, set_in)
    # Lock pauses before channel queues, as everywhere else.
    record = replace(Pauses(transaction).locked(known) or known, timer=timer)
    if record.reminders is not None:
        record = replace(record, reminders=record.reminders.answered)
    Pauses(transaction).save(record)
    touch_pause(transaction, record, act.at)
    open_pause_cards(transaction, record, unshown, act.at)
    touch_group(transaction, record, act.at)
    LiveMessages(transaction).mark(shown_reminder(record), due_at=act.at)
    act = replace(act, record_id=Audit(transaction).add(act))
    add_to_timeline(transaction, act, shown, act.at)
    if not act.group.act_id:
        notify_responsible(transaction, known, act)
    return record
