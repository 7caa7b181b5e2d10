"""Requests for a second person that are about freezes."""

from datetime import datetime

from bot.acts.confirmation import RequestOutcome
from bot.acts.record import AuditRecord
from bot.acts.request_state import RequestState
from bot.freezes.rows import Freezes
from bot.kernel.actor import Actor
from bot.kernel.repository import RepositoryName
from bot.pauses.requests import (
    acts_that_wait,
    is_about_freezes,
    outcome_of_acts,
    state_of_pause,
    still_open,
    touch_requests,
)
from bot.store.transaction import Transaction


def state_of_request(transaction: Transaction, asked: AuditRecord) -> RequestOutcome:
    """What became of an act on a pause or on freezes, and who did that."""
    if not is_about_freezes(asked):
        return state_of_pause(transaction, asked)
    outcome = outcome_of_acts(transaction, asked)
    if outcome is not None:
        return outcome
    return _state_of_freezes(transaction, asked)


def touch_freeze_requests(
    transaction: Transaction, repository: RepositoryName, now: datetime
) -> None:
    """Have the requests about freezes edited, and closed once nothing is left to confirm."""
    asked = [act for act in acts_that_wait(transaction, repository, now) if is_about_freezes(act)]
    touch_requests(transaction, asked, now, state_of_request)


def _state_of_freezes(transaction: Transaction, asked: AuditRecord) -> RequestOutcome:
    """Over once the log tells that one of the freezes ended.

    To end the freezes that are left, people ask again.
    """
    known = Freezes(transaction).with_ids(asked.repository, asked.freezes or ())
    endings = [freeze.ending for freeze in known if freeze.ending is not None]
    if not endings:
        return still_open(transaction, asked)
    by = endings[-1].by
    return RequestOutcome(RequestState.OVER, Actor("", by) if by is not None else None)
