"""The acts through the bot that caused events of freezes: the service names only the bot."""

from dataclasses import replace
from datetime import timedelta

from bot.domain.audit import Action, AuditRecord
from bot.domain.event_records import EventRecord, FreezeAttributes
from bot.domain.freezes import FREEZE_CREATE, FREEZE_DELETE, FREEZE_TYPES, FREEZE_UPDATE
from bot.domain.pauses import carried_out
from bot.store.transactions import Transaction

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
    acts = [
        one
        for one in carried_out(transaction.audit.since(record.repository, since))
        if one.action in _ACTIONS.get(record.type, ())
    ]
    if record.type == FREEZE_UPDATE:
        acts = [one for one in acts if _apart(one, record) <= SAME_CHANGE]
        return min(acts, key=lambda one: _apart(one, record), default=None)
    terms = record.details.freeze or FreezeAttributes()
    said = record.details.reason if record.type == FREEZE_DELETE else terms.reason
    return next((one for one in reversed(acts) if one.stored_reason == said), None)


def _apart(act: AuditRecord, record: EventRecord) -> timedelta:
    return abs(act.at - record.received_at)


def under_name(record: EventRecord, act: AuditRecord | None) -> EventRecord:
    """The event under the name of the person who acted: the service knows only the bot."""
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
