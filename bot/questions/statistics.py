"""What merged or failed in a queue, by day, and how long it took."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from statistics import median, quantiles
from zoneinfo import ZoneInfo

from bot.kernel.repository import RepositoryName
from bot.log.classification import EventKind, kinds
from bot.log.preceding import is_uninformative
from bot.log.queue_entries import by_pull_request, entered_at
from bot.merge_queue.event_records import EventRecord
from bot.merge_queue.event_types import MERGED

DAY = timedelta(days=1)
DAYS_SHOWN = 14
"""Show up to this many days one by one, more of them by week."""

DAYS_A_WEEK = 7
WEEK = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Tally:
    """What merged, failed, or left the queue for another reason in a range of days.

    `first` and `last` are days in the person's time zone, both included.
    """

    first: date
    last: date
    merged: int = 0
    failed: int = 0
    left: int = 0


@dataclass(frozen=True, slots=True)
class TimeInQueue:
    """From entering to merging, for merges that say when they entered."""

    median: timedelta
    ninetieth: timedelta


@dataclass(frozen=True, slots=True)
class Span:
    """The days counted, the last of them up to now; `asked` is the requested length."""

    start: datetime
    end: datetime
    asked: timedelta
    zone: ZoneInfo

    @property
    def first_and_last(self) -> tuple[date, date]:
        """The days of `zone` on which it begins and ends."""
        return self.start.astimezone(self.zone).date(), self.end.astimezone(self.zone).date()

    @property
    def days(self) -> int:
        """The number of calendar days, of 23 or 25 hours when clocks change."""
        first, last = self.first_and_last
        return (last - first).days + 1


@dataclass(frozen=True, slots=True)
class QueueStatistics:
    """Statistics of a span."""

    repository: RepositoryName
    branch: str | None
    span: Span
    #: oldest first, for every day of the span, also those without events
    tallies: tuple[Tally, ...]
    time_in_queue: TimeInQueue | None
    #: the log was longer than the part read, so the span is shorter than requested
    cut: bool = False

    @property
    def merged(self) -> int:
        return sum(tally.merged for tally in self.tallies)

    @property
    def failed(self) -> int:
        return sum(tally.failed for tally in self.tallies)

    @property
    def left(self) -> int:
        return sum(tally.left for tally in self.tallies)

    @property
    def failure_share(self) -> float | None:
        """The share of failures among merges and failures, 0 to 1; None without any."""
        decided = self.merged + self.failed
        return self.failed / decided if decided else None

    @property
    def merges_a_day(self) -> float | None:
        """Merges per day; None for less than a day, which is too short."""
        days = (self.span.end - self.span.start) / DAY
        return self.merged / days if days >= 1 else None


def span_back(now: datetime, asked: timedelta, zone: ZoneInfo) -> Span:
    """Whole days of `zone` up to today; a span below one day is taken as requested.

    A part of a day counts as a whole one.
    """
    if asked < DAY:
        return Span(now - asked, now, asked, zone)
    first = now.astimezone(zone).date() - (-(-asked // DAY) - 1) * DAY
    return Span(start_of(first, zone), now, asked, zone)


def start_of(day: date, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, time(), zone)


def lacks_details(records: Iterable[EventRecord]) -> bool:
    """Whether leaves and merges alone lack reasons, or times of entry."""
    return any(
        is_uninformative(record) or (record.type == MERGED and record.details.queued_at is None)
        for record in records
    )


def count(
    records: Iterable[EventRecord], span: Span
) -> tuple[tuple[Tally, ...], TimeInQueue | None]:
    """Count the events of the span, each classified with those of its pull request."""
    found: dict[date, Counter[EventKind]] = defaultdict(Counter)
    today = span.end.astimezone(span.zone).date()
    lengths: list[timedelta] = []
    for events in by_pull_request(records):
        kind_of = kinds(events)
        for index, event in enumerate(events):
            kind = kind_of[event.event_id]
            # A service whose clock is ahead of ours may already be in tomorrow.
            day = min(event.received_at.astimezone(span.zone).date(), today)
            found[day][kind] += 1
            queued_at = entered_at(events[: index + 1]) if kind is EventKind.MERGE else None
            if queued_at is not None:
                lengths.append(event.received_at - queued_at)
    tallies = []
    for first, last in _days(span):
        of_days: Counter[EventKind] = Counter()
        for day, of_day in found.items():
            of_days.update(of_day if first <= day <= last else {})
        decided = (
            of_days[kind] for kind in (EventKind.MERGE, EventKind.FAILURE, EventKind.DEQUEUE)
        )
        tallies.append(Tally(first, last, *decided))
    return tuple(tallies), time_in_queue(lengths)


def _days(span: Span) -> Iterable[tuple[date, date]]:
    """The first and last day of each tally; weeks end today, the oldest may be shorter."""
    first, last = span.first_and_last
    size = 1 if span.days <= DAYS_SHOWN else DAYS_A_WEEK
    for back in range((span.days - 1) // size, -1, -1):
        end = last - timedelta(days=back * size)
        yield max(first, end - timedelta(days=size - 1)), end


def time_in_queue(lengths: Sequence[timedelta]) -> TimeInQueue | None:
    """None of nothing."""
    seconds = sorted(max(length.total_seconds(), 0.0) for length in lengths)
    if not seconds:
        return None
    ninetieth = quantiles(seconds, n=10, method="inclusive")[8] if len(seconds) > 1 else seconds[0]
    return TimeInQueue(timedelta(seconds=median(seconds)), timedelta(seconds=ninetieth))
