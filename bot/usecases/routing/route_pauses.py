"""From the log's pause events to the pause's record, its live messages and posts."""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime

from bot.domain.audit import FROM_LOG, ActResult, AuditRecord
from bot.domain.classification import EventKind, classify
from bot.domain.deliveries import Subject, SubjectKind
from bot.domain.event_records import EventRecord
from bot.domain.pause_records import (
    PauseEnding,
    PauseRecord,
    Who,
    ended_by_act,
    ended_by_event,
    over,
    was_ended_by_act,
)
from bot.domain.queue import Pause
from bot.store.transactions import Transaction
from bot.usecases.live_messages import enqueue_urgent, reply
from bot.usecases.pausing.acts import record_and_notify, settle_act
from bot.usecases.pausing.group_pauses import group_act_of, notify_together
from bot.usecases.pausing.pause_history import (
    PAUSE_LOOKBACK,
    cards_of,
    end_pause,
    notify_end,
    notify_replaced,
    see_pause,
    touch_pause,
)


def route_pause_event(
    transaction: Transaction,
    record: EventRecord,
    act: AuditRecord | None,
    channels: Collection[str],
    now: datetime,
    observed: Pause | None,
) -> None:
    """Record the event, and notify the channels subscribed to pauses.

    `act`: the act of this bot that caused it, if any.
    `observed`: the pause in force when read after the event.
    """
    if act is not None and not _is_of_later_pause(transaction, record, act):
        _route_act(transaction, record, act, channels, now, observed)
    else:
        _route_pause(transaction, record, channels, now, observed)


def _is_of_later_pause(transaction: Transaction, record: EventRecord, act: AuditRecord) -> bool:
    """Whether the event ended a pause that began after the one which the act ended."""
    if classify(record) is not EventKind.RESUME or act.previous_paused_at is None:
        return False
    known = transaction.pauses.of(record.repository, record.received_at - PAUSE_LOOKBACK)
    ended = ended_by_event(known, record.received_at)
    if ended is None or not act.previous_paused_at < ended.paused_at <= record.received_at:
        return False
        # A pause whose end an act has on record is over, and was ended by that act's actor.
    is_done = act.result is ActResult.DONE
    return is_done or ended_by_act([ended], act.previous_paused_at, act.at) is None


def _route_act(
    transaction: Transaction,
    record: EventRecord,
    act: AuditRecord,
    channels: Collection[str],
    now: datetime,
    observed: Pause | None,
) -> None:
    """Usually the answer to the act was posted already, unless a crash cut it short."""
    if act.result is ActResult.DONE:
        ended, paused_at, is_new = act, act.paused_at, False
    else:
        reason = record.details.reason
        is_it = observed is not None and observed.reason == reason
        paused_at = observed.paused_at if observed is not None and is_it else None
        # Second best: the time of the event, until a reading of the pause gives its own.
        at = paused_at or record.received_at if reason is not None else None
        ended, is_new = settle_act(transaction, act, at, FROM_LOG)
        if ended.channel_id is not None:
            channels = {*channels, ended.channel_id}
    # Lock pauses before channel queues, as everywhere else.
    record_and_notify(
        transaction,
        ended,
        channels,
        now,
        paused_at=paused_at,
        event_id=record.event_id,
        sets_end=is_new,
    )
    group_act = group_act_of(transaction, ended)
    if group_act is not None and group_act.ended_at is not None:
        notify_together(transaction, group_act, now)


def _route_pause(
    transaction: Transaction,
    record: EventRecord,
    channels: Collection[str],
    now: datetime,
    observed: Pause | None,
) -> None:
    """Record a pause made or changed, or a queue resumed, outside the bot."""
    if classify(record) is EventKind.RESUME:
        _record_end(transaction, record, channels, now, observed)
        return
    reason = record.details.reason or ""
    is_in_force = observed is not None and observed.reason == reason
    reported = PauseRecord(
        repository=record.repository,
        paused_at=observed.paused_at if observed and is_in_force else record.received_at,
        stored_reason=reason,
        reason=reason,
        is_exact=is_in_force,
        by=_who(record),
        event_id=record.event_id,
    )
    is_update = classify(record) is EventKind.PAUSE_UPDATE
    seen = see_pause(transaction, reported, channels, now, is_update=is_update)
    notify_replaced(transaction, seen, None, now)
    if seen.has_new_reason or (is_update and seen.before is not None):
        subject = Subject(SubjectKind.EVENT, record.repository, record.event_id)
        cards = cards_of(transaction, seen.record)
        identity = str(record.event_id)
        reply(transaction, subject, cards, now, identity=identity, kind=classify(record))


def _record_end(
    transaction: Transaction,
    record: EventRecord,
    channels: Collection[str],
    now: datetime,
    observed: Pause | None,
) -> None:
    known = transaction.pauses.of(record.repository, record.received_at - PAUSE_LOOKBACK)
    in_force_since = observed.paused_at if observed is not None else None
    pause = ended_by_event(known, record.received_at, in_force_since)
    if pause is None:
        # The end of a pause by an act was posted with the act.
        if not was_ended_by_act(known, record.received_at):
            _enqueue_event(transaction, record, channels, now)
        return
    is_followed = pause.ending is PauseEnding.REPLACED
    if is_followed:
        pause = _ended_before_the_next(transaction, pause, record, now)
    ended = end_pause(transaction, pause, record.received_at, _who(record), now)
    # The next pause has its post, so the last message in the channel stays true.
    if not is_followed:
        notify_end(transaction, ended, channels, now)


def _ended_before_the_next(
    transaction: Transaction, pause: PauseRecord, record: EventRecord, now: datetime
) -> PauseRecord:
    """Close a pause whose replacement was seen before this event reported its end."""
    closed = over(pause, record.received_at, _who(record), PauseEnding.RESUMED)
    closed = replace(closed, end_notified=True)
    transaction.pauses.save(closed)
    touch_pause(transaction, closed, now, closed=True)
    return closed


def _enqueue_event(
    transaction: Transaction, record: EventRecord, channels: Collection[str], now: datetime
) -> None:
    subject = Subject(SubjectKind.EVENT, record.repository, record.event_id)
    identity = str(record.event_id)
    enqueue_urgent(transaction, subject, channels, now, identity=identity, kind=classify(record))


def _who(record: EventRecord) -> Who | None:
    return Who(record.details.actor) if record.details.actor else None
