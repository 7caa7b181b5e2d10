"""Reports of a pause, or of its end, by an act, the event log or a reading, in any order.

Each report is one call here: it finds the pause's record, and posts what is news.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.acts.causes import act_with_reason, carried_out
from bot.acts.ends import end_act, end_of
from bot.acts.record import FROM_LOG, Action, ActResult, AuditRecord, Evidence
from bot.acts.rows import Audit
from bot.kernel.actor import Origin
from bot.kernel.repository import RepositoryName
from bot.log.classification import EventKind, classify
from bot.merge_queue.event_records import EventRecord
from bot.merge_queue.queue import Pause
from bot.pauses.by_rule import AUTO_PAUSE
from bot.pauses.group_pauses import group_act_of, notified_together, notify_together, touch_group
from bot.pauses.history import (
    PAUSE_LOOKBACK,
    cards_of,
    end_pause,
    notify_adopted,
    notify_end,
    notify_replaced,
    notify_void_end,
    open_pause_cards,
    pause_subscribers,
    shown_in,
    touch,
    touch_pause,
)
from bot.pauses.outcomes import pause_of
from bot.pauses.pause import (
    NEAR,
    EarlierLine,
    PauseEnding,
    PauseRecord,
    Timer,
    as_it_was,
    changed_to,
    ended_by_act,
    line_of,
    same_pause,
    seen_again,
)
from bot.pauses.requests import touch_pause_requests
from bot.pauses.rows import Pauses
from bot.posts.delivery import Subject, SubjectKind
from bot.posts.enqueueing import reply
from bot.posts.outbox import Outbox
from bot.store.transaction import Transaction


@dataclass(frozen=True, slots=True)
class _Reported:
    """What a report changed."""

    record: PauseRecord
    lost: EarlierLine | None = None  #: what the pause said before
    void: Timer | None = None  #: the end that it had
    is_news: bool = False
    shown_in: frozenset[str] = frozenset()  #: the channels that showed it


def report_pause(
    transaction: Transaction,
    reported: PauseRecord,
    source: AuditRecord | EventRecord | None,
    channels: Collection[str],
    now: datetime,
    *,
    sets_end: bool = False,
) -> PauseRecord:
    """Record a pause, or a change of it, and tell each channel and whose pause it was.

    While a queue stays paused, another reason, or another person's, is a change of the one pause.
    `source`: the act that made it, or the event that reported it; None for a reading.
    `sets_end`: take the end, or none, from `reported`.
    """
    known = Pauses(transaction).of(reported.repository, reported.paused_at - PAUSE_LOOKBACK)
    is_update = isinstance(source, EventRecord) and classify(source) is EventKind.PAUSE_UPDATE
    earlier = _earlier_lines(transaction, known)
    before = same_pause([*known, *(was for _, was in earlier)], reported, is_update=is_update)
    for line, was in earlier:
        if was is before:
            return _name_line(transaction, known, line, reported, now)
    if before is not None:
        found = _seen_again(transaction, before, reported, now, sets_end=sets_end)
        if isinstance(source, EventRecord) and not found.is_news:
            lines = [line for line, _ in earlier if line.pause_id == before.pause_id]
            is_news = _is_unposted(transaction, before, lines) if lines else is_update
            found = replace(found, is_news=is_news)
    else:
        found = _put(transaction, known, reported, now)
    _tell(transaction, found, source, {*channels, *found.shown_in}, now)
    return found.record


def _is_unposted(
    transaction: Transaction, record: PauseRecord, lines: Sequence[EarlierLine]
) -> bool:
    """Whether no reading has shown, and posted, what the pause says now.

    `lines`: what it said before, latest first.
    """
    changed = Subject(SubjectKind.PAUSE_CHANGED, record.repository, lines[0].line_id)
    return not Outbox(transaction).addressees(changed)


def _tell(
    transaction: Transaction,
    found: _Reported,
    source: AuditRecord | EventRecord | None,
    channels: Collection[str],
    now: datetime,
) -> None:
    """Show the pause in the channels, and tell what changed in the threads of its cards."""
    record = found.record
    open_pause_cards(transaction, record, channels, now)
    if record.has_unknown_end:
        notify_adopted(transaction, record, channels, now, is_logged=source is not None)
    if found.lost is not None:
        act_id = source.record_id if isinstance(source, AuditRecord) else None
        notify_replaced(transaction, found.lost, record, act_id, now)
        if found.void is not None:
            notify_void_end(transaction, found.void, found.lost, record, now)
    cards = cards_of(transaction, record) if found.is_news else ()
    if isinstance(source, AuditRecord):
        subject = Subject(SubjectKind.ACT, source.repository, source.record_id)
        reply(transaction, subject, cards, now, identity=source.identity)
    elif isinstance(source, EventRecord):
        subject = Subject(SubjectKind.EVENT, source.repository, source.event_id)
        identity = str(source.event_id)
        reply(transaction, subject, cards, now, identity=identity, kind=classify(source))
    elif found.lost is not None:
        subject = Subject(SubjectKind.PAUSE_CHANGED, record.repository, found.lost.line_id)
        reply(transaction, subject, cards, now, identity=record.line_identity)


def _seen_again(
    transaction: Transaction,
    before: PauseRecord,
    reported: PauseRecord,
    now: datetime,
    *,
    sets_end: bool,
) -> _Reported:
    record = seen_again(before, reported)
    if sets_end:
        record = replace(record, timer=reported.timer)
    is_news = before.stored_reason != record.stored_reason
    lost = _keep_line(transaction, before) if is_news else None
    _change(transaction, before, record, now)
    return _Reported(record, lost, is_news=is_news)


def _put(
    transaction: Transaction, known: Sequence[PauseRecord], reported: PauseRecord, now: datetime
) -> _Reported:
    """A new pause, or a change of the one in force."""
    in_force = next((pause for pause in known if pause.is_open), None)
    if in_force is not None and reported.paused_at < in_force.paused_at:
        return _Reported(_begun_before(transaction, in_force, reported, now))
    return _set(transaction, in_force, reported, now)


def _set(
    transaction: Transaction, in_force: PauseRecord | None, reported: PauseRecord, now: datetime
) -> _Reported:
    """What is reported is in force now: a new pause, or another line of the one that was."""
    if in_force is None:
        record = replace(reported, pause_id=0)
        return _Reported(replace(record, pause_id=Pauses(transaction).save(record)))
    shown = frozenset(shown_in(transaction, in_force, with_group=True))
    lost = _keep_line(transaction, in_force)
    record = changed_to(in_force, reported)
    _change(transaction, in_force, record, now)
    # What waits for a second person was about the pause as it was.
    touch_pause_requests(transaction, record.repository, now)
    void = in_force.timer if record.timer is None else None
    return _Reported(record, lost, void, is_news=True, shown_in=shown)


def _earlier_lines(
    transaction: Transaction, known: Sequence[PauseRecord]
) -> Sequence[tuple[EarlierLine, PauseRecord]]:
    """What each pause said before it was changed, latest first, and the pause as it was then."""
    records = {record.pause_id: record for record in known}
    until = {record.pause_id: record.paused_at for record in known}
    found = []
    for line in reversed(Pauses(transaction).earlier_lines(records)):
        found.append((line, as_it_was(records[line.pause_id], line, until[line.pause_id])))
        until[line.pause_id] = line.paused_at
    return found


def _keep_line(transaction: Transaction, record: PauseRecord) -> EarlierLine:
    """Store what the pause says until now."""
    line = line_of(record)
    return replace(line, line_id=Pauses(transaction).save_line(line))


def _name_line(
    transaction: Transaction,
    known: Sequence[PauseRecord],
    line: EarlierLine,
    reported: PauseRecord,
    now: datetime,
) -> PauseRecord:
    """A report of what a pause said before: it only adds who did that."""
    (record,) = [pause for pause in known if pause.pause_id == line.pause_id]
    was = seen_again(as_it_was(record, line, record.paused_at), reported)
    named = replace(line_of(was), line_id=line.line_id)
    if named != line:
        Pauses(transaction).save_line(named)
        touch(transaction, was, now)
    return record


def _begun_before(
    transaction: Transaction, in_force: PauseRecord, reported: PauseRecord, now: datetime
) -> PauseRecord:
    """The pause in force, of which an earlier reason is reported late."""
    Pauses(transaction).save_line(replace(line_of(reported), pause_id=in_force.pause_id))
    record = replace(in_force, began_at=min(in_force.since, reported.paused_at))
    _change(transaction, in_force, record, now)
    return record


def _change(
    transaction: Transaction, before: PauseRecord, record: PauseRecord, now: datetime
) -> None:
    if record != before:
        Pauses(transaction).save(record)
    if replace(record, event_id=before.event_id) != before:
        # No message shows the event's id, so it needs no edit.
        touch_pause(transaction, record, now)
    if record.group_act_id != before.group_act_id:
        touch_group(transaction, before, now)
    if record.by != before.by:
        # The live message of a group names those who paused its repositories again.
        for line in Pauses(transaction).earlier_lines([record.pause_id]):
            touch_group(transaction, as_it_was(record, line, record.paused_at), now)


def to_notify(
    transaction: Transaction, part: AuditRecord | PauseRecord, channels: Collection[str] = ()
) -> set[str]:
    """`channels` and the subscribed ones, except those that get one post about the group."""
    subscribed = {*channels, *pause_subscribers(transaction, part.repository)}
    return subscribed.difference(notified_together(transaction, part))


def act_behind(
    transaction: Transaction, repository: RepositoryName, pause: Pause, now: datetime
) -> AuditRecord | None:
    """The act that made a pause read from the service, even if its answer was lost."""
    acts = Audit(transaction).since(repository, min(now, pause.paused_at) - NEAR)
    return act_with_reason(acts, Action.PAUSE, pause.reason)


def finish_act(
    transaction: Transaction,
    act: AuditRecord,
    channels: Collection[str],
    now: datetime,
    *,
    at: datetime | None,
    event: EventRecord | None = None,
) -> tuple[AuditRecord, PauseRecord]:
    """Store the end of an act that the service carried out, and report its pause.

    Notifies `channels` and all subscribed to pauses, except those that get one post about the
    whole group. Another source may have told of the act: then its end and posts are there already.
    `act`: its end, or its beginning if it was cut off before that.
    `at`: the service's time of the pause that it made, or of the end, if known; else that of the
    event is close to it.
    """
    done = _complete(transaction, act, channels, at=at, event=event)
    act = done.act
    made = pause_of(act, at, event.event_id if event is not None else None)
    if made is None:
        record = _end_by_act(transaction, act, done.channels, at or act.at, now)
    else:
        is_new = done.is_new
        record = report_pause(transaction, made, act, done.channels, now, sets_end=is_new)
    _notify_group(transaction, act, now)
    return act, record


@dataclass(frozen=True, slots=True)
class _Completed:
    """An act that the service carried out."""

    act: AuditRecord  #: its end
    is_new: bool  #: no other source has told of it before
    channels: set[str]  #: the ones to notify


def _complete(
    transaction: Transaction,
    act: AuditRecord,
    channels: Collection[str],
    *,
    at: datetime | None,
    event: EventRecord | None = None,
) -> _Completed:
    """Store the end of an act; arguments as of `finish_act`."""
    if act.result is not ActResult.DONE:
        paused_at = at or (event.received_at if event is not None else act.at)
        detail = FROM_LOG if event is not None else "known from the pause in force"
        done = end_of(act, ActResult.DONE, detail)
        act = replace(done, paused_at=paused_at if act.action is Action.PAUSE else None)
        channels = {*channels, *filter(None, [act.channel_id])}
    # Lock pauses before channel queues, as everywhere else.
    act, is_new = end_act(transaction, act)
    return _Completed(act, is_new, to_notify(transaction, act, channels))


def _notify_group(transaction: Transaction, act: AuditRecord, now: datetime) -> None:
    group_act = group_act_of(transaction, act)
    if group_act is not None and group_act.ended_at is not None:
        notify_together(transaction, group_act, now)


def set_by_act(
    transaction: Transaction,
    in_force: PauseRecord | None,
    act: AuditRecord,
    paused_at: datetime,
    now: datetime,
) -> PauseRecord:
    """A reading shows what the act made: the end of the act, and the pause or its new line."""
    done = _complete(transaction, act, (), at=paused_at)
    made = pause_of(done.act, paused_at, None)
    if made is None:
        raise TypeError(act)
    found = _set(transaction, in_force, made, now)
    _tell(transaction, found, done.act, {*done.channels, *found.shown_in}, now)
    _notify_group(transaction, done.act, now)
    return found.record


def set_elsewhere(
    transaction: Transaction, in_force: PauseRecord | None, seen: PauseRecord, now: datetime
) -> PauseRecord:
    """A reading shows a pause, or a new line of it, which no act on record made."""
    found = _set(transaction, in_force, seen, now)
    channels = to_notify(transaction, seen)
    _tell(transaction, found, None, {*channels, *found.shown_in}, now)
    return found.record


def set_as_before(
    transaction: Transaction, in_force: PauseRecord, line: EarlierLine, now: datetime
) -> PauseRecord:
    """The pause says again what it said before, which is no news."""
    Pauses(transaction).save_line(replace(line_of(in_force), line_id=line.line_id))
    was = as_it_was(in_force, line, now)
    record = replace(changed_to(in_force, was), timer=in_force.timer)
    _change(transaction, in_force, record, now)
    touch_pause_requests(transaction, record.repository, now)
    return record


def _end_by_act(
    transaction: Transaction,
    act: AuditRecord,
    channels: Collection[str],
    seen_at: datetime,
    now: datetime,
) -> PauseRecord:
    known = Pauses(transaction).of(act.repository, act.at - PAUSE_LOOKBACK)
    pause = ended_by_act(known, act.previous_paused_at, act.at)
    if pause is None:
        reason = act.previous_reason or ""
        unseen = PauseRecord(act.repository, act.previous_paused_at or act.at, reason, reason)
        pause = report_pause(transaction, unseen, None, (), now)
        if act.previous_paused_at is not None and pause.paused_at > act.previous_paused_at:
            # Somebody has paused again since, and no reading showed the gap.
            return pause
    ending = PauseEnding.TIMER if act.origin is Origin.TIMER else PauseEnding.RESUMED
    if pause.is_open:
        pause = replace(pause, end_seen_at=seen_at)
    ended = end_pause(transaction, pause, act.at, act.actor, now, ending=ending)
    notify_end(transaction, ended, channels, now, act)
    return ended


def reason_of_end(transaction: Transaction, pause: PauseRecord) -> str | None:
    """Why the person resumed the queue, if they said so."""
    if pause.ended_at is None:
        return None
    acts = Audit(transaction).since(pause.repository, pause.ended_at - NEAR)
    resumed = [
        act
        for act in carried_out(acts)
        if act.action is Action.RESUME
        and act.actor == pause.ended_by
        and pause.is_of(act.previous_paused_at)
    ]
    return resumed[-1].reason if resumed else None


def evidence_of(transaction: Transaction, pause: PauseRecord) -> Evidence | None:
    """What the rule acted on that made the pause; None if a person made it."""
    if pause.pauser != AUTO_PAUSE.user_id:
        return None
    acts = Audit(transaction).since(pause.repository, pause.paused_at - NEAR)
    act = act_with_reason(acts, Action.PAUSE, pause.stored_reason)
    return act.evidence if act is not None else None
