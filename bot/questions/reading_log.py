"""Read the service's event log page by page in both directions."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from bot.channels.subscription import TOPICS_OF_LEVELS, LevelPreview
from bot.feed.topics import topic_of
from bot.freezes.causes import by_person
from bot.kernel.errors import InvalidRequest, MergeQueueError
from bot.kernel.repository import RepositoryName
from bot.log.classification import PAUSE_TYPES, EventKind, kinds
from bot.log.known_types import page_of_known
from bot.log.preceding import with_preceding_events
from bot.log.rows import PullRequests
from bot.log.sources import Sources
from bot.merge_queue.errors import ResourceNotFound
from bot.merge_queue.event_records import EventRecord, in_order
from bot.merge_queue.event_types import BISECTION_START, ENTER, LEAVE, MERGED, PAUSE_CREATE
from bot.posts.delivery import Subject, SubjectKind
from bot.posts.events import events_about
from bot.questions.snapshots import LogPage, LogPlace, LogSelection
from bot.removals.removed_here import with_removals_here
from bot.store.transaction import Transaction

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
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
    page = await page_of_known(
        sources.service,
        wanted.repository,
        wanted.window,
        types=wanted.types,
        cursor=place.cursor,
        pull_request=wanted.pull_request,
        base_ref=wanted.branch,
        per_page=wanted.per_page,
    )
    records = in_order(page.events)
    numbers = {record.pull_request for record in records if record.pull_request is not None}
    seen = await sources.store.read(
        lambda transaction: PullRequests(transaction).linked(wanted.repository, numbers)
    )
    named = await sources.store.read(_by_people, wanted.repository, records)
    around = await sources.store.read(with_removals_here, wanted.repository, records, records)
    # The newer page is the newest one if the service offers no way back.
    is_newest = place.cursor is None
    previous = page.previous_cursor
    newer = None if is_newest and previous is None else LogPlace(wanted, previous)
    return LogPage(
        place,
        [with_preceding_events(record, around) for record in reversed(named)],
        kinds(records),
        seen,
        older=LogPlace(wanted, page.next_cursor) if page.next_cursor is not None else None,
        newer=newer,
        unreadable=len(page.unreadable),
    )


def _by_people(
    transaction: Transaction, repository: RepositoryName, records: Sequence[EventRecord]
) -> Sequence[EventRecord]:
    """The events of pauses and freezes under the names of people, not of the bot.

    What was done through the bot without an act on record is known once a poll has stored it.
    """
    subjects = {
        Subject(SubjectKind.EVENT, repository, record.event_id): record for record in records
    }
    pauses = [key for key, record in subjects.items() if record.type in PAUSE_TYPES]
    stored = events_about(transaction, pauses)
    known = [
        stored[key] if key in stored and stored[key].details.is_ours is not None else record
        for key, record in subjects.items()
    ]
    return [by_person(transaction, record) for record in known]


async def preview_levels(repository: RepositoryName, sources: Sources) -> LevelPreview | None:
    """Count in the latest hour with events; None without an answer or events.

    The newest page has an hour of a busy repository.
    """
    window = await sources.window(repository, DAY)
    try:
        async with asyncio.timeout(PREVIEW_PATIENCE.total_seconds()):
            page = await page_of_known(sources.service, repository, window, types=COUNTED_TYPES)
    except (MergeQueueError, TimeoutError):
        return None
    records = in_order(page.events)
    if not records:
        return None
    until = records[-1].received_at
    hour = [record for record in records if record.received_at > until - HOUR]
    made = [kind for kind in kinds(hour, records).values() if kind in MAKES_MESSAGE]
    counts = {
        level: sum(topic_of(kind) in topics for kind in made)
        for level, topics in TOPICS_OF_LEVELS.items()
    }
    return LevelPreview(until, counts)
