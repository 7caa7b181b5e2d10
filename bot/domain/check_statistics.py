"""What throws pull requests out of a queue: failing checks, reasons, and hours it was held."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from bot.domain.classification import EventKind, kinds
from bot.domain.event_records import EventRecord
from bot.domain.freezes import Freeze
from bot.domain.pause_records import PauseRecord
from bot.domain.preceding_events import with_preceding_events
from bot.domain.queue_statistics import by_pull_request
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import DIGEST_AT, UTC_ZONE, DigestTime, Subscription, Topic

WEEK = timedelta(days=7)
LEFT = frozenset({EventKind.FAILURE, EventKind.DEQUEUE})


@dataclass(frozen=True, slots=True)
class Removals:
    """The removals of a period.

    `checks`: how many pull requests each failed check threw out.
    `reasons`: how many left for each code of the service; None without one.
    `paused`, `frozen`: for how long the queue, or a part of it, was held.
    """

    count: int
    checks: Mapping[str, int]
    reasons: Mapping[str | None, int]
    paused: timedelta
    frozen: timedelta

    @property
    def is_none(self) -> bool:
        return not (self.count or self.paused or self.frozen)


@dataclass(frozen=True, slots=True)
class CheckStatistics:
    """A period, and the one of the same length before it.

    `start`: later than `end` less `asked` if less is known.
    `before`: None if it is not known in full.
    """

    repository: RepositoryName
    asked: timedelta
    start: datetime
    end: datetime
    now: Removals
    before: Removals | None

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
    removals = [
        with_preceding_events(one, stays)
        for stays in by_pull_request(records)
        for one, kind in _judged(stays)
        if kind in LEFT
    ]
    paused = [(one.paused_at, one.ended_at) for one in pauses]
    frozen = [
        (one.begins_at, one.over_at or one.ends_at) for one in freezes if one.begins_at is not None
    ]

    # A service whose clock is ahead of ours has events after our now.
    last = end - timedelta.resolution

    def of(start: datetime, until: datetime) -> Removals:
        own = [one for one in removals if start <= min(one.received_at, last) < until]
        return Removals(
            len(own),
            Counter(check for one in own for check in _failed_checks(one)),
            Counter(one.details.code for one in own),
            _held(paused, start, until),
            _held(frozen, start, until),
        )

    start = max(end - asked, known_since)
    has_before = known_since <= end - 2 * asked
    before = of(end - 2 * asked, end - asked) if has_before else None
    return CheckStatistics(repository, asked, start, end, of(start, end), before)


def _judged(stays: list[EventRecord]) -> list[tuple[EventRecord, EventKind]]:
    kind_of = kinds(stays)
    return [(one, kind_of[one.event_id]) for one in stays]


def _failed_checks(record: EventRecord) -> set[str]:
    return {one.name for one in record.details.checks if one.name}


def _held(
    times: Iterable[tuple[datetime, datetime | None]], start: datetime, end: datetime
) -> timedelta:
    """How much of the period they cover, once where they overlap; None is no end yet."""
    held, reached = timedelta(), start
    for begun, ended in sorted(times, key=lambda one: one[0]):
        begin, until = max(begun, reached), min(ended or end, end)
        if until > begin:
            held += until - begin
            reached = until
    return held


def with_zone(subscription: Subscription, digest: DigestTime) -> Subscription:
    """The same with the zone of its weekly post, where it has the topic and no zone yet."""
    has_none = Topic.WEEKLY in subscription.topics and subscription.digest is None
    return replace(subscription, digest=digest) if has_none else subscription


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
