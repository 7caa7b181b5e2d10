"""Tells people what became of requests that were cut off, or whose answers were lost."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import NamedTuple

from bot.acts.asked import number_condition
from bot.acts.ends import end_act, end_of, with_unknown_end
from bot.acts.group_act import GroupAct, GroupOutcome, RepositoryResult
from bot.acts.group_acts import GroupActs
from bot.acts.permission import is_machine
from bot.acts.posting import post_act
from bot.acts.record import Action, ActResult, AuditRecord, Circumstance
from bot.acts.recording import RecordActs
from bot.acts.rows import Audit
from bot.acts.unanswered import GIVEN_UP, SILENT, SOON, Unanswered
from bot.acts.unanswered_rows import UnansweredRequests
from bot.freezes.causes import is_made_by, made_by_others
from bot.freezes.freeze import Freeze
from bot.freezes.outcomes import ids_of, is_excepted
from bot.freezes.reading import listed_freezes
from bot.kernel.errors import BotError
from bot.kernel.repository import RepositoryName
from bot.kernel.tasks import Tasks
from bot.merge_queue.freezes import begins_as, ends_as
from bot.merge_queue.port import MergeQueue
from bot.merge_queue.position import still_queued
from bot.pauses.group_pauses import group_act_subject, notify_together, with_recorded
from bot.pauses.group_work import EndCutShort
from bot.pauses.known import same_reason
from bot.pauses.outcomes import ActOutcome
from bot.pauses.readings import PauseReading
from bot.pauses.requests import touch_proposal
from bot.pauses.rows import Pauses
from bot.pauses.settling import keep_reading, read_pause_for_act
from bot.posts.delivery import Subject, SubjectKind
from bot.posts.enqueueing import enqueue_urgent
from bot.removals.removing import has_merged_since
from bot.store.transaction import Transaction

logger = logging.getLogger(__name__)

OUTCOMES_AT_ONCE = 50

OUTCOME_CLAIM = timedelta(seconds=60)
"""For so long no other process looks at the same request."""

SURELY_OVER = timedelta(seconds=30)
"""A request to the service that isn't carried out so long after it was sent never will be."""

LOOKED_UP = "known from the service after its answer was lost"

NOT_FOUND_OUT = "I couldn't find out, because I couldn't read its queue for a day"
NO_REPOSITORY = RepositoryName("")


@dataclass(frozen=True, slots=True)
class TellOutcomes:
    """Looks what became of each request whose answer is owed, and tells its person once.

    With none it costs one indexed query.
    """

    merge_queue: MergeQueue
    acts: RecordActs
    cut_short: EndCutShort
    tasks: Tasks = field(
        default_factory=lambda: Tasks("telling an outcome has a defect", "outcome_defect")
    )

    async def run(self) -> None:
        """Start on what is due, without waiting for it. Raises StoreError."""
        store = self.acts.store
        now = self.acts.clock.now()
        due = await store.read(_due_requests, now)
        for request in due:
            if await store.run(_claim, request, now + OUTCOME_CLAIM):
                self.tasks.start(self._guarded(request), f"outcome of {request.request}")

    async def drain(self) -> None:
        await self.tasks.drain()

    async def _guarded(self, request: Unanswered) -> None:
        is_known = False
        try:
            is_known = await self.look(request)
        except BotError as error:
            fields = {"request": request.request, "error": type(error).__name__}
            logger.info(
                "the outcome of an act is still unknown", extra={"action": "no_outcome", **fields}
            )
        if not is_known:
            await self.acts.store.run(_look_later, request, self.acts.clock.now())
            self.acts.wake()

    async def look(self, request: Unanswered) -> bool:
        """Find out what became of the request and tell it; return whether it is known.

        Raises MergeQueueError, QueueBusy and StoreError.
        """
        store = self.acts.store
        known = await store.read(_records_of, request.request)
        if known.group is not None:
            return await self._look_at_group(request, known.group, known.records)
        for started in with_unknown_end(known.records):
            if not await self._find_out(started):
                return False
        removal = await store.read(_removal, request.request)
        if removal is not None and not await self._has_left(removal):
            return False
        channels = await self.acts.here(request.channel_id)
        await store.run(_tell, request, channels, self.acts.clock.now())
        self.acts.wake()
        return True

    async def _look_at_group(
        self, request: Unanswered, group: GroupAct, records: Sequence[AuditRecord]
    ) -> bool:
        if group.ended_at is None:
            group = await self.cut_short.end(group)
            if group.ended_at is None:
                return False
        uncertain = {result.repository for result in group.of(GroupOutcome.UNCERTAIN)}
        for started in with_unknown_end(records):
            if started.repository in uncertain and not await self._find_out(started):
                return False
        now = self.acts.clock.now()
        await self.acts.store.run(_tell_group, request, group.group_act_id, now)
        self.acts.wake()
        return True

    async def _find_out(self, started: AuditRecord) -> bool:
        """Give the act its end, if the service shows it; return whether it is known by now."""
        async with self.acts.locks.of(started.repository):
            known = await self.acts.store.read(_records_of, started.where.request or "")
            if started not in with_unknown_end(known.records):
                return True
            if await self._is_done(started):
                return True
            now = self.acts.clock.now()
            if now - started.at < SURELY_OVER:
                return False
            undone = Circumstance.NOT_CARRIED_OUT
            await self.acts.store.run(_end_looked_up, started, undone, now)
            return True

    async def _is_done(self, started: AuditRecord) -> bool:
        """Whether the service shows that it was carried out; then its end is stored.

        Raises MergeQueueError.
        """
        if started.action is Action.PAUSE:
            return await self._has_paused(started)
        if started.action is Action.RESUME:
            return await self._has_resumed(started)
        if started.action is Action.REMOVE:
            return await self._has_removed(started)
        return await self._has_changed_freezes(started)

    async def _has_paused(self, started: AuditRecord) -> bool:
        pause = await self.merge_queue.current_pause(started.repository)
        if pause is None:
            # The service may answer 404 while it has problems.
            await self.acts.require_running(self.merge_queue, started.repository)
            return False
        if not same_reason(pause.reason, started.stored_reason or ""):
            return False
        reading = PauseReading(pause, self.merge_queue.service_time)
        await keep_reading(self.acts, started.repository, reading)
        return True

    async def _has_resumed(self, started: AuditRecord) -> bool:
        """Whether the queue runs, which doesn't prove whose doing that is: only the log does."""
        repository = started.repository
        if await read_pause_for_act(self.acts, self.merge_queue, repository) is not None:
            return False
        await self.acts.require_running(self.merge_queue, repository)
        now = self.acts.clock.now()
        await self.acts.store.run(_end_looked_up, started, Circumstance.FOUND_RUNNING, now)
        return True

    async def _has_removed(self, started: AuditRecord) -> bool:
        status = await self.merge_queue.status(started.repository)
        found = still_queued(started.pull_request or 0, status)
        is_leaving = found is not None and found.pull_request.dequeue_requested
        if not is_leaving and (found is not None or status.unreadable):
            return False
        now = self.acts.clock.now()
        later = await self.acts.last_done(started, Action.REMOVE)
        if later is not None and later.at > started.at:
            here = await self.acts.here(started.where.channel_id)
            await self.acts.store.run(_end_removed_later, started, later, here, now)
            return True
        left = started.under(Circumstance.LEFT_UNSEEN)
        await self.acts.store.run(_end_done, left, now, None, ())
        return True

    async def _has_left(self, removal: AuditRecord) -> bool:
        """Whether it is known what became of a removal that the service has taken.

        Raises MergeQueueError.
        """
        repository = removal.repository
        now = self.acts.clock.now()
        status = await self.merge_queue.status(repository)
        found = still_queued(removal.pull_request or 0, status)
        if found is None and status.unreadable:
            return False
        if found is not None and found.pull_request.dequeue_requested:
            return False
        # One that was queued again has left.
        if found is not None and found.pull_request.queued_at <= removal.at:
            if now - removal.at < SURELY_OVER:
                return False
            await self.acts.store.run(_end_looked_up, removal, Circumstance.NOT_CARRIED_OUT, now)
            return True
        if await has_merged_since(self.merge_queue, removal, now):
            await self.acts.store.run(_end_looked_up, removal, Circumstance.MERGED_FIRST, now)
            return True
        here = await self.acts.here(removal.where.channel_id)
        await self.acts.store.run(post_act, removal, here)
        return True

    async def _has_changed_freezes(self, started: AuditRecord) -> bool:
        listed = await listed_freezes(self.merge_queue, started.repository)
        now = self.acts.clock.now()
        meant = [freeze for freeze in listed.freezes if _is_about(started, freeze)]
        match started.action:
            case Action.FREEZE:
                # Two may have the same reason and end, and hold other branches.
                others = await self.acts.store.read(made_by_others, started)
                meant = [freeze for freeze in meant if freeze.freeze_id not in others]
                is_done = bool(meant)
                started = replace(started, freezes=ids_of(meant[:1]))
            case Action.UNFREEZE:
                is_done = not meant
            case Action.ALLOW:
                condition = number_condition(started.about or 0)
                lets_through = [is_excepted(freeze.excluded, condition) for freeze in meant]
                is_done = bool(meant) and all(lets_through)
            case Action.MOVE_FREEZE:
                is_done = any(_is_moved(started, freeze) for freeze in meant)
            case _:
                is_done = any(ends_as(freeze.terms, started.resumes_at) for freeze in meant)
        if is_done:
            await self.acts.store.run(_end_done, started, now, LOOKED_UP, ())
        return is_done


def _is_about(act: AuditRecord, freeze: Freeze) -> bool:
    """Whether the act was to make, change or end this freeze.

    One that it was to make has its whole reason, and its end.
    """
    if act.action is Action.FREEZE:
        return is_made_by(act, freeze, act.resumes_at)
    return act.freezes is not None and freeze.freeze_id in act.freezes


def _is_moved(act: AuditRecord, freeze: Freeze) -> bool:
    """Whether it has the times to which the act was to move it."""
    starts_so = act.paused_at is not None and begins_as(freeze.terms, act.paused_at)
    return starts_so and ends_as(freeze.terms, act.resumes_at)


class _Known(NamedTuple):
    """What is stored about a request."""

    group: GroupAct | None  #: the act on a group that it asked for, if it is one
    records: Sequence[AuditRecord]


def _records_of(transaction: Transaction, request: str) -> _Known:
    group = GroupActs(transaction).of_request(request)
    records = Audit(transaction).of_request(request)
    return _Known(group, records)


def _removal(transaction: Transaction, request: str) -> AuditRecord | None:
    """The removal that the service has taken at this request, if it was for one."""
    act = end_known(Audit(transaction).of_request(request))
    is_taken = act is not None and act.action is Action.REMOVE and act.result is ActResult.DONE
    return act if is_taken else None


def _due_requests(transaction: Transaction, now: datetime) -> Sequence[Unanswered]:
    return UnansweredRequests(transaction).due(now, OUTCOMES_AT_ONCE)


def _look_later(transaction: Transaction, request: Unanswered, now: datetime) -> None:
    """Look again, or give up; the person reads that they will be told, or that they won't."""
    silent_for = now - request.asked_at
    if silent_for > GIVEN_UP:
        _give_up(transaction, request, now)
        return
    act = GroupActs(transaction).of_request(request.request)
    if act is not None and not act.of(GroupOutcome.UNCERTAIN):
        # Another job is ending it.
        UnansweredRequests(transaction).postpone(request, now + SOON)
        return
    due_at = request.next_look(now)
    if request.was_left or silent_for < SILENT:
        UnansweredRequests(transaction).postpone(request, due_at)
        return
    UnansweredRequests(transaction).left(request.request, due_at)
    _notify(transaction, SubjectKind.OUTCOME_FOLLOWS, request, request.user_id, now)


def _give_up(transaction: Transaction, request: Unanswered, now: datetime) -> None:
    if _removal(transaction, request.request) is not None:
        # The person knows that it was under way.
        UnansweredRequests(transaction).postpone(request, None)
        return
    act = GroupActs(transaction).of_request(request.request)
    if act is None:
        _tell(transaction, request, (), now)
    else:
        _tell_group(transaction, request, act.group_act_id, now, doubt=NOT_FOUND_OUT)


def _claim(transaction: Transaction, request: Unanswered, until: datetime) -> bool:
    return UnansweredRequests(transaction).claim(request, until)


def end_known(records: Sequence[AuditRecord]) -> AuditRecord | None:
    """How the act that a request asked for ended, as far as it is known; None if it began none."""
    latest_first = sorted(records, key=lambda record: record.record_id, reverse=True)
    for record in latest_first:
        if record.result is ActResult.DONE or record.is_looked_up:
            return record
    return latest_first[0] if latest_first else None


def known_outcome(transaction: Transaction, request: Unanswered) -> ActOutcome:
    act = end_known(Audit(transaction).of_request(request.request))
    if act is None:
        return ActOutcome(request, None, None)
    pauses = Pauses(transaction).open([act.repository])
    return ActOutcome(request, act, pauses[0] if pauses else None)


def _end_done(
    transaction: Transaction,
    started: AuditRecord,
    now: datetime,
    detail: str | None,
    channels: Sequence[str],
) -> None:
    done = end_of(replace(started, at=now), ActResult.DONE, detail)
    stored = end_act(transaction, done)
    if stored.is_new:
        post_act(transaction, stored.record, channels)


def _end_looked_up(
    transaction: Transaction, started: AuditRecord, found: Circumstance, now: datetime
) -> None:
    """It may still prove to be carried out, so it has failed rather than been refused.

    `started`: its beginning, or the end of a removal that the service has taken.
    """
    act_id = started.act_id or started.record_id
    looked_up = replace(started, at=now, record_id=act_id).answered(None)
    ended = end_of(looked_up.under(found), ActResult.FAILED)
    Audit(transaction).add(ended)


def _end_removed_later(
    transaction: Transaction,
    started: AuditRecord,
    later: AuditRecord,
    here: Sequence[str],
    now: datetime,
) -> None:
    """The channels `here` get the post about the removal that succeeded, if they hadn't it."""
    _end_looked_up(transaction, started, Circumstance.REMOVED_LATER, now)
    post_act(transaction, later, here)


def _tell(
    transaction: Transaction, request: Unanswered, here: Sequence[str], now: datetime
) -> None:
    """To the place where the person was told that it follows, else to them alone."""
    if UnansweredRequests(transaction).of(request.request) is None:
        return
    UnansweredRequests(transaction).postpone(request, None)
    act = end_known(Audit(transaction).of_request(request.request))
    address = request.user_id
    if request.was_left and here and act is not None:
        address = here[0]
    is_posted = act is not None and (
        (act.result is ActResult.DONE and act.action in _SHOWN_ACTIONS)
        or act.outcome.circumstance is Circumstance.REMOVED_LATER
    )
    if is_posted and address in here:
        # The card, or the post about its end, tells it there.
        return
    _notify(transaction, SubjectKind.OUTCOME, request, address, now)


def _notify(
    transaction: Transaction, kind: SubjectKind, request: Unanswered, address: str, now: datetime
) -> None:
    if is_machine(request.user_id):
        return
    act = end_known(Audit(transaction).of_request(request.request))
    name = act.repository if act is not None else NO_REPOSITORY
    subject = Subject(kind, name, request.number)
    enqueue_urgent(transaction, subject, [address], now, identity=request.request)


_SHOWN_ACTIONS = frozenset({Action.PAUSE, Action.RESUME, Action.REMOVE})
"""Acts that are posted in the channel of the person who acted."""


def _tell_group(
    transaction: Transaction,
    request: Unanswered,
    group_act_id: int,
    now: datetime,
    *,
    doubt: str | None = None,
) -> None:
    """`doubt`: why nobody knows what became of some of its queues."""
    if UnansweredRequests(transaction).of(request.request) is None:
        return
    UnansweredRequests(transaction).postpone(request, None)
    act = GroupActs(transaction).locked(group_act_id)
    if act is None:
        return
    if act.of(GroupOutcome.UNCERTAIN):
        recorded = _with_those_that_run(transaction, with_recorded(transaction, act))
        act = _without_doubt(recorded, doubt)
        GroupActs(transaction).save(act)
        touch_proposal(transaction, act, now)
        if act.has_changed:
            notify_together(transaction, act, now)
    # The channel's card may tell the actor all of it.
    is_posted_here = act.has_changed and act.channel_id in act.notified_together
    if is_machine(request.user_id) or (is_posted_here and not act.left_to_try):
        return
    enqueue_urgent(
        transaction, group_act_subject(act), [request.user_id], now, identity=act.identity
    )


def _with_those_that_run(transaction: Transaction, act: GroupAct) -> GroupAct:
    """A queue that was to resume and runs is as asked, no matter who resumed it."""
    if act.action is not Action.RESUME:
        return act
    records = Audit(transaction).of_group_act(act.group_act_id, act.at)
    running = {
        record.repository
        for record in records
        if record.outcome.circumstance is Circumstance.FOUND_RUNNING
    }
    results = [
        RepositoryResult(result.repository, GroupOutcome.CHANGED)
        if result.outcome is GroupOutcome.UNCERTAIN and result.repository in running
        else result
        for result in act.results
    ]
    return replace(act, results=tuple(results))


def _without_doubt(act: GroupAct, doubt: str | None) -> GroupAct:
    """What no record shows to be done by now was not done, or there is a `doubt` to tell."""
    results = [
        replace(result, outcome=GroupOutcome.FAILED, detail=doubt or result.detail)
        if result.outcome is GroupOutcome.UNCERTAIN
        else result
        for result in act.results
    ]
    return replace(act, results=tuple(results))
