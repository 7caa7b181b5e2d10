"""Count what merged and failed in a repository's queue over some days, from the service's log."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from bot.domain.errors import about
from bot.domain.event_log import CLOCK_ALLOWANCE, Window
from bot.domain.event_records import EventRecord
from bot.domain.event_types import CHECKS_END, DEQUEUE_COMMAND, ENTER, LEAVE, MERGED
from bot.domain.queue_statistics import QueueStatistics, count, span_back, tells_too_little
from bot.domain.repository import RepositoryName
from bot.ports import MergeQueue
from bot.usecases.asking.sources import Sources

ENDS = frozenset({LEAVE, MERGED})
"""Enough where each end tells why, and when it had entered."""

TELLING = ENDS | {CHECKS_END, DEQUEUE_COMMAND, ENTER}

MOST_PAGES = 60
"""A person waits, and everybody's polls share the service's rate."""

FIRST_SLICE = timedelta(hours=6)
FEW_PAGES = 2
MANY_PAGES = 8


async def statistics(
    repository: RepositoryName,
    since: timedelta,
    branch: str | None,
    zone: ZoneInfo,
    sources: Sources,
) -> QueueStatistics:
    """What merged and failed over so long, in days of `zone`, for one base branch or all.

    Raises MergeQueueError: a log that cannot be read is never counted as an empty one.

    Reads the service's log and not what is stored of it, which holds only what channels have
    subscribed to and only since then. The newest events come first, slice by slice, whatever order
    the service lists them in: where there are more than a person can wait for, the span is
    shorter, and says so.
    """
    newest = await sources.newest_known(repository)
    span = span_back(max(sources.clock.now(), newest), since, zone)
    reading = _Reading(sources.service, repository, branch)
    with about(repository):
        start = await reading.back_to(span.start, span.end + CLOCK_ALLOWANCE)
    counted = replace(span, start=start)
    tallies, time_in_queue = count(reading.records, counted)
    return QueueStatistics(
        repository, branch, counted, tallies, time_in_queue, cut=start > span.start
    )


@dataclass(slots=True)
class _Reading:
    """A log read backwards in slices, each of them whole."""

    merge_queue: MergeQueue
    repository: RepositoryName
    branch: str | None
    types: Collection[str] = ENDS
    pages: int = 0
    records: tuple[EventRecord, ...] = ()

    async def back_to(self, start: datetime, end: datetime) -> datetime:
        """Read until `start`, or as far as `MOST_PAGES` go; how far that was."""
        reached, length = end, FIRST_SLICE
        while reached > start:
            begun = max(start, reached - length)
            before = self.pages
            read = await self._slice(Window(begun, reached))
            if read is None:
                break
            if self.types is ENDS and tells_too_little(read):
                self.types = TELLING
                continue
            self.records += read
            reached = begun
            if self.pages - before <= FEW_PAGES:
                length *= 2
            elif self.pages - before >= MANY_PAGES:
                length /= 2
        return reached

    async def _slice(self, window: Window) -> tuple[EventRecord, ...] | None:
        """None when it is longer than what may still be read; the newest one is always read."""
        read: list[EventRecord] = []
        cursor: str | None = None
        while self.pages < MOST_PAGES or not self.records:
            page = await self.merge_queue.event_page(
                self.repository,
                window,
                types=sorted(self.types),
                cursor=cursor,
                base_ref=self.branch,
            )
            self.pages += 1
            read += page.events
            cursor = page.next_cursor
            if cursor is None:
                return tuple(read)
        return None
