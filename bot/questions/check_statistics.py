"""What threw pull requests out of a queue, against the period of the same length before."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.freezes.freeze import Freeze
from bot.kernel.repository import RepositoryName
from bot.log.classification import EventKind, kinds
from bot.log.preceding import with_preceding_events
from bot.log.queue_entries import by_pull_request
from bot.merge_queue.event_records import EventRecord
from bot.pauses.pause import PauseRecord

LEFT = frozenset({EventKind.FAILURE, EventKind.DEQUEUE})


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


def compare_removals(  # noqa: PLR0913  # two are keywords
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
    removals = _removals_among(records)
    paused = [(pause.since, pause.ended_at) for pause in pauses]
    frozen = [
        (freeze.begins_at, freeze.over_at or freeze.ends_at)
        for freeze in freezes
        if freeze.begins_at is not None
    ]

    # If the service's clock is ahead of ours, its newest events seem to come after the end.
    last = end - timedelta.resolution

    def of(start: datetime, until: datetime) -> Removals:
        own = [record for record in removals if start <= min(record.received_at, last) < until]
        return Removals(
            len(own),
            _failed_checks_of(own),
            Counter(record.details.code for record in own),
            _covered(paused, start, until),
            _covered(frozen, start, until),
        )

    start = max(end - asked, known_since)
    has_before = known_since <= end - 2 * asked
    before = of(end - 2 * asked, end - asked) if has_before else None
    return CheckStatistics(repository, asked, start, end, of(start, end), before)


def _removals_among(records: Iterable[EventRecord]) -> list[EventRecord]:
    """The leaves of pull requests that didn't merge, with the details of earlier events."""
    removals: list[EventRecord] = []
    for events in by_pull_request(records):
        kind_of = kinds(events)
        left = (event for event in events if kind_of[event.event_id] in LEFT)
        removals += (with_preceding_events(event, events) for event in left)
    return removals


def _failed_checks_of(removals: Iterable[EventRecord]) -> Counter[str]:
    """How many of the pull requests each check threw out."""
    found: Counter[str] = Counter()
    for removal in removals:
        found.update({check.name for check in removal.details.blamed_checks if check.name})
    return found


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
