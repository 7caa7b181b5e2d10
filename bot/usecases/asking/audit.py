"""Read the audit: by page for a person, or all of it for an export."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

from bot.domain.audit import AuditPage, AuditPlace, AuditRecord, AuditSelection
from bot.store.transactions import Store, Transaction

PAGE = 10
STREAMED = 500
"""Records that an export holds at a time, and reads in one transaction."""


async def older(
    store: Store, selection: AuditSelection, than: AuditPlace | None = None
) -> AuditPage:
    """A page, the newest without `than`; an act with a known end is one record, not two."""
    ended = replace(selection, ends_only=True)
    found = await store.read(
        lambda transaction: transaction.audit.newest(ended, PAGE + 1, before=than)
    )
    has_older = len(found) > PAGE
    return AuditPage(selection, found[:PAGE], has_newer=than is not None, has_older=has_older)


async def newer(store: Store, selection: AuditSelection, than: AuditPlace) -> AuditPage:
    ended = replace(selection, ends_only=True)
    found = await store.read(_after, ended, PAGE + 1, than)
    records = list(found[:PAGE])[::-1]
    return AuditPage(selection, records, has_newer=len(found) > PAGE, has_older=True)


async def every_record(store: Store, selection: AuditSelection) -> AsyncIterator[AuditRecord]:
    """All records of a selection, oldest first, including those added meanwhile.

    Each transaction is short, so that a bot on the same database isn't blocked.
    """
    last: AuditPlace | None = None
    while True:
        found = await store.read(_after, selection, STREAMED, last)
        for record in found:
            yield record
        if len(found) < STREAMED:
            return
        last = found[-1].place


def _after(
    transaction: Transaction, selection: AuditSelection, limit: int, place: AuditPlace | None
) -> Sequence[AuditRecord]:
    return transaction.audit.oldest(selection, limit, after=place)
