"""Durations and ends of pauses, as people type them."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest

from bot.domain.durations import (
    DurationProblem,
    For,
    Lasting,
    Until,
    read_end,
    read_lasting,
    read_whole,
    resumes_at,
    written,
    zone_named,
)
from bot.domain.errors import InvalidDuration

BERLIN = ZoneInfo("Europe/Berlin")
MONDAY = datetime(2026, 7, 20, 12, 0, tzinfo=UTC)
"""14:00 in Berlin."""


def minutes(number: float) -> For:
    return For(timedelta(minutes=number))


@pytest.mark.parametrize(
    ("typed", "lasting", "words"),
    [
        ("45m CI is down", minutes(45), 1),
        ("45min", minutes(45), 1),
        ("45mins CI is down", minutes(45), 1),
        ("2hours", minutes(120), 1),
        ("1h30 deploying", minutes(90), 1),
        ("2h", minutes(120), 1),
        ("1h30m deploying", minutes(90), 1),
        ("90M", minutes(90), 1),
        ("1d", minutes(24 * 60), 1),
        ("1d2h3m", minutes(24 * 60 + 123), 1),
        ("30d", minutes(30 * 24 * 60), 1),
        ("until 15:00 freeze", Until(time(15)), 2),
        ("UNTIL 3pm", Until(time(15)), 2),
        ("until 12am", Until(time(0)), 2),
        ("until 12:30pm", Until(time(12, 30)), 2),
        ("until 2026-11-25 09:00 release", Until(time(9), date(2026, 11, 25)), 3),
        ("for 2h deploying", minutes(120), 2),
        ("2 hours deploying", minutes(120), 2),
        ("for 1 hour 30 minutes", minutes(90), 5),
        ("45 min CI is down", minutes(45), 2),
        ("1 d", minutes(24 * 60), 2),
        ("until 5 pm release", Until(time(17)), 3),
        ("until 15:00 UTC freeze", Until(time(15), zone="UTC"), 3),
        ("until 15:00 z", Until(time(15), zone="UTC"), 3),
        ("until 3pm America/New_York", Until(time(15), zone="America/New_York"), 3),
        (
            "until 2026-11-25 09:00 Europe/Paris release",
            Until(time(9), date(2026, 11, 25), "Europe/Paris"),
            4,
        ),
        ("until 15:00 acme/api is red", Until(time(15)), 2),
        ("until 15:00 utcache is rebuilt", Until(time(15)), 2),
        ("for the release", None, 0),
        ("for", None, 0),
        ("2 hours ago it broke", None, 0),
        ("2 hours of red builds", None, 0),
        ("until 4.2 is released", None, 0),
        ("until 3 fixes are in", None, 0),
        ("until monday's release", None, 0),
        ("", None, 0),
        ("deploying", None, 0),
        ("2hot to merge", None, 0),
        ("4.2 is released", None, 0),
        ("5 tests fail", None, 0),
        ("until fixed", None, 0),
        ("until sun rises", None, 0),
        ("until fri 09:00 release", Until(time(9), weekday=4), 3),
        ("until Sunday 9pm UTC", Until(time(21), zone="UTC", weekday=6), 4),
        ("until thurs 5 pm", Until(time(17), weekday=3), 4),
        ("45m until fixed", For(timedelta(minutes=45)), 1),
        ("until", None, 0),
        ("m", None, 0),
        ("h2", None, 0),
    ],
)
def test_a_duration_stands_before_the_reason(
    typed: str, lasting: Lasting | None, words: int
) -> None:
    assert read_lasting(typed.split()) == (lasting, words)


@pytest.mark.parametrize(
    ("typed", "problem"),
    [
        ("0m", DurationProblem.TOO_SHORT),
        ("0h0m", DurationProblem.TOO_SHORT),
        ("31d", DurationProblem.TOO_LONG),
        ("30d1m", DurationProblem.TOO_LONG),
        ("99999999h", DurationProblem.TOO_LONG),
        ("9" * 5000 + "h", DurationProblem.TOO_LONG),
        ("9" * 12 + "h1m", DurationProblem.TOO_LONG),
        ("-5m", DurationProblem.UNREADABLE),
        ("1.5h", DurationProblem.UNREADABLE),
        ("30s", DurationProblem.UNREADABLE),
        ("2weeks", DurationProblem.UNREADABLE),
        ("1h5", DurationProblem.UNREADABLE),
        ("30m2h", DurationProblem.UNREADABLE),
        ("2h until 15:00", DurationProblem.TWO_ENDS),
        ("2h until 2026-11-25 09:00 release", DurationProblem.TWO_ENDS),
        ("2h until 15:00 UTC", DurationProblem.TWO_ENDS),
        ("2 hours until 15:00", DurationProblem.TWO_ENDS),
        ("30 minutes 2 hours", DurationProblem.UNREADABLE),
        ("for 30s", DurationProblem.UNREADABLE),
        ("0 min", DurationProblem.TOO_SHORT),
        ("40 days", DurationProblem.TOO_LONG),
        ("until tomorrow", DurationProblem.UNREADABLE),
        ("until fri", DurationProblem.UNREADABLE),
        ("until fri 25:00", DurationProblem.NO_SUCH_TIME),
        ("2h until fri 09:00", DurationProblem.TWO_ENDS),
        ("until Monday release", DurationProblem.UNREADABLE),
        ("until noon", DurationProblem.UNREADABLE),
        ("until 15:00Z", DurationProblem.UNREADABLE),
        ("until 15h30", DurationProblem.UNREADABLE),
        ("until 15:00 CET", DurationProblem.NO_SUCH_ZONE),
        ("until 15:00 PDT", DurationProblem.NO_SUCH_ZONE),
        ("until 15:00 ET freeze", DurationProblem.NO_SUCH_ZONE),
        ("until 15:00 +02:00", DurationProblem.NO_SUCH_ZONE),
        ("until 15:00 UTC+2 freeze", DurationProblem.NO_SUCH_ZONE),
        ("until 15:00 Europe/Pariss", DurationProblem.NO_SUCH_ZONE),
        ("until 25:00", DurationProblem.NO_SUCH_TIME),
        ("until 13pm", DurationProblem.NO_SUCH_TIME),
        ("until 0am", DurationProblem.NO_SUCH_TIME),
        ("until 12:60", DurationProblem.NO_SUCH_TIME),
        ("until 2026-02-30 09:00", DurationProblem.NO_SUCH_TIME),
        ("until 2026-11-25", DurationProblem.UNREADABLE),
        ("until 2026-11-25 soon", DurationProblem.UNREADABLE),
    ],
)
def test_an_invalid_duration_is_refused(typed: str, problem: DurationProblem) -> None:
    with pytest.raises(InvalidDuration) as refused:
        read_lasting(typed.split())
    assert refused.value.problem == problem


def test_a_duration_counts_from_now() -> None:
    assert resumes_at(minutes(90), MONDAY, BERLIN) == MONDAY + timedelta(minutes=90)


def test_a_time_of_day_is_in_the_persons_time_zone() -> None:
    assert resumes_at(Until(time(15)), MONDAY, BERLIN) == MONDAY + timedelta(hours=1)


def test_a_time_of_day_with_a_zone_is_in_that_zone() -> None:
    assert resumes_at(Until(time(15), zone="UTC"), MONDAY, BERLIN) == MONDAY + timedelta(hours=3)
    passed = Until(time(7), zone="America/New_York")
    assert resumes_at(passed, MONDAY, BERLIN) == MONDAY + timedelta(hours=23)


@pytest.mark.parametrize(
    "typed",
    [
        "45m",
        "2h",
        "1h30m",
        "30d",
        "1d2h3m",
        "until 15:00",
        "until 2026-11-25 09:00",
        "until fri 09:00",
        "until 15:00 UTC",
        "until 2026-11-25 09:00 Europe/Paris",
        "until sun 09:00 UTC",
    ],
)
def test_parsed_options_are_written_as_typed(typed: str) -> None:
    assert written(read_whole(typed)) == typed


@pytest.mark.parametrize(
    ("weekday", "clock", "expected"),
    [
        (0, time(15), datetime(2026, 7, 20, 15, tzinfo=BERLIN)),
        (0, time(14), datetime(2026, 7, 27, 14, tzinfo=BERLIN)),
        (4, time(9), datetime(2026, 7, 24, 9, tzinfo=BERLIN)),
        (6, time(9), datetime(2026, 7, 26, 9, tzinfo=BERLIN)),
    ],
)
def test_a_weekday_means_the_next_such_time(weekday: int, clock: time, expected: datetime) -> None:
    at = resumes_at(Until(clock, weekday=weekday), MONDAY, BERLIN)
    assert at == expected


@pytest.mark.parametrize(
    ("typed", "lasting"),
    [
        ("15:00", Until(time(15))),
        ("fri 09:00", Until(time(9), weekday=4)),
        ("until 15:00", Until(time(15))),
        ("45m", For(timedelta(minutes=45))),
    ],
)
def test_a_field_for_an_end_needs_no_until(typed: str, lasting: Lasting) -> None:
    assert read_end(typed) == lasting


@pytest.mark.parametrize("typed", ["soon", "45m deploying", "until soon", "15:00 CET", "0m"])
def test_an_invalid_end_is_refused_at_its_field(typed: str) -> None:
    with pytest.raises(InvalidDuration):
        read_end(typed)


@pytest.mark.parametrize("clock", [time(14, 0), time(9, 30)])
def test_a_time_that_has_passed_today_means_tomorrow(clock: time) -> None:
    at = resumes_at(Until(clock), MONDAY, BERLIN).astimezone(BERLIN)
    assert (at.date(), at.time()) == (date(2026, 7, 21), clock)


@pytest.mark.parametrize(
    ("until", "problem"),
    [
        (Until(time(13), date(2026, 7, 20)), DurationProblem.PAST),
        (Until(time(9), date(2025, 1, 1)), DurationProblem.PAST),
        (Until(time(9), date(2026, 9, 1)), DurationProblem.TOO_LONG),
        (Until(time(9), date(9999, 12, 31)), DurationProblem.TOO_LONG),
    ],
)
def test_a_past_or_distant_date_is_refused(until: Until, problem: str) -> None:
    with pytest.raises(InvalidDuration) as refused:
        resumes_at(until, MONDAY, BERLIN)
    assert refused.value.problem == problem


def test_a_time_skipped_by_the_clock_change_is_refused() -> None:
    saturday = datetime(2026, 3, 28, 20, 0, tzinfo=UTC)
    with pytest.raises(InvalidDuration) as refused:
        resumes_at(Until(time(2, 30)), saturday, BERLIN)
    assert refused.value.problem == DurationProblem.SKIPPED


def test_a_time_that_occurs_twice_means_the_next_occurrence() -> None:
    before = datetime(2026, 10, 24, 23, 0, tzinfo=UTC)
    between = datetime(2026, 10, 25, 0, 45, tzinfo=UTC)
    assert resumes_at(Until(time(2, 30)), before, BERLIN) == datetime(
        2026, 10, 25, 0, 30, tzinfo=UTC
    )
    assert resumes_at(Until(time(2, 30)), between, BERLIN) == datetime(
        2026, 10, 25, 1, 30, tzinfo=UTC
    )


def test_a_duration_across_a_clock_change_keeps_its_length() -> None:
    saturday = datetime(2026, 3, 28, 22, 0, tzinfo=UTC)
    assert resumes_at(minutes(12 * 60), saturday, BERLIN) - saturday == timedelta(hours=12)


@pytest.mark.parametrize("name", [None, "", "Europe/Pariss", "Europe", "../../etc/passwd", "a\0b"])
def test_a_name_of_no_time_zone_is_none(name: str | None) -> None:
    assert zone_named(name) is None


def test_a_time_zone_has_its_name() -> None:
    assert zone_named("Europe/Berlin") == BERLIN
