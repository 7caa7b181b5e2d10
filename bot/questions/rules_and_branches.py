"""Read a repository's queue rules, and its base branches with recent queue activity."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import timedelta
from itertools import chain

from bot.blocks.paging import slice_from
from bot.kernel.errors import InvalidRequest
from bot.kernel.repository import RepositoryName
from bot.log.rows import Events, PullRequests
from bot.log.sources import Sources, answer_or
from bot.merge_queue.errors import InvalidConfiguration, NotOffered, naming_repository
from bot.merge_queue.event_records import EventRecord, in_order
from bot.merge_queue.event_types import MERGED
from bot.merge_queue.queue import QueueRule
from bot.merge_queue.window import Window
from bot.questions.snapshots import BranchActivity, BranchNames, BranchPage
from bot.questions.texts.branches import BRANCHES_PER_PAGE

MERGES_READ = 10
"""The newest of a branch are enough; more than one, in case the service lists them otherwise."""


async def queue_rules(repository: RepositoryName, sources: Sources) -> Sequence[QueueRule]:
    """Raises MergeQueueError; InvalidConfiguration if the service can't read the file."""
    try:
        return await sources.service.rules(repository)
    except InvalidRequest as error:
        if error.status is None:
            raise
        with naming_repository(repository):
            # API document, Errors: the meaning of 422 for this endpoint only.
            raise InvalidConfiguration(error.status, error.detail) from error


async def branch_names(
    repository: RepositoryName, since: timedelta, sources: Sources
) -> BranchNames:
    """The base branches with queue activity since then. Raises MergeQueueError.

    If the service no longer lists those of a window, they are those with a queue now.
    """
    window = await sources.window(repository, since)
    try:
        return BranchNames(await sources.service.branches(repository, window))
    except NotOffered:
        queued = await sources.service.queued_branches(repository)
        return BranchNames(queued, is_now=True)


async def active_branches(
    repository: RepositoryName, since: timedelta, first: int, sources: Sources
) -> BranchPage:
    """The base branches from index `first` on. Raises MergeQueueError."""
    window = await sources.window(repository, since)
    known = await branch_names(repository, since, sources)
    first, shown = slice_from(known.names, first, BRANCHES_PER_PAGE)
    merges, queued = await asyncio.gather(
        _last_merges(repository, shown, window, sources),
        asyncio.gather(
            *(answer_or(None, sources.service.status(repository, name)) for name in shown)
        ),
    )
    numbers = {merge.pull_request for merge in merges.values() if merge.pull_request is not None}
    seen = await sources.store.read(
        lambda transaction: PullRequests(transaction).linked(repository, numbers)
    )
    found = []
    for name, status in zip(shown, queued, strict=True):
        merge = merges.get(name)
        merged = seen.get(merge.pull_request or 0) if merge is not None else None
        count = len(status.queued) if status is not None else None
        found.append(BranchActivity(name, count, merge, merged))
    return BranchPage(tuple(found), first, len(known.names), is_now=known.is_now)


async def _last_merges(
    repository: RepositoryName, branches: Sequence[str], window: Window, sources: Sources
) -> Mapping[str, EventRecord]:
    """The last merge into each branch, from the service's log and from the stored events."""
    stored = await sources.store.read(
        lambda transaction: Events(transaction).last_merges(
            repository, branches, window.received_from
        )
    )
    # The log may need another credential than the queue.
    pages = await asyncio.gather(
        *(
            answer_or(
                None,
                sources.service.event_page(
                    repository, window, types=[MERGED], base_ref=branch, per_page=MERGES_READ
                ),
            )
            for branch in branches
        )
    )
    logged = chain.from_iterable(page.events for page in pages if page is not None)
    merges = in_order([*stored, *logged])
    return {merge.base_ref: merge for merge in merges if merge.base_ref is not None}
