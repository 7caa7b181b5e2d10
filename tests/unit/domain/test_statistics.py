"""Counting what merged, failed and left, in the asker's days and against the period before."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from pydantic import JsonValue

from bot.merge_queue.event_records import EventDetails, EventRecord
from bot.pauses.pause import PauseEnd, PauseLine, PauseRecord
from bot.questions.check_statistics import CheckStatistics, compare_removals
from bot.questions.posting_weekly import last_monday, weekly_at
from bot.questions.statistics import (
    WEEK,
    QueueStatistics,
    Span,
    TimeInQueue,
    count,
    lacks_details,
    span_back,
)
from tests.support.clock import NOON
from tests.support.make import SITE, make_event, make_event_record

PARIS = ZoneInfo("Europe/Paris")
LEAVE = "action.queue.leave"
MERGED = "action.queue.merged"
ENTER = "action.queue.enter"
CHECKS_END = "action.queue.checks_end"


class Log:
    """Events one after another; each call gets its time before noon."""

    def __init__(self) -> None:
        self.records: list[EventRecord] = []

    def tell(
        self, type_: str, ago: timedelta, number: int = 41, **details: JsonValue
    ) -> EventRecord:
        plain = make_event_record(
            type_,
            event_id=len(self.records) + 1,
            received_at=NOON - ago,
            pull_request=number,
        )
        record = replace(plain, details=EventDetails.model_validate(details))
        self.records.append(record)
        return record

    def merge(self, ago: timedelta, took: timedelta | None = None, number: int = 41) -> None:
        reported: dict[str, JsonValue] = {}
        if took is not None:
            reported["queued_at"] = (NOON - ago - took).isoformat()
        self.tell(LEAVE, ago, number, merged=True, code="PR_MERGED", **reported)
        self.tell(MERGED, ago - timedelta(seconds=1), number, **reported)

    def fail(self, ago: timedelta, number: int = 42, code: str = "CHECKS_FAILED") -> None:
        self.tell(LEAVE, ago, number, merged=False, code=code)

    def counted(self, asked: timedelta = WEEK, zone: ZoneInfo = PARIS) -> QueueStatistics:
        span = span_back(NOON, asked, zone)
        tallies, lengths = count(self.records, span)
        return QueueStatistics(SITE, None, span, tallies, lengths)


@pytest.fixture
def log() -> Log:
    return Log()


def hours(count: float) -> timedelta:
    return timedelta(hours=count)


def figures(found: QueueStatistics) -> Sequence[tuple[int, int, int]]:
    return [(tally.merged, tally.failed, tally.left) for tally in found.tallies]


def test_a_merge_counts_once_for_any_number_of_events(log: Log) -> None:
    log.merge(hours(1), hours(2))
    log.records += log.records
    found = log.counted()
    assert (found.merged, found.failed, found.left) == (1, 0, 0)
    assert figures(found) == [(0, 0, 0)] * 6 + [(1, 0, 0)]


def test_a_removal_by_a_person_is_not_a_failure(log: Log) -> None:
    log.merge(hours(3))
    log.fail(hours(2))
    log.fail(hours(1), 43, "PR_MANUALLY_DEQUEUED")
    found = log.counted()
    assert (found.merged, found.failed, found.left) == (1, 1, 1)
    assert found.failure_share == 0.5


def test_days_are_in_the_askers_time_zone(log: Log) -> None:
    late = NOON.replace(hour=23, minute=30) - timedelta(days=1)
    log.merge(NOON - late)
    in_paris = log.counted()
    in_utc = log.counted(zone=ZoneInfo("UTC"))
    assert figures(in_paris)[-2:] == [(0, 0, 0), (1, 0, 0)]
    assert figures(in_utc)[-2:] == [(1, 0, 0), (0, 0, 0)]


def test_days_around_a_clock_change_are_whole() -> None:
    after = datetime(2026, 10, 27, 12, tzinfo=UTC)
    span = span_back(after, timedelta(days=4), PARIS)
    tallies, _ = count([], span)
    assert span.start.astimezone(UTC) == datetime(2026, 10, 23, 22, tzinfo=UTC)
    assert [tally.first.day for tally in tallies] == [24, 25, 26, 27]


@pytest.mark.parametrize("days", [1, 14, 15, 21, 90])
def test_every_day_is_counted_once_and_a_chart_has_room_for_all(days: int) -> None:
    span = span_back(NOON, timedelta(days=days), PARIS)
    tallies, _ = count([], span)
    first = span.start.astimezone(PARIS).date()
    reported = [
        tally.first + timedelta(days=day)
        for tally in tallies
        for day in range((tally.last - tally.first).days + 1)
    ]
    assert reported == [first + timedelta(days=day) for day in range(days)]
    assert len(tallies) <= 20


def test_time_in_the_queue_counts_merges_only(log: Log) -> None:
    for number, minutes in enumerate(range(10, 110, 10)):
        log.merge(hours(1), timedelta(minutes=minutes), number)
    log.fail(hours(1), 99)
    found = log.counted()
    assert found.time_in_queue == TimeInQueue(
        timedelta(minutes=55, seconds=1), timedelta(minutes=91, seconds=1)
    )


@pytest.mark.parametrize(
    ("record", "too_little"),
    [
        (make_event_record(LEAVE), True),
        (make_event_record(LEAVE, merged=False, code="CHECKS_FAILED"), False),
        (make_event_record(LEAVE, merged=True), False),
        (make_event_record(MERGED), True),
        (make_event_record(MERGED, queued_at=NOON.isoformat()), False),
    ],
)
def test_more_events_are_read_only_when_needed(record: EventRecord, *, too_little: bool) -> None:
    assert lacks_details([record]) is too_little


def test_a_few_hours_do_not_represent_a_day(log: Log) -> None:
    log.merge(hours(1))
    assert log.counted(hours(6)).merges_a_day is None
    assert log.counted(hours(6)).merged == 1
    week = log.counted()
    assert week.merges_a_day == pytest.approx(1 / ((NOON - week.span.start) / timedelta(days=1)))


def test_an_event_of_a_clock_ahead_of_ours_belongs_to_today() -> None:
    ahead = make_event_record(MERGED, received_at=NOON + timedelta(hours=13))
    span = Span(NOON - timedelta(days=2), NOON, timedelta(days=2), PARIS)
    tallies, _ = count([ahead], span)
    assert (tallies[-1].last, tallies[-1].merged) == (NOON.date(), 1)


HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


def left(
    number: int,
    ago: timedelta,
    code: str | None,
    *checks: str,
    merged: bool = False,
    state: str | None = None,
) -> EventRecord:
    metadata = {
        "merged": merged,
        "dequeue_code": code,
        "unsuccessful_checks": [{"name": check, "state": state} for check in checks],
    }
    return make_event(
        number,
        "action.queue.leave",
        pull_request=number,
        received_at=NOON - ago,
        metadata=metadata,
    )


def paused(ago: timedelta, lasted: timedelta | None) -> PauseRecord:
    begun = NOON - ago
    one = PauseRecord(SITE, PauseLine(begun, "x", "x"))
    if lasted is None:
        return one
    return replace(one, end=PauseEnd(begun + lasted))


def compared(
    *records: EventRecord, pauses: Sequence[PauseRecord] = (), known: timedelta = 2 * WEEK
) -> CheckStatistics:
    since = NOON - known
    return compare_removals(SITE, records, pauses, (), asked=WEEK, end=NOON, known_since=since)


def test_removals_are_counted_by_check_and_reason_in_both_periods() -> None:
    found = compared(
        left(1, DAY, "CHECKS_FAILED", "unit", "lint"),
        left(2, DAY, "CHECKS_FAILED", "unit", "unit"),
        left(3, DAY, "PR_MANUALLY_DEQUEUED"),
        left(4, DAY, "PR_MERGED", merged=True),
        left(5, 8 * DAY, "CHECKS_TIMEOUT", "unit"),
        left(6, 15 * DAY, "CHECKS_FAILED", "unit"),
    )
    assert found.now.count == 3
    assert found.now.checks == {"unit": 2, "lint": 1}
    assert found.now.reasons == {"CHECKS_FAILED": 2, "PR_MANUALLY_DEQUEUED": 1}
    assert found.before is not None
    assert (found.before.count, found.before.checks) == (1, {"unit": 1})


def test_checks_that_threw_nothing_out_are_not_counted() -> None:
    found = compared(
        left(1, DAY, "PR_MANUALLY_DEQUEUED", "unit", state="pending"),
        left(2, DAY, "CONFLICT_WITH_BASE_BRANCH", "unit", state="failure"),
        left(3, DAY, None, "unit", state="pending"),
        left(4, DAY, "CHECKS_FAILED", "unit", state="pending"),
        left(5, DAY, "CHECKS_TIMEOUT", "e2e", state="pending"),
        left(6, DAY, "CHECKS_INTERRUPTED", "lint", state="cancelled"),
    )
    assert found.now.count == 6
    assert found.now.checks == {"e2e": 1, "lint": 1}


def test_a_period_known_in_part_is_not_compared() -> None:
    found = compared(left(1, DAY, "CHECKS_FAILED", "unit"), known=10 * DAY)
    assert (found.before, found.start) == (None, NOON - WEEK)
    found = compared(left(1, DAY, "CHECKS_FAILED", "unit"), known=3 * DAY)
    assert (found.now.count, found.start) == (1, NOON - 3 * DAY)


def test_hours_held_count_once_and_within_their_period() -> None:
    pauses = [
        paused(WEEK + HOUR, 2 * HOUR),
        paused(2 * DAY, 3 * HOUR),
        paused(2 * DAY - HOUR, 3 * HOUR),
        paused(2 * HOUR, None),
    ]
    found = compared(pauses=pauses)
    assert found.now.paused == (1 + 4 + 2) * HOUR
    assert found.before is not None
    assert found.before.paused == HOUR
    assert not found.is_none
    assert compared().is_none


@pytest.mark.parametrize(
    ("zone", "now", "monday"),
    [
        ("UTC", datetime(2026, 7, 20, 8, 59, tzinfo=UTC), date(2026, 7, 13)),
        ("UTC", datetime(2026, 7, 20, 9, tzinfo=UTC), date(2026, 7, 20)),
        ("Asia/Tokyo", datetime(2026, 7, 20, 0, tzinfo=UTC), date(2026, 7, 20)),
        ("America/Los_Angeles", datetime(2026, 7, 20, 15, 59, tzinfo=UTC), date(2026, 7, 13)),
        # Clocks went back on Sunday, and forward.
        ("Europe/Paris", datetime(2026, 10, 26, 8, tzinfo=UTC), date(2026, 10, 26)),
        ("Europe/Paris", datetime(2026, 3, 30, 7, tzinfo=UTC), date(2026, 3, 30)),
        ("Europe/Paris", datetime(2026, 3, 30, 6, 59, tzinfo=UTC), date(2026, 3, 23)),
    ],
)
def test_the_week_ends_on_monday_at_nine_by_the_clock_of_the_zone(
    zone: str, now: datetime, monday: date
) -> None:
    assert last_monday(zone, now) == monday
    assert weekly_at(monday, zone) <= now < weekly_at(monday + WEEK, zone)
