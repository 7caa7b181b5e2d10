"""Count merges, failures and what threw pull requests out, from the service's log."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from bot.kernel.repository import RepositoryName
from bot.log.known_types import page_of_known
from bot.log.sources import Sources
from bot.merge_queue.event_records import EventRecord
from bot.merge_queue.event_types import CHECKS_END, DEQUEUE_COMMAND, ENTER, LEAVE, MERGED
from bot.merge_queue.port import MergeQueue
from bot.merge_queue.window import CLOCK_ALLOWANCE, Window
from bot.questions.statistics import (
    CheckStatistics,
    QueueStatistics,
    compare,
    count,
    lacks_details,
    span_back,
)
from bot.questions.weekly import pauses_and_freezes

LEAVE_TYPES = frozenset({LEAVE, MERGED})
"""Enough if each end includes its reason and the time of entry."""

STATISTICS_TYPES = LEAVE_TYPES | {CHECKS_END, DEQUEUE_COMMAND, ENTER}

COUNT_PAGES = 60
"""A person waits, and everybody's polls share the service's rate."""

PAGES_OF_EACH = 6
"""Of each queue of a group, ten of which are read for one answer."""

FIRST_COUNT_SLICE = timedelta(hours=6)
FEW_PAGES = 2
MANY_PAGES = 8

SHORTER = 8
"""How much shorter a slice is tried again that turned out to be too long after a quiet time."""


async def statistics(
    repository: RepositoryName,
    since: timedelta,
    branch: str | None,
    zone: ZoneInfo,
    sources: Sources,
    *,
    most_pages: int = COUNT_PAGES,
) -> QueueStatistics:
    """Merges and failures over `since`, in days of `zone`, for one base branch or all.

    Raises MergeQueueError: an unreadable log never looks empty.

    Reads the service's log, because the store only has events that channels have subscribed to,
    since they did. It reads slice by slice, newest first, in either order of
    the service. If there are too many to wait for, the span is shorter and says so.
    """
    newest = await sources.newest_known(repository)
    span = span_back(max(sources.clock.now(), newest), since, zone)
    reading = BackwardReading(sources.service, repository, branch, most_pages=most_pages)
    start = await reading.back_to(span.start, span.end + CLOCK_ALLOWANCE)
    counted = replace(span, start=start)
    tallies, time_in_queue = count(reading.records, counted)
    return QueueStatistics(
        repository, branch, counted, tallies, time_in_queue, cut=start > span.start
    )


async def check_statistics(
    repository: RepositoryName,
    since: timedelta,
    sources: Sources,
    *,
    most_pages: int = COUNT_PAGES,
) -> CheckStatistics:
    """The removals over `since` against those before, from the service's log.

    Raises MergeQueueError. Of a log too long to wait for, only the latest part is compared.
    """
    newest = await sources.newest_known(repository)
    end = max(sources.clock.now(), newest)
    leaves = frozenset({LEAVE})
    reading = BackwardReading(sources.service, repository, None, leaves, most_pages=most_pages)
    known_since = await reading.back_to(end - 2 * since, end + CLOCK_ALLOWANCE)
    pauses, freezes = await sources.store.read(pauses_and_freezes, repository, end - 2 * since)
    return compare(
        repository, reading.records, pauses, freezes, asked=since, end=end, known_since=known_since
    )


@dataclass(slots=True)
class BackwardReading:
    """A log read backwards in complete slices."""

    merge_queue: MergeQueue
    repository: RepositoryName
    branch: str | None
    types: Collection[str] = LEAVE_TYPES
    most_pages: int = COUNT_PAGES
    pages: int = 0
    records: tuple[EventRecord, ...] = ()

    async def back_to(self, start: datetime, end: datetime) -> datetime:
        """Read back to `start`, or for `most_pages`; return how far it got."""
        reached = end
        length = FIRST_COUNT_SLICE
        while reached > start:
            begun = max(start, reached - length)
            before = self.pages
            most = self.most_pages - before
            if not self.records:
                # After a quiet time nobody knows how much is in a long slice.
                most = (most + 1) // 2
            read = await self._slice(Window(begun, reached), None if reached == end else most)
            if read is None and not self.records and self.pages < self.most_pages:
                length /= SHORTER
                continue
            if read is None:
                break
            if self.types is not STATISTICS_TYPES and lacks_details(read):
                self.types = STATISTICS_TYPES
                continue
            self.records += read
            reached = begun
            if self.pages - before <= FEW_PAGES:
                length *= 2
            elif self.pages - before >= MANY_PAGES:
                length /= 2
        return reached

    async def _slice(self, window: Window, most: int | None) -> tuple[EventRecord, ...] | None:
        """A slice; None when it has more than `most` pages. The newest has no limit."""
        read: list[EventRecord] = []
        cursor: str | None = None
        last = None if most is None else self.pages + most
        while last is None or self.pages < last:
            page = await page_of_known(
                self.merge_queue,
                self.repository,
                window,
                types=self.types,
                cursor=cursor,
                base_ref=self.branch,
            )
            self.pages += 1
            read += page.events
            cursor = page.next_cursor
            if cursor is None:
                return tuple(read)
        return None
