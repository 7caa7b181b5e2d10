"""How long things usually take in a queue, by its own past."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

from bot.doctor.facts import Log
from bot.log.batches import WAITS_TOGETHER
from bot.log.preceding import is_put_back
from bot.merge_queue.event_records import EventRecord
from bot.merge_queue.event_types import CHECKS_END, CHECKS_START

ENOUGH = 20
"""From so many measurements on, the queue's own past counts, and no default."""

MEASURED = 200
"""Events of one type that are measured, the newest."""

AT_LEAST = timedelta(minutes=5)
"""No shorter time is long, however quick a queue usually is."""


@dataclass(frozen=True, slots=True)
class Usual:
    """How long something took over the last day."""

    count: int
    median: timedelta
    nine_tenths: timedelta  #: the 90th percentile
    default: timedelta  #: what counts as long while there are fewer than ENOUGH

    @property
    def is_known(self) -> bool:
        return self.count >= ENOUGH

    @property
    def limit(self) -> timedelta:
        """What takes longer is long: longer than nine of ten, and than twice the median."""
        if not self.is_known:
            return self.default
        return max(self.nine_tenths, 2 * self.median, AT_LEAST)


@dataclass(frozen=True, slots=True)
class UsualPace:
    """What is usual in a queue."""

    first_check: Usual  #: from the start of a batch's checks until the first one runs
    check_run: Usual  #: from there to their end
    merge: Usual  #: from a merge, or from when there was something to merge, to the next merge
    after_checks: Usual  #: from the end of its checks until a pull request merges


_FIRST_CHECK = timedelta(minutes=10)
_CHECK_RUN = timedelta(hours=1)
_MERGE = timedelta(hours=1)
_AFTER_CHECKS = timedelta(minutes=10)


def usual_pace(log: Log, merges: Sequence[EventRecord], releases: Sequence[datetime]) -> UsualPace:
    """`merges`: those of the branch in question, oldest first; `releases`: see QueueFacts."""
    runs = list(_runs(log))
    return UsualPace(
        usual((run.first_check for run in runs if run.first_check is not None), _FIRST_CHECK),
        usual((run.length for run in runs), _CHECK_RUN),
        usual(gaps(merges[-MEASURED:], releases), _MERGE),
        usual(_after_checks(log, merges), _AFTER_CHECKS),
    )


def usual(measured: Iterable[timedelta], default: timedelta) -> Usual:
    lengths = sorted(length for length in measured if length >= timedelta())
    if not lengths:
        return Usual(0, default, default, default)
    last = len(lengths) - 1
    return Usual(len(lengths), lengths[last // 2], lengths[last * 9 // 10], default)


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a batch's checks."""

    batch: str
    started_at: datetime
    ended_at: datetime
    first_check: timedelta | None  #: until the first check ran; None if the service doesn't say

    @property
    def length(self) -> timedelta:
        return self.ended_at - self.started_at


def _runs(log: Log) -> Iterator[Run]:
    """The runs that came to their end; what somebody stopped says nothing about their length."""
    yield from runs_of(log.of(CHECKS_END)[-MEASURED:], log.of(CHECKS_START)[-2 * MEASURED :])


def runs_of(ends: Sequence[EventRecord], starts: Sequence[EventRecord]) -> Iterator[Run]:
    """One for each batch, oldest first."""
    started = {(start.details.batch, start.pull_request): start.received_at for start in starts}
    seen: set[str] = set()
    for end in ends:
        batch = end.details.batch
        first = end.details.checks_started_at
        begun_at = started.get((batch, end.pull_request), first)
        if batch is None or batch in seen or begun_at is None or is_put_back(end):
            continue
        seen.add(batch)
        is_known = (batch, end.pull_request) in started and first is not None
        waited = first - begun_at if is_known and first is not None else None
        yield Run(batch, begun_at, end.received_at, waited)


def gaps(merges: Sequence[EventRecord], releases: Sequence[datetime]) -> Iterator[timedelta]:
    """The times in which there was something to merge; a pause or a freeze would lengthen them."""
    for earlier, later in pairwise(merges):
        since = max(earlier.received_at, later.details.queued_at or earlier.received_at)
        is_of_one_batch = later.received_at - earlier.received_at <= WAITS_TOGETHER
        was_held = any(since <= released_at <= later.received_at for released_at in releases)
        if not is_of_one_batch and not was_held:
            yield later.received_at - since


def _after_checks(log: Log, merges: Sequence[EventRecord]) -> Iterator[timedelta]:
    ended: dict[int | None, datetime] = {}
    for end in log.of(CHECKS_END)[-MEASURED:]:
        ended[end.pull_request] = end.received_at
    for merge in merges[-MEASURED:]:
        at = ended.get(merge.pull_request)
        if at is not None:
            yield merge.received_at - at
