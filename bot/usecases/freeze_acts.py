"""The acts through the bot that made, changed or ended freezes: the service names only the bot."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from bot.domain.audit import Action, ActResult, AuditRecord
from bot.domain.causes import LONGEST_APART, act_of_event, act_with_reason
from bot.domain.event_records import EventRecord
from bot.domain.freezes import FREEZE_DELETE, FREEZE_TYPES
from bot.domain.freezing import KnownFreeze, ScheduledFreeze, has_terms
from bot.domain.repository import RepositoryName
from bot.store.transactions import Transaction
from bot.usecases.pausing.reports import end_act, end_of

LOOKBACK = timedelta(days=90)
"""How far back the maker of a freeze is looked for."""


def act_of_freeze_event(transaction: Transaction, record: EventRecord) -> AuditRecord | None:
    """The act through the bot that caused the event, if one did."""
    since = record.received_at - LONGEST_APART
    return act_of_event(record, transaction.audit.since(record.repository, since))


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
    acts = transaction.audit.since(repository, now - LOOKBACK)
    logged, found = transaction.freezes.of([repository]), []
    for freeze in listed:
        act = act_with_reason(acts, Action.FREEZE, freeze.reason)
        if act is None:
            by = next((one.by for one in logged if has_terms(one.terms, freeze)), None)
            found.append(KnownFreeze(repository, freeze, by, freeze.reason or ""))
            continue
        if act.result is ActResult.STARTED:
            detail = "known from the freezes of the service"
            end_act(transaction, end_of(act, ActResult.DONE, detail))
        name, reason = act.actor.name, act.reason or ""
        found.append(KnownFreeze(repository, freeze, name, reason, act.group, act.group_act_id))
    return found
