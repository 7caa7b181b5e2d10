"""The acts through the bot that made, changed or ended freezes: the service names only the bot."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from bot.acts.causes import LONGEST_APART, act_of_event, possibly_done
from bot.acts.ends import end_act, end_of
from bot.acts.record import FROM_LOG, Action, ActResult, AuditRecord
from bot.acts.rows import Audit
from bot.freezes.freeze import Freeze
from bot.freezes.rows import Freezes
from bot.kernel.repository import RepositoryName
from bot.log.classification import PAUSE_TYPES
from bot.log.types import FREEZE_DELETE, FREEZE_TYPES
from bot.merge_queue.event_records import EventRecord
from bot.merge_queue.freezes import ends_as
from bot.store.transaction import Transaction

FREEZE_ACTS_LOOKBACK = timedelta(days=90)
"""How far back the maker of a freeze is looked for."""


def act_of_freeze_event(transaction: Transaction, record: EventRecord) -> AuditRecord | None:
    """The act through the bot that caused the event, if one did."""
    since = record.received_at - LONGEST_APART
    return act_of_event(record, Audit(transaction).since(record.repository, since))


def finished_by_log(transaction: Transaction, act: AuditRecord | None) -> AuditRecord | None:
    """The act of an event, which has its end now if it was cut off, or its answer was lost.

    The event is of one freeze: of an act on several it says nothing about the others.
    """
    if act is None or act.result is not ActResult.STARTED or len(act.freezes or ()) > 1:
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


def with_makers(
    transaction: Transaction,
    repository: RepositoryName,
    listed: Sequence[Freeze],
    now: datetime,
) -> list[Freeze]:
    """The listed freezes, each with who made it: by the act of that, or else by the log."""
    acts = Audit(transaction).since(repository, now - FREEZE_ACTS_LOOKBACK, Action.FREEZE)
    ids = [freeze.freeze_id for freeze in listed if freeze.freeze_id is not None]
    logged = {freeze.freeze_id: freeze for freeze in Freezes(transaction).with_ids(repository, ids)}
    found = []
    for freeze in listed:
        row = logged.get(freeze.freeze_id)
        by = row.by if row is not None else None
        act = _maker(acts, freeze)
        if act is not None:
            by = act.actor.name
        found.append(replace(freeze, by=by, act=act))
    return found


def is_made_by(act: AuditRecord, freeze: Freeze, end: datetime | None) -> bool:
    """Whether the act, whose answer may have been lost, made the freeze with that end.

    It has the act's whole reason then.
    """
    return freeze.terms.reason == act.stored_reason and ends_as(freeze.terms, end)


def made_by_others(transaction: Transaction, act: AuditRecord) -> frozenset[str]:
    """The ids of the freezes that other acts than this one are known to have made."""
    since = act.at - FREEZE_ACTS_LOOKBACK
    others = possibly_done(Audit(transaction).since(act.repository, since, Action.FREEZE))
    return frozenset(
        freeze_id
        for other in others
        if other.act_id != act.record_id
        for freeze_id in other.freezes or ()
    )


def _maker(acts: Sequence[AuditRecord], freeze: Freeze) -> AuditRecord | None:
    """The act that made it; one whose answer was lost is known by its whole reason."""
    done = possibly_done(acts)
    for act in done:
        if act.freezes is not None and freeze.freeze_id in act.freezes:
            return act
    unanswered = [act for act in done if act.freezes is None]
    return next(
        (act for act in reversed(unanswered) if act.stored_reason == freeze.terms.reason), None
    )
