"""Forget a person, as one audited act of the operator."""

from datetime import datetime

from bot.acts.record import Action, ActResult, AuditRecord, Outcome, Where
from bot.acts.rows import Audit
from bot.kernel.actor import Actor, Origin
from bot.kernel.repository import RepositoryName
from bot.runtime.upkeep.forgetting_rows import Forgetting, Forgotten
from bot.store.transaction import Transaction

OPERATOR = Actor("operator", "operator")
"""A person who may run commands on the machine of the database."""


def forget_person(transaction: Transaction, user_id: str, now: datetime) -> Forgotten:
    """Remove login, choices, waits and open requests, and put the id in place of the name."""
    forgotten = Forgetting(transaction).forget(user_id, now)
    Audit(transaction).add(
        AuditRecord(
            now,
            OPERATOR,
            Action.FORGET,
            Where(Origin.OPERATOR),
            RepositoryName.none(),
            ActResult.DONE,
            outcome=Outcome(detail=user_id),
        )
    )
    return forgotten
