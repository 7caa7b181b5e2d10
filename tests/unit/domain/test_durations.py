"""Durations, ends of pauses and lookback lengths, as people type them."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest

from bot.kernel.durations import (
    OLDEST_LOOKBACK,
    DurationProblem,
    For,
    InvalidLookback,
    Lasting,
    Until,
    read_length,
    read_lookback,
    resumes_at,
    written,
    zone_named,
)
from bot.kernel.ends.phrases import read_end, read_lasting
from bot.kernel.errors import InvalidDuration

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
def test_a_duration_comes_before_a_reason(typed: str, lasting: Lasting | None, words: int) -> None:
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
        ("30s", DurationProblem.TOO_SHORT),
        ("1h5", DurationProblem.UNREADABLE),
        ("30m2h", DurationProblem.UNREADABLE),
        ("2h until 15:00", DurationProblem.TWO_ENDS),
        ("2h until 2026-11-25 09:00 release", DurationProblem.TWO_ENDS),
        ("2h until 15:00 UTC", DurationProblem.TWO_ENDS),
        ("2 hours until 15:00", DurationProblem.TWO_ENDS),
        ("30 minutes 2 hours", DurationProblem.UNREADABLE),
        ("for 30s", DurationProblem.TOO_SHORT),
        ("0 min", DurationProblem.TOO_SHORT),
        ("40 days", DurationProblem.TOO_LONG),
        ("until fri 25:00", DurationProblem.NO_SUCH_TIME),
        ("2h until fri 09:00", DurationProblem.TWO_ENDS),
        ("until 15:00 Europe/Pariss", DurationProblem.NO_SUCH_ZONE),
        ("until 25:00", DurationProblem.NO_SUCH_TIME),
        ("until 15:00 UTC+27", DurationProblem.NO_SUCH_ZONE),
        ("until 13pm", DurationProblem.NO_SUCH_TIME),
        ("until 0am", DurationProblem.NO_SUCH_TIME),
        ("until 12:60", DurationProblem.NO_SUCH_TIME),
        ("until 2026-02-30 09:00", DurationProblem.NO_SUCH_TIME),
    ],
)
def test_an_invalid_duration_is_refused(typed: str, problem: DurationProblem) -> None:
    with pytest.raises(InvalidDuration) as refused:
        read_lasting(typed.split())
    assert refused.value.problem == problem


@pytest.mark.parametrize(
    ("lasting", "expected"),
    [
        (minutes(90), MONDAY + timedelta(minutes=90)),
        # In the person's zone, or in the one that is typed.
        (Until(time(15)), MONDAY + timedelta(hours=1)),
        (Until(time(15), zone="UTC"), MONDAY + timedelta(hours=3)),
        # A time that has passed today, or is now, means tomorrow.
        (Until(time(7), zone="America/New_York"), MONDAY + timedelta(hours=23)),
        (Until(time(14)), datetime(2026, 7, 21, 14, tzinfo=BERLIN)),
        (Until(time(9, 30)), datetime(2026, 7, 21, 9, 30, tzinfo=BERLIN)),
        # A weekday means the next such time.
        (Until(time(15), weekday=0), datetime(2026, 7, 20, 15, tzinfo=BERLIN)),
        (Until(time(14), weekday=0), datetime(2026, 7, 27, 14, tzinfo=BERLIN)),
        (Until(time(9), weekday=4), datetime(2026, 7, 24, 9, tzinfo=BERLIN)),
        (Until(time(9), weekday=6), datetime(2026, 7, 26, 9, tzinfo=BERLIN)),
    ],
)
def test_an_end_counts_by_the_clock_of_its_zone(lasting: Lasting, expected: datetime) -> None:
    assert resumes_at(lasting, MONDAY, BERLIN) == expected


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
    assert written(read_end(typed)) == typed


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


@pytest.mark.parametrize(
    "text", ["", "2 hours", "1.5h", "until 15:00", "1h5", "for 2h", "0m", "31d"]
)
def test_settings_and_buttons_write_lengths_in_one_form(text: str) -> None:
    with pytest.raises(InvalidDuration):
        read_length(text)
    assert read_length(" 1D2h3m ") == minutes(24 * 60 + 123)


@pytest.mark.parametrize(
    "typed", ["soon", "45m deploying", "until soon", "15:00 Europe/Pariss", "0m", "5", "monday"]
)
def test_an_invalid_end_is_refused_at_its_field(typed: str) -> None:
    with pytest.raises(InvalidDuration):
        read_end(typed)


@pytest.mark.parametrize(
    ("now", "lasting", "expected"),
    [
        # A time that occurs twice means the next occurrence.
        ("2026-10-24T23:00Z", Until(time(2, 30)), "2026-10-25T00:30Z"),
        ("2026-10-25T00:45Z", Until(time(2, 30)), "2026-10-25T01:30Z"),
        # A duration keeps its length.
        ("2026-03-28T22:00Z", minutes(12 * 60), "2026-03-29T10:00Z"),
    ],
)
def test_an_end_is_exact_when_clocks_change(now: str, lasting: Lasting, expected: str) -> None:
    at = resumes_at(lasting, datetime.fromisoformat(now), BERLIN)
    assert at == datetime.fromisoformat(expected)


SATURDAY = datetime(2026, 3, 28, 20, 0, tzinfo=UTC)
"""The clocks skip half past two in the night after it."""


@pytest.mark.parametrize(
    ("now", "until", "problem"),
    [
        (MONDAY, Until(time(13), date(2026, 7, 20)), DurationProblem.PAST),
        (MONDAY, Until(time(9), date(2025, 1, 1)), DurationProblem.PAST),
        (MONDAY, Until(time(9), date(2026, 9, 1)), DurationProblem.TOO_LONG),
        (MONDAY, Until(time(9), date(9999, 12, 31)), DurationProblem.TOO_LONG),
        (SATURDAY, Until(time(2, 30)), DurationProblem.SKIPPED),
    ],
)
def test_a_past_distant_or_skipped_end_is_refused(
    now: datetime, until: Until, problem: DurationProblem
) -> None:
    with pytest.raises(InvalidDuration) as refused:
        resumes_at(until, now, BERLIN)
    assert refused.value.problem == problem


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("90m", timedelta(minutes=90)),
        ("24h", timedelta(hours=24)),
        ("7d", timedelta(days=7)),
        ("2w", timedelta(weeks=2)),
        (" 1D12H ", timedelta(hours=36)),
    ],
)
def test_lookback_lengths_are_read(text: str, length: timedelta) -> None:
    assert read_lookback(text) == length


@pytest.mark.parametrize("text", ["", "7", "d", "-1d", "1.5d", "7 d", "1y", "٣d", "0m", "9999999d"])
def test_an_invalid_lookback_is_refused(text: str) -> None:
    with pytest.raises(InvalidLookback):
        read_lookback(text)


def test_lookback_is_at_most_ten_years() -> None:
    assert read_lookback("3660d") == OLDEST_LOOKBACK
    with pytest.raises(InvalidLookback):
        read_lookback("3660d1m")
    for length in ("9999999d", "99999999999999999999w", "6000000m1m", "9" * 20 + "w" + "1w" * 90):
        with pytest.raises(InvalidLookback, match="at most ten years"):
            read_lookback(length)


@pytest.mark.parametrize("name", [None, "", "Europe/Pariss", "Europe", "../../etc/passwd", "a\0b"])
def test_a_name_of_no_time_zone_is_none(name: str | None) -> None:
    assert zone_named(name) is None


def test_a_time_zone_has_its_name() -> None:
    assert zone_named("Europe/Berlin") == BERLIN
