"""When digests come, also on the days when clocks change."""

from datetime import UTC, datetime, time, timedelta

import pytest

from bot.domain.digests import DigestTime
from bot.scheduler import next_digest

PARIS, NEW_YORK = "Europe/Paris", "America/New_York"


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
        (
            DigestTime(time(0, 0), "UTC"),
            datetime(2026, 12, 31, 23, 59, 59, tzinfo=UTC),
            ["01-01 00:00", "01-02 00:00", "01-03 00:00", "01-04 00:00"],
        ),
    ],
)
def test_a_digest_comes_once_a_day_by_the_clock_on_the_wall(
    digest: DigestTime, start: datetime, expected: list[str]
) -> None:
    assert days(digest, start) == expected


def test_what_happens_at_the_very_moment_is_told_by_the_next_digest() -> None:
    at = datetime(2026, 7, 20, 9, tzinfo=UTC)
    assert next_digest(DigestTime(time(9)), at) == at + timedelta(days=1)
    assert next_digest(DigestTime(time(9)), at - timedelta(microseconds=1)) == at
