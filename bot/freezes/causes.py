"""The acts through the bot that made, changed or ended freezes: the service names only the bot."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from bot.acts.causes import LONGEST_APART, act_of_event, act_with_reason
from bot.acts.ends import end_act, end_of
from bot.acts.record import FROM_LOG, Action, ActResult, AuditRecord
from bot.acts.rows import Audit
from bot.freezes.outcomes import KnownFreeze, has_terms
from bot.freezes.rows import Freezes
from bot.kernel.repository import RepositoryName
from bot.log.classification import PAUSE_TYPES
from bot.log.types import FREEZE_DELETE, FREEZE_TYPES
from bot.merge_queue.event_records import EventRecord
from bot.merge_queue.freezes import ScheduledFreeze
from bot.store.transaction import Transaction

FREEZE_ACTS_LOOKBACK = timedelta(days=90)
"""How far back the maker of a freeze is looked for."""


def act_of_freeze_event(transaction: Transaction, record: EventRecord) -> AuditRecord | None:
    """The act through the bot that caused the event, if one did."""
    since = record.received_at - LONGEST_APART
    return act_of_event(record, Audit(transaction).since(record.repository, since))


def finished_by_log(transaction: Transaction, act: AuditRecord | None) -> AuditRecord | None:
    """The act of an event, which has its end now if it was cut off, or its answer was lost."""
    if act is None or act.result is not ActResult.STARTED:
        return act
    done, _ = end_act(transaction, end_of(act, ActResult.DONE, FROM_LOG))
    return done


def under_name(record: EventRecord, act: AuditRecord | None) -> EventRecord:
    """The event under the name of the person who acted."""
    if act is None:
        return record
    known: dict[str, object] = {"actor": act.actor.name}
    if record.type == FREEZE_DELETE:
        known["reason"] = act.reason
    return replace(record, details=record.details.model_copy(update=known))


def by_person(transaction: Transaction, record: EventRecord) -> EventRecord:
    """A pause's or freeze's event under the name of the person who caused it through the bot."""
    if record.type not in {*FREEZE_TYPES, *PAUSE_TYPES}:
        return record
    return under_name(record, act_of_freeze_event(transaction, record))


def know_freezes(
    transaction: Transaction,
    repository: RepositoryName,
    listed: Sequence[ScheduledFreeze],
    now: datetime,
) -> list[KnownFreeze]:
    """Each listed freeze with its maker; acts that were cut off, but made one, get their end."""
    acts = Audit(transaction).since(repository, now - FREEZE_ACTS_LOOKBACK, Action.FREEZE)
    logged = Freezes(transaction).of([repository])
    found = []
    for freeze in listed:
        act = act_with_reason(acts, Action.FREEZE, freeze.reason)
        if act is None:
            by = next((earlier.by for earlier in logged if has_terms(earlier.terms, freeze)), None)
            found.append(KnownFreeze(repository, freeze, by, freeze.reason or ""))
            continue
        if act.result is ActResult.STARTED and freeze.ends_as(act.resumes_at):
            detail = "known from the freezes of the service"
            end_act(transaction, end_of(act, ActResult.DONE, detail))
        name = act.actor.name
        reason = act.reason or ""
        group = act.group
        group_act_id = act.group_act_id
        made_by = act.actor.user_id
        found.append(KnownFreeze(repository, freeze, name, reason, group, group_act_id, made_by))
    return found
