"""When windows and digests begin and end, also on days when clocks change."""

from datetime import UTC, datetime, time, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, strategies as st

from bot.freezes.windows import Occurrence, RecurringWindow, occurrence
from bot.kernel.cron import DigestTime, check_cron, next_digest, next_start
from bot.kernel.repository import RepositoryName

PARIS = "Europe/Paris"
NEW_YORK = "America/New_York"
LORD_HOWE = "Australia/Lord_Howe"
SCORESBYSUND = "America/Scoresbysund"
ZONES = (PARIS, NEW_YORK, LORD_HOWE, SCORESBYSUND)


def window(starts: str, hours: float, zone: str = PARIS) -> RecurringWindow:
    return RecurringWindow(
        name="weekend",
        repositories=[RepositoryName("acme/site")],
        starts=starts,
        lasts=timedelta(hours=hours),
        zone=ZoneInfo(zone),
        reason="No merges over the weekend",
        announced=timedelta(hours=1),
    )


def at(window: RecurringWindow, now: datetime) -> Occurrence:
    return occurrence(window, now, next_start)


@pytest.mark.parametrize(
    ("now", "begins", "ends"),
    [
        ("2026-03-25 12:00", "03-27 17:00", "03-30 06:00"),
        ("2026-10-21 12:00", "10-23 16:00", "10-26 07:00"),
        ("2026-11-25 12:00", "11-27 17:00", "11-30 07:00"),
        # In force, and just over.
        ("2026-11-29 12:00", "11-27 17:00", "11-30 07:00"),
        ("2026-11-30 07:00", "12-04 17:00", "12-07 07:00"),
    ],
)
def test_a_weekend_ends_on_monday_at_eight_by_any_clock(now: str, begins: str, ends: str) -> None:
    found = at(window("0 18 * * fri", 62), datetime.fromisoformat(f"{now}+00:00"))
    assert f"{found.begins_at:%m-%d %H:%M}" == begins
    assert f"{found.ends_at:%m-%d %H:%M}" == ends


def test_a_start_that_the_clocks_skip_comes_after_the_gap() -> None:
    found = at(window("30 2 * * *", 1), datetime(2026, 3, 28, 12, tzinfo=UTC))
    assert found.begins_at == datetime(2026, 3, 29, 1, 30, tzinfo=UTC)
    assert found.ends_at > found.begins_at


@given(
    st.sampled_from([*ZONES, "UTC"]),
    st.integers(0, 23),
    st.integers(0, 59),
    st.integers(1, 23),
    st.integers(0, 730 * 24),
)
@example("America/Scoresbysund", 23, 30, 1, 85 * 24)
@example("Europe/Paris", 2, 30, 23, 85 * 24)
def test_a_nightly_window_comes_once_a_day_through_all_clock_changes(
    zone: str, hour: int, minute: int, hours: int, first: int
) -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=first)
    nightly = window(f"{minute} {hour} * * *", hours, zone)
    found = [at(nightly, start)]
    for _ in range(7):
        before = found[-1]
        # From within, it is the same occurrence; from its end, the next.
        assert at(nightly, before.ends_at - timedelta(seconds=1)) == before
        found.append(at(nightly, before.ends_at))
    for before, after in pairwise(found):
        # The clocks skip or repeat at most an hour; a skipped start comes up to an hour later.
        length = after.begins_at - before.begins_at
        assert timedelta(hours=22) <= length <= timedelta(hours=26)
    assert all(freeze.begins_at < freeze.ends_at for freeze in found)


def test_a_window_each_minute_is_found_in_few_steps() -> None:
    asked: list[datetime] = []

    def counted(cron: str, zone: ZoneInfo, after: datetime) -> datetime:
        asked.append(after)
        return next_start(cron, zone, after)

    now = datetime(2026, 6, 1, 12, 0, 30, tzinfo=UTC)
    found = occurrence(window("* * * * *", 1 / 60), now, counted)
    assert found.begins_at == now.replace(second=0)
    assert len(asked) < 200


@pytest.mark.parametrize(
    ("cron", "problem"),
    [
        ("0 18 * * 5", "mon-fri"),
        ("0 18 * *", "not five fields"),
        ("61 * * * *", "61"),
        ("0 0 31 2 *", "no day has that time"),
        ("", "not five fields"),
    ],
)
def test_a_cron_expression_that_cannot_be_meant_is_refused(cron: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        check_cron(cron)


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
def test_a_digest_comes_daily_by_local_time(
    at: str, zone: str, start: str, expected: list[str]
) -> None:
    digest = DigestTime(time.fromisoformat(at), zone)
    now = datetime.fromisoformat(f"{start}+00:00")
    for day in expected:
        now = next_digest(digest, now)
        assert now.tzinfo is UTC
        assert f"{now:%m-%d %H:%M}" == day
        now += timedelta(seconds=1)


def test_an_event_at_digest_time_belongs_to_the_next_digest() -> None:
    at = datetime(2026, 7, 20, 9, tzinfo=UTC)
    assert next_digest(DigestTime(time(9)), at) == at + timedelta(days=1)
    assert next_digest(DigestTime(time(9)), at - timedelta(microseconds=1)) == at


@pytest.mark.parametrize("zone", [*ZONES, "America/St_Johns", "America/Havana"])
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
