"""How an act ended, from its records.

Three questions about an act whose end isn't plain, with three answers:

- `AuditRecord.is_end_known`, of the record of an end: does it tell what became of the act? An end
  as failed doesn't: its answer may have been lost.
- `with_unknown_end`, of records: which acts have no such end? The bot looks them up and tells their
  person. Afterwards each act has an end, even if nothing was found.
- `possibly_done` (`causes.py`), of records: which acts may have caused an event? Those that are
  done, and those that nothing rules out, also after they were looked up without a result.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import NamedTuple

from bot.acts.record import ActResult, AuditRecord
from bot.acts.rows import Audit
from bot.store.transaction import Transaction

ACT_MEMORY = timedelta(hours=1)
"""How far back to search for the end of an act; far longer than any request."""


def end_of(started: AuditRecord, result: ActResult, detail: str | None = None) -> AuditRecord:
    """The record of the act's end, which is yet to be stored."""
    ended = replace(started, result=result, act_id=started.record_id, record_id=0)
    return ended.explained(detail)


class StoredEnd(NamedTuple):
    """The end of an act as it is stored."""

    record: AuditRecord
    is_new: bool  #: it was not stored before


def end_act(transaction: Transaction, done: AuditRecord) -> StoredEnd:
    """Store the end of an act once.

    If the event log was read first, it has already stored the end. The posts are then the same
    deliveries, not new ones.
    """
    if done.record_id:
        return StoredEnd(done, is_new=False)
    records = Audit(transaction).since(done.repository, done.at - ACT_MEMORY)
    for record in records:
        if record.act_id == done.act_id and record.result is ActResult.DONE:
            return StoredEnd(record, is_new=False)
    record_id = Audit(transaction).add(done)
    return StoredEnd(replace(done, record_id=record_id), is_new=True)


def with_unknown_end(records: Sequence[AuditRecord]) -> list[AuditRecord]:
    """The beginnings of the acts among the records of which nobody knows yet how they ended."""
    ended = {record.act_id for record in records if record.is_end_known}
    return [
        record
        for record in records
        if record.result is ActResult.STARTED and record.record_id not in ended
    ]
