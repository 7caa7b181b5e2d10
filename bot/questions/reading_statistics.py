"""Read the events that statistics count: of the service's log, and for a week of the stored one."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from bot.freezes.freeze import Freeze
from bot.freezes.rows import Freezes
from bot.kernel.repository import RepositoryName
from bot.log.known_types import page_of_known
from bot.log.rows import Events
from bot.log.sources import Sources
from bot.merge_queue.event_records import EventRecord, in_order
from bot.merge_queue.event_types import CHECKS_END, DEQUEUE_COMMAND, ENTER, LEAVE, MERGED
from bot.merge_queue.port import MergeQueue
from bot.merge_queue.window import CLOCK_ALLOWANCE, Window
from bot.pauses.pause import PauseRecord
from bot.pauses.rows import Pauses
from bot.questions.check_statistics import CheckStatistics, compare_removals
from bot.questions.statistics import WEEK, QueueStatistics, count, lacks_details, span_back
from bot.questions.weekly_figures import WeekComparison, compare_weeks
from bot.removals.removed_here import preceding_events
from bot.store.transaction import Transaction

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

MOST_STORED = 10_000
"""The most events of each type of stored weeks; of more, only the latest count."""


async def read_statistics(
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
    since they did. It reads slice by slice, newest first, in either order of the service. If there
    are too many to wait for, the span is shorter and says so.
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


async def read_check_statistics(
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
    return compare_removals(
        repository, reading.records, pauses, freezes, asked=since, end=end, known_since=known_since
    )


def read_week(
    transaction: Transaction, repository: RepositoryName, end: datetime
) -> WeekComparison:
    """The week that ended then and the one before, from the events stored for the subscription.

    They are known in full if an older leave is stored, else from the oldest event on: retention, or
    a new subscription, limits them. Of more than MOST_STORED of a type, the latest count.
    """
    since = end - 2 * WEEK
    events = Events(transaction)
    stored = {
        type_: events.between(repository, type_, since, end, MOST_STORED)
        for type_ in (LEAVE, MERGED, CHECKS_END)
    }
    is_older_known = bool(events.between(repository, LEAVE, since - 2 * WEEK, since, 1))
    known_since = _known_since(stored.values(), since, end, is_older_known=is_older_known)
    leaves = _oldest_first(end, stored[LEAVE])
    around = preceding_events(transaction, repository, leaves)
    others = [*_oldest_first(end, stored[MERGED]), *_oldest_first(end, stored[CHECKS_END])]
    records = {record.event_id: record for record in (*around, *others, *leaves)}
    pauses, freezes = pauses_and_freezes(transaction, repository, since)
    removals = compare_removals(
        repository,
        records.values(),
        pauses,
        freezes,
        asked=WEEK,
        end=end,
        known_since=known_since,
    )
    return compare_weeks(removals, in_order([*records.values()]))


def _known_since(
    stored: Collection[Sequence[EventRecord]],
    since: datetime,
    end: datetime,
    *,
    is_older_known: bool,
) -> datetime:
    """From when on the stored events, each type newest first, are all that happened."""
    oldest = [newest_first[-1].received_at for newest_first in stored if newest_first]
    cut = [
        newest_first[-1].received_at for newest_first in stored if len(newest_first) >= MOST_STORED
    ]
    known_since = since if is_older_known else min(oldest, default=end - WEEK)
    return max([known_since, *cut])


def _oldest_first(end: datetime, newest_first: Sequence[EventRecord]) -> Sequence[EventRecord]:
    """Those before `end`."""
    return [record for record in reversed(newest_first) if record.received_at < end]


def pauses_and_freezes(
    transaction: Transaction, repository: RepositoryName, since: datetime
) -> tuple[list[PauseRecord], list[Freeze]]:
    """The pauses and freezes that lasted then or later."""
    pauses = Pauses(transaction).recent(repository, since)
    return list(pauses), list(Freezes(transaction).recent(repository, since))


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
