"""What threw pull requests out of a queue, against the period before."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest

from bot.domain.event_records import EventRecord
from bot.domain.pause_records import PauseEnding, PauseRecord
from bot.domain.statistics import WEEK, CheckStatistics, compare, last_monday, weekly_at
from tests.support.clock import NOON
from tests.support.make import SITE, make_event

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def left(number: int, ago: timedelta, code: str, *checks: str, merged: bool = False) -> EventRecord:
    metadata = {
        "merged": merged,
        "dequeue_code": code,
        "unsuccessful_checks": [{"name": one} for one in checks],
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
    one = PauseRecord(SITE, begun, "x", "x")
    if lasted is None:
        return one
    return replace(one, ended_at=begun + lasted, ending=PauseEnding.RESUMED)


def counted(
    *records: EventRecord, pauses: Sequence[PauseRecord] = (), known: timedelta = 2 * WEEK
) -> CheckStatistics:
    since = NOON - known
    return compare(SITE, records, pauses, (), asked=WEEK, end=NOON, known_since=since)


def test_removals_are_counted_by_check_and_reason_in_both_periods() -> None:
    found = counted(
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


def test_a_period_known_in_part_is_not_compared() -> None:
    found = counted(left(1, DAY, "CHECKS_FAILED", "unit"), known=10 * DAY)
    assert (found.before, found.start) == (None, NOON - WEEK)
    found = counted(left(1, DAY, "CHECKS_FAILED", "unit"), known=3 * DAY)
    assert (found.now.count, found.start) == (1, NOON - 3 * DAY)


def test_hours_held_count_once_and_within_their_period() -> None:
    pauses = [
        paused(WEEK + HOUR, 2 * HOUR),
        paused(2 * DAY, 3 * HOUR),
        paused(2 * DAY - HOUR, 3 * HOUR),
        paused(2 * HOUR, None),
    ]
    found = counted(pauses=pauses)
    assert found.now.paused == (1 + 4 + 2) * HOUR
    assert found.before is not None
    assert found.before.paused == HOUR
    assert not found.is_none
    assert counted().is_none


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
