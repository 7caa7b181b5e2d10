"""Read the service's event log page by page in both directions."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

from bot.domain.classification import EventKind, kinds, topic_of
from bot.domain.errors import InvalidRequest, MergeQueueError, ResourceNotFound
from bot.domain.event_records import in_order
from bot.domain.event_types import BISECTION_START, ENTER, LEAVE, MERGED, PAUSE_CREATE
from bot.domain.preceding_events import with_preceding_events
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import LogPage, LogPlace, LogSelection
from bot.domain.subscriptions import LEVELS, LevelPreview
from bot.usecases.asking import Sources
from bot.usecases.preceding_events import with_removals_here

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
PREVIEW_PATIENCE = timedelta(seconds=2)
"""The channel waits for the answer that has the preview."""

COUNTED_TYPES = (ENTER, LEAVE, MERGED, PAUSE_CREATE, BISECTION_START)
"""The types that make messages, and merges, which show that a leave was no failure."""

MAKES_MESSAGE = frozenset(
    {EventKind.ENTER, EventKind.FAILURE, EventKind.PAUSE, EventKind.BISECTION_STARTED}
)
"""Other events edit these messages or are replies in their threads."""


async def newest_page(
    repository: RepositoryName,
    sources: Sources,
    since: timedelta,
    until: timedelta | None = None,
    **filters: Any,  # noqa: ANN401 - the other fields of a LogSelection
) -> LogPage:
    """The newest page; `since` and `until` count back from now.

    Raises MergeQueueError: an unreadable log never looks empty.
    """
    window = await sources.window(repository, since, until)
    return await _page(LogPlace(LogSelection(repository, window, **filters)), sources)


async def page_at(place: LogPlace, sources: Sources) -> LogPage:
    """The page at `place`, or the newest one if the service no longer knows its cursor."""
    try:
        return await _page(place, sources)
    except (InvalidRequest, ResourceNotFound):
        if place.cursor is None:
            raise
        # A refused repository or filter is refused again, and raised then.
        page = await _page(LogPlace(place.selection), sources)
        return replace(page, restarted=True)


async def _page(place: LogPlace, sources: Sources) -> LogPage:
    wanted = place.selection
    page = await sources.service.event_page(
        wanted.repository,
        wanted.window,
        types=sorted(wanted.types),
        cursor=place.cursor,
        pull_request=wanted.pull_request,
        base_ref=wanted.branch,
        per_page=wanted.per_page,
    )
    records = in_order(page.events)
    numbers = {one.pull_request for one in records if one.pull_request is not None}
    seen = await sources.store.read(
        lambda transaction: transaction.pull_requests.linked(wanted.repository, numbers)
    )
    around = await sources.store.read(with_removals_here, wanted.repository, records, records)
    # The newer page is the newest one if the service offers no way back.
    is_newest, previous = place.cursor is None, page.previous_cursor
    newer = None if is_newest and previous is None else LogPlace(wanted, previous)
    return LogPage(
        place,
        [with_preceding_events(record, around) for record in reversed(records)],
        kinds(records),
        seen,
        older=LogPlace(wanted, page.next_cursor) if page.next_cursor is not None else None,
        newer=newer,
        unreadable=len(page.unreadable),
    )


async def preview_levels(repository: RepositoryName, sources: Sources) -> LevelPreview | None:
    """Count in the latest hour with events; None without an answer or events.

    The newest page has an hour of a busy repository.
    """
    window = await sources.window(repository, DAY)
    try:
        async with asyncio.timeout(PREVIEW_PATIENCE.total_seconds()):
            page = await sources.service.event_page(repository, window, types=sorted(COUNTED_TYPES))
    except (MergeQueueError, TimeoutError):
        return None
    records = in_order(page.events)
    if not records:
        return None
    until = records[-1].received_at
    hour = [one for one in records if one.received_at > until - HOUR]
    made = [kind for kind in kinds(hour, records).values() if kind in MAKES_MESSAGE]
    return until, {
        level: sum(topic_of(kind) in topics for kind in made) for level, topics in LEVELS.items()
    }
