"""From the log's pause events to the pause's record, its live messages and posts."""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime

from bot.domain import pause_records
from bot.domain.audit import Actor, ActResult, AuditRecord
from bot.domain.classification import EventKind, classify
from bot.domain.deliveries import Subject, SubjectKind
from bot.domain.event_records import EventRecord
from bot.domain.queue import Pause
from bot.store.transactions import Transaction
from bot.usecases.live_messages import enqueue_urgent
from bot.usecases.pausing.pause_history import PAUSE_LOOKBACK, end_pause, notify_end, touch_pause
from bot.usecases.pausing.reports import finish_act, report_pause


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
    reason = record.details.reason or ""
    exact = observed.paused_at if observed is not None and observed.reason == reason else None
    if act is not None and not _is_of_later_pause(transaction, record, act):
        exact = act.paused_at if act.result is ActResult.DONE else exact
        finish_act(transaction, act, channels, now, paused_at=exact, event=record)
    elif classify(record) is EventKind.RESUME:
        _record_end(transaction, record, channels, now, observed)
    else:
        reported = pause_records.PauseRecord(
            repository=record.repository,
            paused_at=exact or record.received_at,
            stored_reason=reason,
            reason=reason,
            is_exact=exact is not None,
            by=_who(record),
            event_id=record.event_id,
        )
        report_pause(transaction, reported, record, channels, now)


def _is_of_later_pause(transaction: Transaction, record: EventRecord, act: AuditRecord) -> bool:
    """Whether the event ended a pause that began after the one which the act ended."""
    if classify(record) is not EventKind.RESUME or act.previous_paused_at is None:
        return False
    known = transaction.pauses.of(record.repository, record.received_at - PAUSE_LOOKBACK)
    ended = pause_records.ended_by_event(known, record.received_at)
    if ended is None or not act.previous_paused_at < ended.paused_at <= record.received_at:
        return False
    # A pause whose end an act has on record is over, and was ended by that act's actor.
    is_done = act.result is ActResult.DONE
    return is_done or pause_records.ended_by_act([ended], act.previous_paused_at, act.at) is None


def _record_end(
    transaction: Transaction,
    record: EventRecord,
    channels: Collection[str],
    now: datetime,
    observed: Pause | None,
) -> None:
    known = transaction.pauses.of(record.repository, record.received_at - PAUSE_LOOKBACK)
    in_force_since = observed.paused_at if observed is not None else None
    pause = pause_records.ended_by_event(known, record.received_at, in_force_since)
    if pause is None:
        # The end of a pause by an act was posted with the act.
        if not pause_records.was_ended_by_act(known, record.received_at):
            subject = Subject(SubjectKind.EVENT, record.repository, record.event_id)
            identity, kind = str(record.event_id), classify(record)
            enqueue_urgent(transaction, subject, channels, now, identity=identity, kind=kind)
        return
    if pause.ending is pause_records.PauseEnding.REPLACED:
        # Its replacement was seen first and has its post: the last message stays true.
        closed = pause_records.over(
            pause, record.received_at, _who(record), pause_records.PauseEnding.RESUMED
        )
        closed = replace(closed, end_notified=True)
        transaction.pauses.save(closed)
        touch_pause(transaction, closed, now)
        return
    ended = end_pause(transaction, pause, record.received_at, _who(record), now)
    notify_end(transaction, ended, channels, now)


def _who(record: EventRecord) -> Actor | None:
    return Actor("", record.details.actor) if record.details.actor else None
