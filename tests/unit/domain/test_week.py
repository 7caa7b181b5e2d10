"""How a week went in a queue, beside the one before."""

from datetime import UTC, date, timedelta
from typing import Any

import pytest

from bot.merge_queue.event_records import EventRecord
from bot.merge_queue.event_types import CHECKS_END, LEAVE, MERGED
from bot.questions.check_statistics import CheckStatistics, compare_removals
from bot.questions.posting_weekly import weekly_at
from bot.questions.statistics import DAY, WEEK
from bot.questions.texts.weekly import weekly
from bot.questions.weekly_figures import WeekComparison, compare_weeks, week_figures
from tests.support.clock import NOON
from tests.support.make import SITE, make_event_record

MINUTE = timedelta(minutes=1)
RESTARTED = {"aborted": True, "abort_status": "REEMBARKED", "code": "PR_AHEAD_DEQUEUED"}


class Log:
    def __init__(self) -> None:
        self.records: list[EventRecord] = []

    def tell(self, type_: str, ago: timedelta, number: int, **details: Any) -> None:
        record = make_event_record(
            type_,
            event_id=len(self.records) + 1,
            received_at=NOON - ago,
            pull_request=number,
            **details,
        )
        self.records.append(record)

    def merge(
        self, ago: timedelta, number: int, took: timedelta, code: str = "PR_MERGED", runs: int = 1
    ) -> None:
        queued_at = NOON - ago - took
        for run in range(runs):
            self.tell(CHECKS_END, ago + MINUTE, number, batch=f"{number}-{run}", aborted=False)
        self.tell(LEAVE, ago, number, merged=True, code=code, queued_at=queued_at)
        if code == "PR_MERGED":
            self.tell(MERGED, ago, number, queued_at=queued_at)

    @property
    def week(self) -> WeekComparison:
        return compare_weeks(self.removals, self.records)

    @property
    def removals(self) -> CheckStatistics:
        since = NOON - 3 * WEEK
        return compare_removals(SITE, self.records, (), (), asked=WEEK, end=NOON, known_since=since)


@pytest.fixture
def log() -> Log:
    return Log()


def test_merges_and_their_time_in_the_queue(log: Log) -> None:
    for number in range(10):
        log.merge(DAY, number, (10 + number) * MINUTE)
    log.merge(8 * DAY, 50, 40 * MINUTE)
    now = log.week.now
    assert now.merged == 10
    assert now.time_in_queue is not None
    assert now.time_in_queue.median == 14.5 * MINUTE
    assert now.time_in_queue.ninetieth / MINUTE == pytest.approx(18.1)
    before = log.week.before
    assert before is not None
    assert before.merged == 1


def test_attempts_are_all_runs_by_the_merges(log: Log) -> None:
    log.merge(DAY, 1, MINUTE, runs=3)
    log.merge(DAY, 2, MINUTE)
    log.tell(CHECKS_END, DAY, 3, batch="b", code="CHECKS_FAILED", aborted=True)
    assert log.week.now.attempts == pytest.approx(2.5)


def test_a_batch_that_starts_over_counts_once(log: Log) -> None:
    for number in (1, 2, 3):
        log.tell(CHECKS_END, DAY, number, batch="b", **RESTARTED)
    log.tell(CHECKS_END, DAY, 4, batch="c", code="CHECKS_FAILED", aborted=True)
    assert log.week.now.restarted == 1
    assert log.week.now.attempts is None


def test_what_somebody_merged_around_the_queue_is_no_merge_of_the_queue(log: Log) -> None:
    log.merge(DAY, 1, 20 * MINUTE)
    log.merge(DAY, 2, 300 * MINUTE, code="PR_MANUALLY_MERGED")
    now = log.week.now
    assert (now.merged, now.around) == (1, 1)
    assert now.time_in_queue is not None
    assert now.time_in_queue.median == 20 * MINUTE


def test_each_day_has_its_own_median(log: Log) -> None:
    log.merge(WEEK - MINUTE, 1, 30 * MINUTE)
    log.merge(MINUTE, 2, 10 * MINUTE)
    assert log.week.now.by_day == (30 * MINUTE, *[None] * 5, 10 * MINUTE)


@pytest.mark.parametrize("monday", [date(2026, 10, 26), date(2026, 3, 30)])
def test_days_begin_at_the_same_hour_though_clocks_change(monday: date) -> None:
    """Weeks of 169 and of 167 hours."""
    end = weekly_at(monday, "Europe/Berlin")
    merges: list[EventRecord] = []
    for number in range(7):
        begin = end - (7 - number) * DAY
        for hour in (timedelta(), timedelta(hours=23, minutes=59)):
            left_at = (begin + hour).astimezone(UTC)
            queued_at = left_at - (number + 1) * MINUTE
            merges.append(
                make_event_record(
                    MERGED,
                    event_id=len(merges) + 1,
                    pull_request=len(merges) + 1,
                    received_at=left_at,
                    queued_at=queued_at,
                )
            )
    week = week_figures(merges, end - WEEK, end)
    assert week.merged == 14
    assert week.by_day == tuple((number + 1) * MINUTE for number in range(7))


def test_a_week_without_anything_is_none(log: Log) -> None:
    assert log.week.is_none
    log.merge(8 * DAY, 1, MINUTE)
    assert not log.week.is_none


def test_a_first_week_has_nothing_beside_it(log: Log) -> None:
    log.merge(DAY, 1, 20 * MINUTE)
    removals = compare_removals(
        SITE, log.records, (), (), asked=WEEK, end=NOON, known_since=NOON - 10 * DAY
    )
    week = compare_weeks(removals, log.records)
    assert week.before is None
    text = weekly(week).text
    assert "was" not in text
    assert "The week before isn't fully known" in text


def test_the_text_says_all_that_the_chart_shows(log: Log) -> None:
    for day in range(7):
        log.merge(day * DAY + MINUTE, day, (10 + day) * MINUTE)
        log.merge(WEEK + day * DAY + MINUTE, 50 + day, (40 + day) * MINUTE)
    message = weekly(log.week)
    assert [block["type"] for block in message.blocks].count("data_visualization") == 1
    for day in range(7):
        assert f"{10 + day} min (was {40 + day} min)" in message.text


def test_an_event_of_another_time_does_not_count(log: Log) -> None:
    log.merge(DAY, 1, MINUTE)
    assert week_figures(log.records, NOON - WEEK, NOON - 2 * DAY).merged == 0
