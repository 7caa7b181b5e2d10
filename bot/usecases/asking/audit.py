"""Read the audit: by page for a person, or all of it for an export."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

from bot.domain.audit import AuditPage, AuditPlace, AuditRecord, AuditSelection
from bot.store.transactions import Store, Transaction

PAGE = 10
STREAMED = 500
"""Records that an export holds at a time, and reads in one transaction."""


async def newest(store: Store, selection: AuditSelection) -> AuditPage:
    """The newest page; an act with a known end is one record, not two."""
    records, has_older = await _older(store, selection, None)
    return AuditPage(selection, records, has_newer=False, has_older=has_older)


async def older(store: Store, selection: AuditSelection, than: AuditPlace) -> AuditPage:
    records, has_older = await _older(store, selection, than)
    return AuditPage(selection, records, has_newer=True, has_older=has_older)


async def newer(store: Store, selection: AuditSelection, than: AuditPlace) -> AuditPage:
    ended = replace(selection, ends_only=True)
    found = await store.read(_after, ended, PAGE + 1, than)
    records = list(found[:PAGE])[::-1]
    return AuditPage(selection, records, has_newer=len(found) > PAGE, has_older=True)


async def _older(
    store: Store, selection: AuditSelection, than: AuditPlace | None
) -> tuple[Sequence[AuditRecord], bool]:
    ended = replace(selection, ends_only=True)
    found = await store.read(
        lambda transaction: transaction.audit.newest(ended, PAGE + 1, before=than)
    )
    return found[:PAGE], len(found) > PAGE


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
