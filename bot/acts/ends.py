"""How an act ended, from its records."""

from dataclasses import replace
from datetime import timedelta

from bot.acts.record import ActResult, AuditRecord
from bot.acts.rows import Audit
from bot.store.transaction import Transaction

ACT_MEMORY = timedelta(hours=1)
"""How far back to search for the end of an act; far longer than any request."""


def end_of(started: AuditRecord, result: ActResult, detail: str | None = None) -> AuditRecord:
    """The record of the act's end, which is yet to be stored."""
    return replace(started, result=result, detail=detail, act_id=started.record_id, record_id=0)


def end_act(transaction: Transaction, done: AuditRecord) -> tuple[AuditRecord, bool]:
    """Store the end of an act once; return it, and whether it was new.

    If the event log was read first, it has already stored the end. The posts are then the same
    deliveries, not new ones.
    """
    if done.record_id:
        return done, False
    records = Audit(transaction).since(done.repository, done.at - ACT_MEMORY)
    for record in records:
        if record.act_id == done.act_id and record.result is ActResult.DONE:
            return record, False
    return replace(done, record_id=Audit(transaction).add(done)), True
