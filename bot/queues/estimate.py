"""How long a pull request still waits, by its queue's own past.

**What it uses.** The queue entries of the last days that ended, as the stored log has them, and
the pauses and freezes of these days. Asked for a pull request with `ahead` others before it, it
looks at the newest COMPARED pull requests that merged, and for how long each waited from when it
had no more than `ahead` before it. Those that waited no longer than this one has already waited
say nothing about it. The median of what the others still waited is the estimate. Time in which
the queue was paused or frozen doesn't count.

So it needs no figure about checks, batches or rules: how batches fill, how many are tested at
once and how often they fail are all in these times.

**How wrong it was.** The same is computed for each of the last REPLAYED merges, from what was known
when it entered. The middle half of what really happened, in proportion, is the range.

**What it could mistake.** Pull requests that wait now are unknown to the past, so in a jam it is
too hopeful until the first of them merge. Who overtakes by priority doesn't count as ahead until
it enters. A queue whose rules changed is judged by the old ones for up to COMPARED merges. That
is what the range is for.

**It says nothing** for fewer than LEAST comparable merges or LEAST_REPLAYED replays, for several
base branches or lines in one list, for a queue that is stopped, or that will be before the
estimated time, and for a pull request that something else keeps from advancing.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median, quantiles

from bot.log.queue_entries import PastEntry

COMPARED = 20
LEAST = 5

ALMOST = 0.25
"""Those with a few less before them when they entered count too: this share of `ahead`, or one."""

REPLAYED = 30
LEAST_REPLAYED = 10


@dataclass(frozen=True, slots=True)
class Period:
    """A time in which the queue was paused or frozen; `end` is None if it still is."""

    begin: datetime
    end: datetime | None


@dataclass(frozen=True, slots=True)
class Estimate:
    """How long it still takes, and how long it would have by what the last estimates missed."""

    remaining: timedelta
    low: timedelta
    high: timedelta


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a queue's own past says of the queue as it was just read.

    Made for one answer or one rendering of a board, and never stored. It counts from the time of
    that reading. None where the past says nothing: see above.
    """

    next_merge: Estimate | None  #: None also for an empty queue
    added_now: Estimate | None  #: for a pull request that would be added now


NO_OUTLOOK = Outlook(None, None)


@dataclass(frozen=True, slots=True)
class _Wait:
    """A pull request that merged, and when those left that were before it."""

    entry: PastEntry
    ahead_left: Sequence[datetime]  #: in order, those that left before it merged
    ahead: int  #: how many were before it when it entered

    def since(self, ahead: int) -> datetime | None:
        """When it had no more than so many before it; None if it never had nearly as many."""
        left = len(self.ahead_left) - ahead
        if left > 0:
            return self.ahead_left[left - 1]
        return self.entry.entered_at if -left <= max(1, ALMOST * ahead) else None


@dataclass(frozen=True, slots=True)
class Past:
    """The last days of one line of a queue: those of one base branch, from `LastDays.of_branch`.

    Of a line that nobody knows, `entries` is empty, and it estimates nothing.
    """

    entries: Sequence[PastEntry]  #: in the order in which they ended
    waits: Sequence[_Wait]  #: those of them that merged
    stopped: Sequence[Period]  #: without overlaps

    def estimate(self, ahead: int, queued_at: datetime, at: datetime) -> Estimate | None:
        """How long one still waits that is queued since then and has `ahead` others before it."""
        is_before = (entry for entry in reversed(self.entries) if entry.entered_at < queued_at)
        last_left = next((entry.left_at for entry in is_before), queued_at)
        waited = self._running(max(queued_at, last_left), at)
        remaining = self._expected(ahead, waited, at)
        ratios = [*self._replayed()]
        if remaining is None or len(ratios) < LEAST_REPLAYED:
            return None
        low, _, high = quantiles(ratios, n=4, method="inclusive")
        return Estimate(remaining, remaining * low, remaining * high)

    def _expected(self, ahead: int, waited: timedelta, at: datetime) -> timedelta | None:
        """The median of what comparable ones still waited, of those that had merged by then."""
        known = bisect_right(self.waits, at, key=_merged_at)
        found: list[float] = []
        for wait in reversed(self.waits[:known]):
            since = wait.since(ahead)
            if since is None:
                continue
            remaining = self._running(since, wait.entry.left_at) - waited
            if remaining > timedelta():
                found.append(remaining.total_seconds())
            if len(found) == COMPARED:
                break
        return timedelta(seconds=median(found)) if len(found) >= LEAST else None

    def _replayed(self) -> Iterator[float]:
        """What the last merges really took, by what was to be expected when they entered."""
        for wait in self.waits[-REPLAYED:]:
            entry = wait.entry
            expected = self._expected(wait.ahead, timedelta(), entry.entered_at)
            if expected is not None:
                yield self._running(entry.entered_at, entry.left_at) / expected

    def _running(self, begin: datetime, end: datetime) -> timedelta:
        """How long the queue was neither paused nor frozen in that time."""
        running = max(end - begin, timedelta())
        for period in self.stopped:
            stopped = min(period.end or end, end) - max(period.begin, begin)
            running -= max(stopped, timedelta())
        return running


def past_of(entries: Iterable[PastEntry], stopped: Iterable[Period], branch: str | None) -> Past:
    """The past of the line of that base branch.

    If nobody knows the branch, and pull requests for several ones merged, there is no line.
    """
    known = sorted(entries, key=_left_at)
    branches = {entry.branch for entry in known}
    if branch is None and len(branches) > 1:
        known = []
    own = [entry for entry in known if branch is None or entry.branch == branch]
    return Past(own, [*_waits(own)], [*_without_overlaps(stopped)])


def _waits(entries: Sequence[PastEntry]) -> Iterator[_Wait]:
    begins = sorted(entry.entered_at for entry in entries)
    ends = [entry.left_at for entry in entries]
    for entry in entries:
        if not entry.has_merged:
            continue
        entered_at = entry.entered_at
        first = bisect_right(ends, entered_at)
        last = bisect_right(ends, entry.left_at)
        left = [other.left_at for other in entries[first:last] if other.entered_at < entered_at]
        # Those that had begun, without those that had ended.
        ahead = bisect_left(begins, entered_at) - first
        yield _Wait(entry, left, max(ahead, 0))


def _left_at(entry: PastEntry) -> datetime:
    return entry.left_at


def _merged_at(wait: _Wait) -> datetime:
    return wait.entry.left_at


def _without_overlaps(stopped: Iterable[Period]) -> Iterator[Period]:
    reached: datetime | None = None
    for period in sorted(stopped, key=_period_begin):
        begin = period.begin if reached is None else max(period.begin, reached)
        if period.end is None:
            yield Period(begin, None)
            return
        if period.end > begin:
            yield Period(begin, period.end)
            reached = period.end


def _period_begin(period: Period) -> datetime:
    return period.begin
