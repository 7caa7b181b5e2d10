"""When digests come, also on the days when clocks change."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest

from bot.domain.subscriptions import DigestTime
from bot.scheduler import next_digest

PARIS, NEW_YORK = "Europe/Paris", "America/New_York"
LORD_HOWE, SCORESBYSUND = "Australia/Lord_Howe", "America/Scoresbysund"
ST_JOHNS, HAVANA = "America/St_Johns", "America/Havana"


def days(digest: DigestTime, start: datetime, count: int = 4) -> list[str]:
    """The next digests, in UTC, each asked for just after the one before."""
    found: list[str] = []
    now = start
    for _ in range(count):
        now = next_digest(digest, now)
        assert now.tzinfo is UTC
        found.append(f"{now:%m-%d %H:%M}")
        now += timedelta(seconds=1)
    return found


@pytest.mark.parametrize(
    ("digest", "start", "expected"),
    [
        (
            DigestTime(time(9), PARIS),
            datetime(2026, 3, 28, 12, tzinfo=UTC),
            ["03-29 07:00", "03-30 07:00", "03-31 07:00", "04-01 07:00"],
        ),
        (
            DigestTime(time(9), PARIS),
            datetime(2026, 10, 24, 5, tzinfo=UTC),
            ["10-24 07:00", "10-25 08:00", "10-26 08:00", "10-27 08:00"],
        ),
        # The clocks skip half past two, and show it twice.
        (
            DigestTime(time(2, 30), PARIS),
            datetime(2026, 3, 28, 12, tzinfo=UTC),
            ["03-29 01:30", "03-30 00:30", "03-31 00:30", "04-01 00:30"],
        ),
        (
            DigestTime(time(2, 30), PARIS),
            datetime(2026, 10, 24, 12, tzinfo=UTC),
            ["10-25 00:30", "10-26 01:30", "10-27 01:30", "10-28 01:30"],
        ),
        (
            DigestTime(time(1, 30), NEW_YORK),
            datetime(2026, 10, 31, 12, tzinfo=UTC),
            ["11-01 05:30", "11-02 06:30", "11-03 06:30", "11-04 06:30"],
        ),
        # Shortly after midnight a day of 23 hours must not hide the day after it.
        (
            DigestTime(time(0, 15), PARIS),
            datetime(2026, 3, 28, 12, tzinfo=UTC),
            ["03-28 23:15", "03-29 22:15", "03-30 22:15", "03-31 22:15"],
        ),
        # The clocks skip half an hour there.
        (
            DigestTime(time(2, 15), LORD_HOWE),
            datetime(2026, 10, 2, 20, tzinfo=UTC),
            ["10-03 15:45", "10-04 15:15", "10-05 15:15", "10-06 15:15"],
        ),
        (
            DigestTime(time(1, 45), LORD_HOWE),
            datetime(2026, 4, 3, 20, tzinfo=UTC),
            ["04-04 14:45", "04-05 15:15", "04-06 15:15", "04-07 15:15"],
        ),
        # They skip the last hour of a day.
        (
            DigestTime(time(23, 30), SCORESBYSUND),
            datetime(2026, 3, 28, 12, tzinfo=UTC),
            ["03-29 01:30", "03-30 00:30", "03-31 00:30", "04-01 00:30"],
        ),
        (
            DigestTime(time(0, 0), "UTC"),
            datetime(2026, 12, 31, 23, 59, 59, tzinfo=UTC),
            ["01-01 00:00", "01-02 00:00", "01-03 00:00", "01-04 00:00"],
        ),
    ],
)
def test_a_digest_comes_once_a_day_by_local_time(
    digest: DigestTime, start: datetime, expected: list[str]
) -> None:
    assert days(digest, start) == expected


def test_an_event_at_digest_time_belongs_to_the_next_digest() -> None:
    at = datetime(2026, 7, 20, 9, tzinfo=UTC)
    assert next_digest(DigestTime(time(9)), at) == at + timedelta(days=1)
    assert next_digest(DigestTime(time(9)), at - timedelta(microseconds=1)) == at


@pytest.mark.parametrize("zone", [PARIS, NEW_YORK, LORD_HOWE, ST_JOHNS, HAVANA, SCORESBYSUND])
@pytest.mark.parametrize("minutes", [0, 15, 105, 150, 1410])
def test_every_day_of_a_year_has_exactly_one_digest(zone: str, minutes: int) -> None:
    digest = DigestTime(time(*divmod(minutes, 60)), zone)
    at = datetime(2025, 12, 31, 12, tzinfo=UTC)
    began = next_digest(digest, at)
    comes = []
    for _ in range(366):
        at = next_digest(digest, at)
        comes.append(at)
    wanted = datetime.combine(began.astimezone(ZoneInfo(zone)), digest.at)
    for day, found in enumerate(comes):
        shown = found.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
        # What the clocks skip is late by as much as they skip, an hour at most.
        assert timedelta() <= shown - (wanted + timedelta(days=day)) <= timedelta(hours=1)
