"""The acts through the bot that made, changed or ended freezes: the service names only the bot."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from bot.domain.audit import Action, ActResult, AuditRecord
from bot.domain.event_records import EventRecord, FreezeAttributes
from bot.domain.freezes import FREEZE_CREATE, FREEZE_DELETE, FREEZE_TYPES, FREEZE_UPDATE
from bot.domain.freezing import KnownFreeze, ScheduledFreeze, has_terms
from bot.domain.pauses import carried_out
from bot.domain.repository import RepositoryName
from bot.store.transactions import Transaction
from bot.usecases.pausing.reports import settle_act

LOOKBACK = timedelta(days=90)
"""How far back the maker of a freeze is looked for."""

ACT_BEFORE = timedelta(hours=1)
"""How long before a freeze's event the act that made it may have begun."""

SAME_CHANGE = timedelta(minutes=1)
"""How far a change's event may be from its act."""

_ACTIONS = {
    FREEZE_CREATE: {Action.FREEZE},
    FREEZE_UPDATE: {Action.CHANGE_FREEZE, Action.ALLOW},
    FREEZE_DELETE: {Action.UNFREEZE},
}


def act_of_freeze_event(transaction: Transaction, record: EventRecord) -> AuditRecord | None:
    """The act through the bot that caused the event, if one did.

    The signed reason identifies it. A change has none, so the act nearest in time counts.
    """
    since = record.received_at - ACT_BEFORE
    acts = _carried_out(transaction.audit.since(record.repository, since), record.type)
    if record.type == FREEZE_UPDATE:
        acts = [one for one in acts if _apart(one, record) <= SAME_CHANGE]
        return min(acts, key=lambda one: _apart(one, record), default=None)
    terms = record.details.freeze or FreezeAttributes()
    said = record.details.reason if record.type == FREEZE_DELETE else terms.reason
    return _last_with_reason(acts, said)


def _carried_out(acts: Sequence[AuditRecord], event_type: str) -> list[AuditRecord]:
    """The acts that may have caused an event of the type."""
    return [one for one in carried_out(acts) if one.action in _ACTIONS.get(event_type, ())]


def _last_with_reason(acts: Sequence[AuditRecord], reason: str | None) -> AuditRecord | None:
    return next((one for one in reversed(acts) if one.stored_reason == reason), None)


def _apart(act: AuditRecord, record: EventRecord) -> timedelta:
    return abs(act.at - record.received_at)


def under_name(record: EventRecord, act: AuditRecord | None) -> EventRecord:
    """The event under the name of the person who acted."""
    if act is None:
        return record
    known: dict[str, object] = {"actor": act.actor.name}
    if record.type == FREEZE_DELETE:
        known["reason"] = act.reason
    return replace(record, details=record.details.model_copy(update=known))


def by_person(transaction: Transaction, record: EventRecord) -> EventRecord:
    """An event under the name of the person who caused it through the bot, if it is a freeze's."""
    if record.type not in FREEZE_TYPES:
        return record
    return under_name(record, act_of_freeze_event(transaction, record))


def know_freezes(
    transaction: Transaction,
    repository: RepositoryName,
    listed: Sequence[ScheduledFreeze],
    now: datetime,
) -> list[KnownFreeze]:
    """Each listed freeze with its maker; acts that were cut off, but made one, get their end."""
    acts = _carried_out(transaction.audit.since(repository, now - LOOKBACK), FREEZE_CREATE)
    logged, found = transaction.freezes.of([repository]), []
    for freeze in listed:
        act = _last_with_reason(acts, freeze.reason)
        if act is None:
            by = next((one.by for one in logged if has_terms(one.terms, freeze)), None)
            found.append(KnownFreeze(repository, freeze, by, freeze.reason or ""))
            continue
        if act.result is ActResult.STARTED:
            settle_act(transaction, act, None, "known from the freezes of the service")
        name, reason = act.actor.name, act.reason or ""
        found.append(KnownFreeze(repository, freeze, name, reason, act.group, act.group_act_id))
    return found


def last_end(
    transaction: Transaction, repository: RepositoryName, now: datetime
) -> AuditRecord | None:
    """The act that ended a freeze last, if one did within a day."""
    acts = transaction.audit.since(repository, now - timedelta(days=1))
    ends = [one for one in acts if one.action is Action.UNFREEZE and one.result is ActResult.DONE]
    return ends[-1] if ends else None
