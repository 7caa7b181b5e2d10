"""The number of days that statistics cover."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from bot.domain.statistics import QueueStatistics, count, span_back
from bot.messages.statistics import statistics
from tests.support.make import SITE

LONDON = ZoneInfo("Europe/London")


@pytest.mark.parametrize(
    ("now", "asked", "reported"),
    [
        # Clocks went back in the night to the 25th of October.
        (datetime(2026, 11, 21, 23, 30, tzinfo=UTC), 30, "30 days"),
        (datetime(2026, 11, 21, 0, 30, tzinfo=UTC), 30, "30 days"),
        (datetime(2026, 10, 25, 23, 30, tzinfo=UTC), 1, "1 day"),
        (datetime(2026, 7, 20, 12, 0, tzinfo=UTC), 7, "7 days"),
        (datetime(2026, 7, 20, 12, 0, tzinfo=UTC), 1.5, "2 days"),
    ],
)
def test_days_follow_the_calendar(now: datetime, asked: float, reported: str) -> None:
    span = span_back(now, timedelta(days=asked), LONDON)
    tallies, lengths = count((), span)
    said = statistics(QueueStatistics(SITE, None, span, tallies, lengths))
    assert f"0 merges in {reported}\n" in said.text
