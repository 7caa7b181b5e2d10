"""How a week in a queue went: merges, time in the queue, attempts, and what restarted checks."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median

from bot.log.preceding import is_put_back
from bot.log.queue_entries import PastEntry, past_entries
from bot.merge_queue.event_records import EventRecord
from bot.merge_queue.event_types import CHECKS_END, LEAVE
from bot.questions.check_statistics import CheckStatistics
from bot.questions.statistics import DAY, DAYS_A_WEEK, WEEK, TimeInQueue, time_in_queue

AROUND_THE_QUEUE = "PR_MANUALLY_MERGED"


@dataclass(frozen=True, slots=True)
class WeekFigures:
    """One week, up to a Monday morning."""

    merged: int  #: by the queue
    time_in_queue: TimeInQueue | None  #: of these; None if nothing says when one entered
    attempts: float | None  #: runs of checks for each merge; None if no end of checks is known
    restarted: int  #: batches whose checks started over without a failure of their own
    around: int  #: queued pull requests that somebody merged around the queue
    #: the median of each of its seven days, which begin at the hour of its end, by the calendar of
    #: its zone; None without merges
    by_day: tuple[timedelta | None, ...]


@dataclass(frozen=True, slots=True)
class WeekComparison:
    """A week and the one before."""

    removals: CheckStatistics
    now: WeekFigures
    before: WeekFigures | None  #: None if it is not known in full

    @property
    def is_none(self) -> bool:
        """Whether nothing happened in either week."""
        has_merged = self.now.merged or (self.before is not None and self.before.merged)
        return self.removals.is_none and not has_merged


def compare_weeks(removals: CheckStatistics, records: Sequence[EventRecord]) -> WeekComparison:
    """`records`: the ends of checks, leaves and merges of both weeks."""
    end = removals.end
    now = week_figures(records, removals.start, end)
    if removals.before is None:
        return WeekComparison(removals, now, None)
    return WeekComparison(removals, now, week_figures(records, end - 2 * WEEK, end - WEEK))


def week_figures(records: Sequence[EventRecord], start: datetime, end: datetime) -> WeekFigures:
    """The figures of the events in that time."""
    own = [record for record in records if start <= record.received_at < end]
    leaves = [record for record in own if record.type == LEAVE]
    around = {leave.pull_request for leave in leaves if leave.details.code == AROUND_THE_QUEUE}
    ended = [entry for entry in past_entries(records) if start <= entry.left_at < end]
    merges = [entry for entry in ended if entry.has_merged and entry.number not in around]
    ends = [record for record in own if record.type == CHECKS_END]
    restarted = {record.details.batch or record.event_id for record in ends if is_put_back(record)}
    return WeekFigures(
        len(merges),
        time_in_queue([_time_in_queue(entry) for entry in merges]),
        len(ends) / len(merges) if ends and merges else None,
        len(restarted),
        len(around),
        tuple(_by_day(merges, end - WEEK)),
    )


def _by_day(merges: Iterable[PastEntry], start: datetime) -> Iterator[timedelta | None]:
    lengths: list[list[float]] = [[] for _ in range(DAYS_A_WEEK)]
    first = start.replace(tzinfo=None)
    for entry in merges:
        # By the calendar: a day in which clocks change has 23 or 25 hours.
        left_at = entry.left_at.astimezone(start.tzinfo).replace(tzinfo=None)
        lengths[(left_at - first) // DAY].append(_time_in_queue(entry).total_seconds())
    for of_day in lengths:
        yield timedelta(seconds=median(of_day)) if of_day else None


def _time_in_queue(entry: PastEntry) -> timedelta:
    return entry.left_at - entry.entered_at
