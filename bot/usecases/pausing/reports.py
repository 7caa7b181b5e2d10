"""Reports of a pause, or of its end, by an act, the event log or a reading, in any order.

Each report is one call here: it finds the pause's record, and posts what is news.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from bot.domain.audit import FROM_LOG, Action, ActResult, AuditRecord, Evidence, Origin
from bot.domain.auto_pause import AUTO_PAUSE
from bot.domain.causes import act_with_reason
from bot.domain.classification import EventKind, classify
from bot.domain.deliveries import Subject, SubjectKind
from bot.domain.event_records import EventRecord
from bot.domain.pause_records import (
    NEAR,
    PauseEnding,
    PauseRecord,
    ended_by_act,
    observed,
    over,
    same_pause,
    seen_again,
)
from bot.domain.pauses import pause_of
from bot.domain.queue import Pause
from bot.domain.repository import RepositoryName
from bot.store.transactions import Transaction
from bot.usecases.live_messages import reply
from bot.usecases.pausing.group_pauses import (
    group_act_of,
    notified_together,
    notify_together,
    touch_group,
)
from bot.usecases.pausing.pause_history import (
    PAUSE_LOOKBACK,
    cards_of,
    end_pause,
    notify_end,
    notify_replaced,
    open_pause_cards,
    pause_subscribers,
    reopen_pause,
    shown_in,
    shown_pause,
    touch,
    touch_pause,
)

ACT_MEMORY = timedelta(hours=1)
"""How far back to search for the end of an act; far longer than any request."""


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

    `source`: the act that made it, or the event that reported it; None for a reading.
    `sets_end`: take the end, or none, from `reported`.
    """
    act = source if isinstance(source, AuditRecord) else None
    is_update = isinstance(source, EventRecord) and classify(source) is EventKind.PAUSE_UPDATE
    known = transaction.pauses.of(reported.repository, reported.paused_at - PAUSE_LOOKBACK)
    before = same_pause(known, reported, is_update=is_update)
    if before is None:
        takes_messages = act is not None and act.previous_paused_at is not None
        record, lost = _begin(transaction, known, reported, now, takes_messages=takes_messages)
        channels = {*channels, *(shown_in(transaction, lost, with_group=True) if lost else ())}
        is_news = takes_messages and lost is not None
    else:
        record = seen_again(before, reported)
        record = replace(record, timer=reported.timer) if sets_end else record
        _change(transaction, known, before, record, now)
        has_new_reason = before.stored_reason != record.stored_reason
        lost, is_news = before if has_new_reason else None, has_new_reason or is_update
    open_pause_cards(transaction, record, channels, now)
    if lost is not None:
        notify_replaced(transaction, lost, record, act.record_id if act else None, now)
    # The replies go to the threads of the pause's cards.
    if is_news and act is not None:
        subject = Subject(SubjectKind.ACT, act.repository, act.record_id)
        reply(transaction, subject, cards_of(transaction, record), now, identity=act.identity)
    elif is_news and isinstance(source, EventRecord):
        subject = Subject(SubjectKind.EVENT, source.repository, source.event_id)
        identity, kind = str(source.event_id), classify(source)
        cards = cards_of(transaction, record)
        reply(transaction, subject, cards, now, identity=identity, kind=kind)
    return record


def _change(
    transaction: Transaction,
    known: Sequence[PauseRecord],
    before: PauseRecord,
    record: PauseRecord,
    now: datetime,
) -> None:
    if record != before:
        transaction.pauses.save(record)
    if replace(record, event_id=before.event_id) != before:
        # No message shows the event's id, so it needs no edit.
        touch_pause(transaction, record, now)
    if record.group_act_id != before.group_act_id:
        touch_group(transaction, before, now)
    if record.by != before.by:
        # The live message of a group names those who paused its repositories again.
        for one in known:
            if one.ending is PauseEnding.REPLACED and one.ended_at == before.paused_at:
                touch_group(transaction, one, now)


def _begin(
    transaction: Transaction,
    known: Sequence[PauseRecord],
    reported: PauseRecord,
    now: datetime,
    *,
    takes_messages: bool,
) -> tuple[PauseRecord, PauseRecord | None]:
    """Record a new pause; return it, and the one in force that it replaced.

    `takes_messages`: the live messages of the replaced pause show it: one message tells both.
    """
    in_force = next((one for one in known if one.is_open), None)
    if in_force is not None and in_force.paused_at > reported.paused_at:
        # Reported late: its replacement is known already and posted.
        late = over(reported, in_force.paused_at, in_force.by, PauseEnding.REPLACED)
        late = replace(late, end_notified=True)
        return replace(late, pause_id=transaction.pauses.save(late)), None
    previous = in_force.reason if in_force is not None else None
    previous = None if previous == reported.reason else previous
    record = replace(reported, previous_reason=previous, pause_id=0)
    record = replace(record, pause_id=transaction.pauses.save(record))
    if in_force is not None:
        in_force = over(in_force, record.paused_at, record.by, PauseEnding.REPLACED)
        in_force = replace(in_force, end_notified=True)
        transaction.pauses.save(in_force)
        if takes_messages:
            shown = transaction.live_messages.of(shown_pause(in_force))
            transaction.live_messages.move([one.message_id for one in shown], shown_pause(record))
        touch(transaction, in_force, now)
        transaction.resume_watchers.move(in_force.pause_id, record.pause_id)
        touch_pause(transaction, record, now)
    return record, in_force


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
    acts = transaction.audit.since(repository, min(now, pause.paused_at) - NEAR)
    return act_with_reason(acts, Action.PAUSE, pause.reason)


def report_reading(
    transaction: Transaction,
    repository: RepositoryName,
    pause: Pause,
    act: AuditRecord | None,
    now: datetime,
) -> None:
    """Record the pause in force, as read from the service; `act` made it, if any."""
    if act is not None:
        paused_at = pause.paused_at if pause.is_dated else None
        _, record = finish_act(transaction, act, (), now, paused_at=paused_at)
    else:
        seen = observed(repository, pause)
        record = report_pause(transaction, seen, None, to_notify(transaction, seen), now)
    if pause.is_dated and not record.is_open:
        reopen_pause(transaction, record, to_notify(transaction, record), now)


def finish_act(
    transaction: Transaction,
    act: AuditRecord,
    channels: Collection[str],
    now: datetime,
    *,
    paused_at: datetime | None,
    event: EventRecord | None = None,
) -> tuple[AuditRecord, PauseRecord]:
    """Store the end of an act that the service carried out, and report its pause.

    Notifies `channels` and all subscribed to pauses, except those that get one post about the
    whole group. Another source may have told of the act: then its end and posts are there already.
    `act`: its end, or its beginning if it was cut off before that.
    `paused_at`: the pause's own time, if known; else that of the event is close to it.
    """
    if act.result is not ActResult.DONE:
        at = paused_at or (event.received_at if event is not None else act.at)
        detail = FROM_LOG if event is not None else "known from the pause in force"
        done = end_of(act, ActResult.DONE, detail)
        act = replace(done, paused_at=at if act.action is Action.PAUSE else None)
        channels = {*channels, *filter(None, [act.channel_id])}
    # Lock pauses before channel queues, as everywhere else.
    act, is_new = end_act(transaction, act)
    subscribed = to_notify(transaction, act, channels)
    made = pause_of(act, paused_at, event.event_id if event is not None else None)
    if made is None:
        record = _end_by_act(transaction, act, subscribed, now)
    else:
        record = report_pause(transaction, made, act, subscribed, now, sets_end=is_new)
    group_act = group_act_of(transaction, act)
    if group_act is not None and group_act.ended_at is not None:
        notify_together(transaction, group_act, now)
    return act, record


def _end_by_act(
    transaction: Transaction, act: AuditRecord, channels: Collection[str], now: datetime
) -> PauseRecord:
    known = transaction.pauses.of(act.repository, act.at - PAUSE_LOOKBACK)
    pause = ended_by_act(known, act.previous_paused_at, act.at)
    if pause is None:
        reason = act.previous_reason or ""
        unseen = PauseRecord(act.repository, act.previous_paused_at or act.at, reason, reason)
        pause = report_pause(transaction, unseen, None, (), now)
    ending = PauseEnding.TIMER if act.origin is Origin.TIMER else PauseEnding.RESUMED
    ended = end_pause(transaction, pause, act.at, act.actor, now, ending=ending)
    notify_end(transaction, ended, channels, now, act)
    return ended


def end_of(started: AuditRecord, result: ActResult, detail: str | None = None) -> AuditRecord:
    """The record of the act's end, which is yet to be stored."""
    return replace(started, result=result, detail=detail, act_id=started.record_id, record_id=0)


def end_act(transaction: Transaction, done: AuditRecord) -> tuple[AuditRecord, bool]:
    """Store the end of an act once; return it, and whether it was new.

    If the event log was read first, it has already stored the end. The posts are then the same
    deliveries, not new ones.
    """
    if done.record_id:
        return done, False
    records = transaction.audit.since(done.repository, done.at - ACT_MEMORY)
    for record in records:
        if record.act_id == done.act_id and record.result is ActResult.DONE:
            return record, False
    return replace(done, record_id=transaction.audit.add(done)), True


def evidence_of(transaction: Transaction, pause: PauseRecord) -> Evidence | None:
    """What the rule acted on that made the pause; None if a person made it."""
    if pause.pauser != AUTO_PAUSE.user_id:
        return None
    acts = transaction.audit.since(pause.repository, pause.paused_at - NEAR)
    act = act_with_reason(acts, Action.PAUSE, pause.stored_reason)
    return act.evidence if act is not None else None
