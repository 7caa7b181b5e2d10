"""Read the audit: by page for a person, or all of it for an export."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

from bot.acts.record import AuditPage, AuditPosition, AuditRecord, AuditSelection
from bot.acts.rows import Audit
from bot.store.transaction import Transaction
from bot.store.transactions import Store

RECORDS_PER_PAGE = 10
STREAMED = 500
"""Records that an export holds at a time, and reads in one transaction."""


async def older(
    store: Store, selection: AuditSelection, than: AuditPosition | None = None
) -> AuditPage:
    """A page, the newest without `than`; an act with a known end is one record, not two."""
    ended = replace(selection, ends_only=True)
    found = await store.read(
        lambda transaction: Audit(transaction).newest(ended, RECORDS_PER_PAGE + 1, before=than)
    )
    has_older = len(found) > RECORDS_PER_PAGE
    return AuditPage(
        selection, found[:RECORDS_PER_PAGE], has_newer=than is not None, has_older=has_older
    )


async def newer(store: Store, selection: AuditSelection, than: AuditPosition) -> AuditPage:
    ended = replace(selection, ends_only=True)
    found = await store.read(_after, ended, RECORDS_PER_PAGE + 1, than)
    records = list(found[:RECORDS_PER_PAGE])[::-1]
    return AuditPage(selection, records, has_newer=len(found) > RECORDS_PER_PAGE, has_older=True)


async def every_record(store: Store, selection: AuditSelection) -> AsyncIterator[AuditRecord]:
    """All records of a selection, oldest first, including those added meanwhile.

    Each transaction is short, so that a bot on the same database isn't blocked.
    """
    last: AuditPosition | None = None
    while True:
        found = await store.read(_after, selection, STREAMED, last)
        for record in found:
            yield record
        if len(found) < STREAMED:
            return
        last = found[-1].position


def _after(
    transaction: Transaction, selection: AuditSelection, limit: int, place: AuditPosition | None
) -> Sequence[AuditRecord]:
    return Audit(transaction).oldest(selection, limit, after=place)
