"""Statistics of a queue: what merged or failed, how long it took, and what threw others out."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from statistics import median, quantiles
from zoneinfo import ZoneInfo

from bot.channels.subscription import DIGEST_AT, Subscription
from bot.freezes.freeze import Freeze
from bot.kernel.cron import UTC_ZONE
from bot.kernel.repository import RepositoryName
from bot.log.classification import EventKind, kinds
from bot.log.preceding import is_uninformative, with_preceding_events
from bot.log.queue_entries import by_pull_request, entered_at
from bot.merge_queue.event_records import EventRecord
from bot.merge_queue.event_types import MERGED
from bot.pauses.pause import PauseRecord

LEFT = frozenset({EventKind.FAILURE, EventKind.DEQUEUE})
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


@dataclass(frozen=True, slots=True)
class Removals:
    """The removals of a period."""

    count: int
    checks: Mapping[str, int]  #: how many pull requests each failed check threw out
    #: how many left for each code of the service; None without one
    reasons: Mapping[str | None, int]
    paused: timedelta  #: for how long the queue was paused
    frozen: timedelta  #: for how long the queue, or a part of it, was frozen

    @property
    def is_none(self) -> bool:
        return not (self.count or self.paused or self.frozen)


@dataclass(frozen=True, slots=True)
class CheckStatistics:
    """A period, and the one of the same length before it."""

    repository: RepositoryName
    asked: timedelta
    start: datetime  #: later than `end` less `asked` if less is known
    end: datetime
    now: Removals
    before: Removals | None  #: None if it is not known in full

    @property
    def is_none(self) -> bool:
        return self.now.is_none and (self.before is None or self.before.is_none)


def compare(  # noqa: PLR0913  # two are keywords
    repository: RepositoryName,
    records: Iterable[EventRecord],
    pauses: Iterable[PauseRecord],
    freezes: Iterable[Freeze],
    *,
    asked: timedelta,
    end: datetime,
    known_since: datetime,
) -> CheckStatistics:
    """Count the removals among `records`, which are whole from `known_since` to `end`."""
    removals: list[EventRecord] = []
    for events in by_pull_request(records):
        kind_of = kinds(events)
        left = (event for event in events if kind_of[event.event_id] in LEFT)
        removals += (with_preceding_events(event, events) for event in left)
    paused = [(pause.since, pause.ended_at) for pause in pauses]
    frozen = [
        (freeze.begins_at, freeze.over_at or freeze.ends_at)
        for freeze in freezes
        if freeze.begins_at is not None
    ]

    # If the service's clock is ahead of ours, its newest events lie in our future.
    last = end - timedelta.resolution

    def of(start: datetime, until: datetime) -> Removals:
        own = [record for record in removals if start <= min(record.received_at, last) < until]
        return Removals(
            len(own),
            Counter(
                check
                for record in own
                for check in {each.name for each in record.details.checks if each.name}
            ),
            Counter(record.details.code for record in own),
            _covered(paused, start, until),
            _covered(frozen, start, until),
        )

    start = max(end - asked, known_since)
    has_before = known_since <= end - 2 * asked
    before = of(end - 2 * asked, end - asked) if has_before else None
    return CheckStatistics(repository, asked, start, end, of(start, end), before)


def _covered(
    times: Iterable[tuple[datetime, datetime | None]], start: datetime, end: datetime
) -> timedelta:
    """How much of the period they cover, once where they overlap; None is no end yet."""
    covered = timedelta()
    reached = start
    for begun, ended in sorted(times, key=lambda period: period[0]):
        begin = max(begun, reached)
        until = min(ended or end, end)
        if until > begin:
            covered += until - begin
            reached = until
    return covered


def zone_of(subscription: Subscription) -> str:
    """The zone of its weekly post."""
    return subscription.digest.zone if subscription.digest is not None else UTC_ZONE


def last_monday(zone: str, now: datetime) -> date:
    """The latest one of whose 09:00 in that zone is past."""
    local = now.astimezone(ZoneInfo(zone))
    monday = local.date() - timedelta(days=local.weekday())
    return monday if weekly_at(monday, zone) <= now else monday - WEEK


def weekly_at(monday: date, zone: str) -> datetime:
    return datetime.combine(monday, DIGEST_AT, ZoneInfo(zone))
