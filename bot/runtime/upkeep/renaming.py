"""Another name for a repository, or none any more: each one audited act of the operator."""

from collections.abc import Mapping
from datetime import datetime

from bot.acts.record import Action, ActResult, AuditRecord, Outcome, Where
from bot.acts.rows import Audit
from bot.kernel.actor import Origin
from bot.kernel.repository import RepositoryName
from bot.pauses.pause import PauseRecord
from bot.pauses.rows import Pauses
from bot.runtime.upkeep.forgetting import OPERATOR
from bot.runtime.upkeep.renaming_rows import Renaming
from bot.store.transaction import Transaction

Counts = Mapping[str, int]
"""Rows by table."""


def rename_repository(
    transaction: Transaction, old: RepositoryName, new: RepositoryName, now: datetime
) -> Counts:
    """Move all that is stored; return how much that was, and change nothing if it was nothing.

    No process may be at work.
    """
    stored = Renaming(transaction).stored(old)
    if not stored:
        return stored
    Renaming(transaction).rename(old, new, now)
    act = AuditRecord(
        now,
        OPERATOR,
        Action.RENAME,
        Where(Origin.OPERATOR),
        new,
        ActResult.DONE,
        outcome=Outcome(detail=f"it was {old}, also in the records before this one"),
    )
    Audit(transaction).add(act)
    return stored


def forget_repository(
    transaction: Transaction, name: RepositoryName, now: datetime, *, even_if_paused: bool
) -> Counts | PauseRecord:
    """Remove all that is stored except the audit; return how much that was.

    Returns the pause that is in force, and changes nothing, unless `even_if_paused`: its end and
    its person would be forgotten, and the queue would stay paused.
    """
    for pause in Pauses(transaction).open([name]):
        if not even_if_paused:
            return pause
    stored = Renaming(transaction).stored(name)
    if stored:
        Renaming(transaction).forget(name)
        act = AuditRecord(
            now, OPERATOR, Action.FORGET_REPOSITORY, Where(Origin.OPERATOR), name, ActResult.DONE
        )
        Audit(transaction).add(act)
    return stored
