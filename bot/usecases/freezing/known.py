"""The service's list of freezes, with what the bot knows of each: who made it, and for what."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from bot.domain.audit import Action, ActResult, AuditRecord
from bot.domain.event_records import FreezeAttributes
from bot.domain.freezes import Freeze
from bot.domain.freezing import KnownFreeze, ScheduledFreeze, has_terms
from bot.domain.pauses import carried_out
from bot.domain.repository import RepositoryName
from bot.store.transactions import Transaction
from bot.usecases.pausing.acts import settle_act

LOOKBACK = timedelta(days=90)
"""How far back the maker of a freeze is looked for."""


def know_freezes(
    transaction: Transaction,
    repository: RepositoryName,
    listed: Sequence[ScheduledFreeze],
    now: datetime,
) -> list[KnownFreeze]:
    """Each listed freeze with its maker; acts that were cut off, but made one, get their end."""
    acts = transaction.audit.since(repository, now - LOOKBACK)
    logged = transaction.freezes.of([repository])
    for one in listed:
        act = _made_by(one, acts)
        if act is not None and act.result is ActResult.STARTED:
            settle_act(transaction, act, None, "known from the freezes of the service")
    return [_known(repository, one, acts, logged) for one in listed]


def _known(
    repository: RepositoryName,
    freeze: ScheduledFreeze,
    acts: Sequence[AuditRecord],
    logged: Sequence[Freeze],
) -> KnownFreeze:
    act = _made_by(freeze, acts)
    if act is not None:
        name, reason = act.actor.name, act.reason or ""
        return KnownFreeze(repository, freeze, name, reason, act.group, act.group_act_id)
    by = next((one.by for one in logged if has_terms(one.terms, freeze)), None)
    return KnownFreeze(repository, freeze, by, freeze.reason or "")


def _made_by(freeze: ScheduledFreeze, acts: Sequence[AuditRecord]) -> AuditRecord | None:
    """The latest act whose signed reason the freeze has, even if its answer was lost."""
    made = [one for one in carried_out(acts) if one.action is Action.FREEZE]
    same = [one for one in made if one.stored_reason == freeze.reason]
    return same[-1] if same else None


def last_end(
    transaction: Transaction, repository: RepositoryName, now: datetime
) -> AuditRecord | None:
    """The act that ended a freeze last, if one did within a day."""
    acts = transaction.audit.since(repository, now - timedelta(days=1))
    ends = [one for one in acts if one.action is Action.UNFREEZE and one.result is ActResult.DONE]
    return ends[-1] if ends else None


def remember_offer(transaction: Transaction, *, offered: bool) -> None:
    """Freezes' cards have buttons where the service offers freezes."""
    if transaction.service_offers.has_freezes() is not offered:
        transaction.service_offers.remember_freezes(offered=offered)


def terms_of_card(
    transaction: Transaction, repository: RepositoryName, event_id: int
) -> FreezeAttributes | None:
    """The terms of the freeze that a card shows; None once it is over."""
    freeze = transaction.freezes.get(repository, event_id)
    return freeze.terms if freeze is not None and freeze.over_at is None else None
