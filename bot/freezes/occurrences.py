"""What becomes of the occurrences of windows, as it is stored: each function is one transaction."""

from dataclasses import replace
from datetime import datetime

from bot.acts.ends import end_act, end_of
from bot.acts.posting import post_act
from bot.acts.record import Action, ActResult, AuditRecord
from bot.acts.rows import Audit
from bot.freezes.following import freeze_subscribers
from bot.freezes.rows import Occurrences
from bot.freezes.windows import OccurrenceKey, OccurrenceRecord, OccurrenceState
from bot.pauses.history import pause_subscribers
from bot.store.transaction import Transaction


def lasting(transaction: Transaction, now: datetime) -> dict[OccurrenceKey, OccurrenceRecord]:
    """What is known of the occurrences whose end is to come."""
    return {record.key: record for record in Occurrences(transaction).lasting(now)}


def read_occurrence(transaction: Transaction, key: OccurrenceKey) -> OccurrenceRecord | None:
    return Occurrences(transaction).get(key)


def last_act(transaction: Transaction, record: OccurrenceRecord) -> AuditRecord | None:
    """The last act on the occurrence."""
    return Audit(transaction).one(record.act_id) if record.act_id else None


def is_done(transaction: Transaction, begun: AuditRecord) -> bool:
    """Whether the act, whose answer isn't known, is known to be carried out."""
    acts = Audit(transaction).since(begun.repository, begun.at)
    return any(act.act_id == begun.record_id and act.result is ActResult.DONE for act in acts)


def begin(
    transaction: Transaction, key: OccurrenceKey, ends_at: datetime, act: AuditRecord
) -> AuditRecord | None:
    """Store the act that freezes or pauses, before the service is asked; None if it is not to.

    An act with an `act_id` repeats one that has begun.
    """
    known = Occurrences(transaction).locked(key)
    if known is not None and not known.is_to_come:
        return None
    begun = replace(act, record_id=act.act_id or Audit(transaction).add(act))
    record = _again(known) or _new(key, ends_at)
    Occurrences(transaction).save(replace(record, ends_at=ends_at, act_id=begun.record_id))
    return begun


def store_state(
    transaction: Transaction,
    key: OccurrenceKey,
    state: OccurrenceState,
    ends_at: datetime,
    *,
    done: AuditRecord | None = None,
    freeze_id: str | None = None,
) -> None:
    """The occurrence is frozen or paused, or was and a person has ended that.

    `done`: the act that did it, whose end is stored unless it is known.
    """
    known = Occurrences(transaction).locked(key)
    record = replace(known or _new(key, ends_at), state=state, ends_at=ends_at, freeze_id=freeze_id)
    if done is not None:
        end_act(transaction, end_of(done, ActResult.DONE, done.outcome.detail))
        record = replace(record, act_id=done.record_id)
    Occurrences(transaction).save(record)


def change(transaction: Transaction, seen: OccurrenceRecord, after: OccurrenceRecord) -> bool:
    """Store what became of the occurrence, unless that has changed since it was `seen`."""
    if Occurrences(transaction).locked(seen.key) != seen:
        return False
    Occurrences(transaction).save(after)
    return True


def announce(
    transaction: Transaction, key: OccurrenceKey, ends_at: datetime, plan: AuditRecord
) -> bool:
    """Post the plan of a pause, once."""
    known = Occurrences(transaction).locked(key)
    if known is not None and (known.state is OccurrenceState.ANNOUNCED or not known.is_to_come):
        return False
    posted = _record_and_post(transaction, plan)
    record = replace(
        _again(known) or _new(key, ends_at),
        state=OccurrenceState.ANNOUNCED,
        ends_at=ends_at,
        act_id=posted.record_id,
    )
    Occurrences(transaction).save(record)
    return True


def skip(
    transaction: Transaction, key: OccurrenceKey, ends_at: datetime | None, act: AuditRecord
) -> tuple[AuditRecord, bool]:
    """Skip the occurrence for a person, unless it was skipped, has begun or is over.

    `ends_at`: its end; None if the settings don't plan it.
    Return the act that did so, and whether it is this one: UNCHANGED if no act is known.
    """
    known = Occurrences(transaction).locked(key)
    unchanged = replace(act, result=ActResult.UNCHANGED)
    if known is not None and not known.is_to_come:
        return last_act(transaction, known) or unchanged, False
    if ends_at is None or ends_at <= act.at:
        return unchanged, False
    posted = _record_and_post(transaction, act)
    record = known or _new(key, ends_at)
    Occurrences(transaction).save(
        replace(record, state=OccurrenceState.SKIPPED, act_id=posted.record_id)
    )
    return posted, True


def withdraw(transaction: Transaction, seen: OccurrenceRecord, act: AuditRecord) -> bool:
    """The settings no longer plan it: it may come again. An announced one has a post.

    False if it has changed since it was `seen`.
    """
    if Occurrences(transaction).locked(seen.key) != seen:
        return False
    last = last_act(transaction, seen)
    act = replace(act, reason=last.reason if last is not None else None)
    if seen.state is OccurrenceState.ANNOUNCED:
        done = _record_and_post(transaction, act)
    else:
        done = replace(act, record_id=Audit(transaction).add(act))
    withdrawn = _new(seen.key, seen.ends_at)
    Occurrences(transaction).save(
        replace(withdrawn, state=OccurrenceState.WITHDRAWN, act_id=done.record_id)
    )
    return True


def post_failure(
    transaction: Transaction, key: OccurrenceKey, ends_at: datetime, failed: AuditRecord
) -> bool:
    """Notify the channels, once, that the occurrence can't be applied."""
    known = Occurrences(transaction).locked(key)
    if known is not None and known.is_failure_posted:
        return False
    posted = replace(failed, record_id=Audit(transaction).add(failed))
    channels = pause_subscribers(transaction, failed.repository)
    if failed.action is Action.FREEZE:
        channels |= freeze_subscribers(transaction, failed.repository)
    post_act(transaction, posted, channels)
    record = _again(known) or _new(key, ends_at)
    Occurrences(transaction).save(replace(record, is_failure_posted=True))
    return True


def _new(key: OccurrenceKey, ends_at: datetime) -> OccurrenceRecord:
    return OccurrenceRecord(key.repository, key.window, key.begins_at, ends_at)


def _again(known: OccurrenceRecord | None) -> OccurrenceRecord | None:
    """The record to go on from: one that was withdrawn is planned again."""
    if known is None or known.state is not OccurrenceState.WITHDRAWN:
        return known
    return replace(known, state=OccurrenceState.PLANNED)


def _record_and_post(transaction: Transaction, act: AuditRecord) -> AuditRecord:
    """Store the act, and post it to its channel and to those that follow pauses.

    What a person skipped would have been a freeze, if the service has these.
    """
    done = replace(act, record_id=Audit(transaction).add(act))
    channels = pause_subscribers(transaction, act.repository)
    if act.action is Action.SKIP:
        channels |= freeze_subscribers(transaction, act.repository)
    if act.where.channel_id is not None:
        channels.add(act.where.channel_id)
    post_act(transaction, done, channels)
    return done
