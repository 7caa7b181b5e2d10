"""The acts through the bot that made, changed or ended freezes: the service names only the bot."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from bot.acts.causes import LONGEST_APART, act_of_event, carried_out
from bot.acts.ends import end_act, end_of
from bot.acts.record import FROM_LOG, Action, ActResult, AuditRecord
from bot.acts.rows import Audit
from bot.freezes.outcomes import KnownFreeze
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
    """Each listed freeze with its maker."""
    acts = Audit(transaction).since(repository, now - FREEZE_ACTS_LOOKBACK, Action.FREEZE)
    logged = Freezes(transaction).with_ids(repository, [freeze.id for freeze in listed])
    names = {freeze.freeze_id: freeze.by for freeze in logged}
    return [
        _known(repository, freeze, _maker(acts, freeze), names.get(freeze.id)) for freeze in listed
    ]


def _maker(acts: Sequence[AuditRecord], freeze: ScheduledFreeze) -> AuditRecord | None:
    """The act that made it; one whose answer was lost is known by its whole reason."""
    done = carried_out(acts)
    for act in done:
        if act.freezes is not None and freeze.id in act.freezes:
            return act
    unanswered = [act for act in done if act.freezes is None]
    return next((act for act in reversed(unanswered) if act.stored_reason == freeze.reason), None)


def _known(
    repository: RepositoryName,
    freeze: ScheduledFreeze,
    act: AuditRecord | None,
    logged_by: str | None,
) -> KnownFreeze:
    if act is None:
        return KnownFreeze(repository, freeze, logged_by, freeze.reason or "")
    return KnownFreeze(
        repository,
        freeze,
        act.actor.name,
        act.reason or "",
        act.group,
        act.group_act_id,
        act.actor.user_id,
    )
