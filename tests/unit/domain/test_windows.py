"""When the occurrences of a window begin and end, also on days when clocks change."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, strategies as st

from bot.domain.repository import RepositoryName
from bot.domain.windows import Occurrence, RecurringWindow, occurrence
from bot.scheduler import check_cron, next_start

PARIS = "Europe/Paris"
ZONES = (PARIS, "America/New_York", "Australia/Lord_Howe", "America/Scoresbysund", "UTC")


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
def test_a_weekend_ends_on_monday_at_eight_whatever_the_clocks_do(
    now: str, begins: str, ends: str
) -> None:
    found = at(window("0 18 * * fri", 62), datetime.fromisoformat(f"{now}+00:00"))
    assert f"{found.begins_at:%m-%d %H:%M}" == begins
    assert f"{found.ends_at:%m-%d %H:%M}" == ends


def test_a_start_that_the_clocks_skip_comes_after_the_gap() -> None:
    found = at(window("30 2 * * *", 1), datetime(2026, 3, 28, 12, tzinfo=UTC))
    assert found.begins_at == datetime(2026, 3, 29, 1, 30, tzinfo=UTC)
    assert found.ends_at > found.begins_at


@given(
    st.sampled_from(ZONES),
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
    assert all(one.begins_at < one.ends_at for one in found)


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
        ("0 18 * *", "expected 5"),
        ("61 * * * *", "61"),
        ("0 0 31 2 *", "no day has that time"),
        ("", "expected 5"),
    ],
)
def test_a_cron_expression_that_never_fires_or_is_ambiguous_is_refused(
    cron: str, problem: str
) -> None:
    with pytest.raises(ValueError, match=problem):
        check_cron(cron)
