"""When digests come, also on the days when clocks change."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest

from bot.domain.subscriptions import DigestTime
from bot.scheduler import next_digest

PARIS, NEW_YORK = "Europe/Paris", "America/New_York"
LORD_HOWE, SCORESBYSUND = "Australia/Lord_Howe", "America/Scoresbysund"
ST_JOHNS, HAVANA = "America/St_Johns", "America/Havana"


@pytest.mark.parametrize(
    ("at", "zone", "start", "expected"),
    [
        ("09:00", PARIS, "2026-03-28T12:00", ["03-29 07:00", "03-30 07:00"]),
        ("09:00", PARIS, "2026-10-24T05:00", ["10-24 07:00", "10-25 08:00", "10-26 08:00"]),
        # The clocks skip half past two, and show it twice.
        ("02:30", PARIS, "2026-03-28T12:00", ["03-29 01:30", "03-30 00:30", "03-31 00:30"]),
        ("02:30", PARIS, "2026-10-24T12:00", ["10-25 00:30", "10-26 01:30", "10-27 01:30"]),
        ("01:30", NEW_YORK, "2026-10-31T12:00", ["11-01 05:30", "11-02 06:30", "11-03 06:30"]),
        # Shortly after midnight a day of 23 hours must not hide the day after it.
        ("00:15", PARIS, "2026-03-28T12:00", ["03-28 23:15", "03-29 22:15", "03-30 22:15"]),
        # The clocks skip half an hour there.
        ("02:15", LORD_HOWE, "2026-10-02T20:00", ["10-03 15:45", "10-04 15:15", "10-05 15:15"]),
        ("01:45", LORD_HOWE, "2026-04-03T20:00", ["04-04 14:45", "04-05 15:15", "04-06 15:15"]),
        # They skip the last hour of a day.
        ("23:30", SCORESBYSUND, "2026-03-28T12:00", ["03-29 01:30", "03-30 00:30", "03-31 00:30"]),
        ("00:00", "UTC", "2026-12-31T23:59:59", ["01-01 00:00", "01-02 00:00"]),
    ],
)
def test_a_digest_comes_once_a_day_by_local_time(
    at: str, zone: str, start: str, expected: list[str]
) -> None:
    digest, now = DigestTime(time.fromisoformat(at), zone), datetime.fromisoformat(f"{start}+00:00")
    for day in expected:
        now = next_digest(digest, now)
        assert now.tzinfo is UTC
        assert f"{now:%m-%d %H:%M}" == day
        now += timedelta(seconds=1)


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
