"""Read a repository's queue rules, and its base branches with recent queue activity."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import timedelta
from itertools import chain

from bot.domain.errors import InvalidConfiguration, InvalidRequest, NotOffered, about
from bot.domain.event_log import Window
from bot.domain.event_records import EventRecord, in_order
from bot.domain.event_types import MERGED
from bot.domain.queue import QueueRule
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import BranchActivity, BranchPage
from bot.messages.branches import PAGE
from bot.messages.paging import slice_from
from bot.usecases.asking import Sources, answer_or

MERGES_READ = 10
"""The newest of a branch are enough; more than one, in case the service lists them otherwise."""


async def queue_rules(repository: RepositoryName, sources: Sources) -> Sequence[QueueRule]:
    """Raises MergeQueueError; InvalidConfiguration if the service can't read the file."""
    try:
        return await sources.service.rules(repository)
    except InvalidRequest as error:
        if error.status is None:
            raise
        with about(repository):
            # API document, Errors: the meaning of 422 for this endpoint only.
            raise InvalidConfiguration(error.status, error.detail) from error


async def active_branches(
    repository: RepositoryName, since: timedelta, first: int, sources: Sources
) -> BranchPage:
    """The base branches from index `first` on. Raises MergeQueueError.

    If the service no longer lists those of a window, they are those with a queue now.
    """
    window, is_now = await sources.window(repository, since), False
    try:
        names = await sources.service.branches(repository, window)
    except NotOffered:
        names, is_now = await sources.service.queued_branches(repository), True
    first, shown = slice_from(names, first, PAGE)
    merges, queued = await asyncio.gather(
        _last_merges(repository, shown, window, sources),
        asyncio.gather(
            *(answer_or(None, sources.service.status(repository, name)) for name in shown)
        ),
    )
    numbers = {one.pull_request for one in merges.values() if one.pull_request is not None}
    seen = await sources.store.read(
        lambda transaction: transaction.pull_requests.linked(repository, numbers)
    )
    found = (
        BranchActivity(
            name,
            len(status.queued) if status is not None else None,
            merge,
            seen.get(merge.pull_request or 0) if merge else None,
        )
        for name, status, merge in zip(shown, queued, map(merges.get, shown), strict=True)
    )
    return BranchPage(tuple(found), first, len(names), is_now=is_now)


async def _last_merges(
    repository: RepositoryName, branches: Sequence[str], window: Window, sources: Sources
) -> Mapping[str, EventRecord]:
    """The last merge into each branch, from the service's log and from the stored events."""
    stored = await sources.store.read(
        lambda transaction: transaction.events.newest(repository, MERGED, window.received_from)
    )
    # The log may need another credential than the queue.
    pages = await asyncio.gather(
        *(
            answer_or(
                None,
                sources.service.event_page(
                    repository, window, types=[MERGED], base_ref=one, per_page=MERGES_READ
                ),
            )
            for one in branches
        )
    )
    logged = chain.from_iterable(page.events for page in pages if page is not None)
    merges = in_order([*stored, *logged])
    return {one.base_ref: one for one in merges if one.base_ref is not None}
