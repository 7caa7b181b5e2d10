"""From the log's pause events to the pause's record, its live messages and posts."""

from collections.abc import Collection
from datetime import datetime

from bot.acts.record import SOMEBODY, ActResult, AuditRecord
from bot.kernel.actor import Actor
from bot.log.classification import EventKind, classify
from bot.merge_queue.event_records import EventRecord
from bot.merge_queue.queue import Pause
from bot.pauses import pause as pause_record
from bot.pauses.history import PAUSE_LOOKBACK, end_pause, notify_end
from bot.pauses.reports import finish_act, report_pause
from bot.pauses.rows import Pauses
from bot.posts.delivery import Subject, SubjectKind
from bot.posts.enqueueing import enqueue_urgent
from bot.store.transaction import Transaction


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
        finish_act(transaction, act, channels, now, at=exact, event=record)
    elif classify(record) is EventKind.RESUME:
        _record_end(transaction, record, channels, now, observed)
    else:
        reported = pause_record.PauseRecord(
            repository=record.repository,
            paused_at=exact or record.received_at,
            stored_reason=reason,
            reason=reason,
            is_exact=exact is not None,
            by=_who(record),
            event_id=record.event_id,
        )
        if reported.by is None:
            reported = pause_record.adopted(reported)
        report_pause(transaction, reported, record, channels, now)


def _is_of_later_pause(transaction: Transaction, record: EventRecord, act: AuditRecord) -> bool:
    """Whether the event ended a pause that began after the one which the act ended."""
    if classify(record) is not EventKind.RESUME or act.previous_paused_at is None:
        return False
    known = Pauses(transaction).of(record.repository, record.received_at - PAUSE_LOOKBACK)
    ended = pause_record.ended_by_event(known, record.received_at)
    if ended is None or not act.previous_paused_at < ended.paused_at <= record.received_at:
        return False
    # A pause whose end an act has on record is over, and was ended by that act's actor.
    is_done = act.result is ActResult.DONE
    return is_done or pause_record.ended_by_act([ended], act.previous_paused_at, act.at) is None


def _record_end(
    transaction: Transaction,
    record: EventRecord,
    channels: Collection[str],
    now: datetime,
    observed: Pause | None,
) -> None:
    known = Pauses(transaction).of(record.repository, record.received_at - PAUSE_LOOKBACK)
    in_force_since = observed.paused_at if observed is not None else None
    pause = pause_record.ended_by_event(known, record.received_at, in_force_since)
    if pause is None and pause_record.was_paused_again(known, record.received_at, in_force_since):
        # No reading showed the gap: for the bot the queue stayed paused.
        return
    if pause is None:
        # The end of a pause by an act was posted with the act.
        if not pause_record.was_ended_by_act(known, record.received_at):
            subject = Subject(SubjectKind.EVENT, record.repository, record.event_id)
            identity = str(record.event_id)
            kind = classify(record)
            enqueue_urgent(transaction, subject, channels, now, identity=identity, kind=kind)
        return
    ended = end_pause(transaction, pause, record.received_at, _who_ended(record), now)
    notify_end(transaction, ended, channels, now)


def _who_ended(record: EventRecord) -> Actor | None:
    return SOMEBODY if record.details.is_ours else _who(record)


def _who(record: EventRecord) -> Actor | None:
    return Actor("", record.details.actor) if record.details.actor else None
