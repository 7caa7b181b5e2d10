"""When a repository is polled next, and when its queue is read besides."""

from datetime import timedelta

import pytest

from bot.feed.polling import (
    FEW_REPOSITORIES,
    SAVED_FOR,
    PollingInterval,
    QueueInterest,
    RequestBudget,
    is_running,
    queue_due,
    stale_after,
)
from tests.support.clock import NOON
from tests.support.make import make_batch, make_queued, make_status

TEN = timedelta(seconds=10)
USUAL = PollingInterval.around(TEN)


def seconds(count: float) -> timedelta:
    return timedelta(seconds=count)


@pytest.mark.parametrize(
    ("is_running", "may_hurry", "waits"),
    [
        # The quieter, the less often, up to a minute.
        (False, True, {0: 1, -5: 1, 10: 1, 20: 2, 25: 2.5, 150: 2.5, 600: 10, 3600: 60}),
        (False, True, {86_400: 60}),
        (True, True, {0: 1, 25: 2.5, 600: 2.5, 86_400: 2.5}),
        # Without requests to spare, at the usual interval.
        (False, False, {0: 10, 600: 10, 86_400: 60}),
    ],
    ids=["quiet", "quiet for a day", "active", "no hurry"],
)
def test_the_wait_depends_on_how_long_a_repository_was_quiet(
    waits: dict[float, float], *, is_running: bool, may_hurry: bool
) -> None:
    found = {
        quiet: USUAL.wait(seconds(quiet), is_running=is_running, may_hurry=may_hurry)
        for quiet in waits
    }
    assert found == {quiet: seconds(wait) for quiet, wait in waits.items()}


def test_no_setting_polls_a_repository_more_than_once_a_second() -> None:
    interval = PollingInterval.around(seconds(1))
    assert interval.wait(seconds(0), is_running=True, may_hurry=True) == seconds(1)


@pytest.mark.parametrize(("longest", "wait"), [(300, 300), (10, 10), (3, 10)])
def test_the_longest_interval_is_never_below_the_usual_one(longest: float, wait: float) -> None:
    interval = PollingInterval.around(TEN, seconds(longest))
    assert interval.wait(timedelta(days=1), is_running=False, may_hurry=True) == seconds(wait)


@pytest.mark.parametrize("repositories", [1, FEW_REPOSITORIES, 100])
def test_a_day_of_constant_polling_makes_the_usual_number_of_requests(repositories: int) -> None:
    budget = RequestBudget(TEN)
    now = NOON
    made = 0
    granted = max(repositories, FEW_REPOSITORIES)
    for _ in range(2 * 24 * 360):
        now += TEN
        requests = granted * (3 if budget.has_some(repositories) else 1)
        budget.spend(requests, repositories, now)
        made += requests
    usual = granted * 2 * 24 * 360
    assert made <= usual + granted * (SAVED_FOR / TEN) + 3 * granted


def test_polls_saved_at_night_are_available_in_the_morning() -> None:
    budget = RequestBudget(TEN)
    budget.spend(100 * 24 * 360, 100, NOON)
    assert not budget.has_some(100)
    budget.spend(0, 100, NOON + timedelta(hours=13))
    assert budget.has_some(100)


ABOUT_TO_REPORT = ("preparing", "running", "bisecting", "waiting_for_merge")
HELD_OR_FINISHED = ("frozen", "waiting_schedule", "failed", "merged", "new_code")


@pytest.mark.parametrize("code", [*ABOUT_TO_REPORT, *HELD_OR_FINISHED])
def test_a_batch_that_is_about_to_report_counts_as_active(code: str) -> None:
    status = make_status(make_batch(code=code), waiting=[make_queued()])
    assert is_running(status) is (code in ABOUT_TO_REPORT)


@pytest.mark.parametrize(
    ("interest", "age", "is_due"),
    [
        (QueueInterest(pause=True), 9, False),
        (QueueInterest(pause=True), 10, True),
        (QueueInterest(boards=3), 10, True),
        (QueueInterest(health=True), 29, False),
        (QueueInterest(health=True), 30, True),
        (QueueInterest(), 119, False),
        (QueueInterest(), 120, True),
        (QueueInterest(), -1, True),
    ],
)
def test_a_queue_is_read_as_often_as_needed(
    interest: QueueInterest, age: float, *, is_due: bool
) -> None:
    read_at = NOON - seconds(age)
    assert queue_due(interest, TEN, NOON, read_at=read_at, active_at=NOON) is is_due


def test_a_queue_is_read_once_after_its_log_calms_down() -> None:
    def is_due(read: float, moved: float) -> bool:
        return queue_due(
            QueueInterest(),
            TEN,
            NOON,
            read_at=NOON - seconds(read),
            active_at=NOON - seconds(moved),
        )

    assert is_due(read=70, moved=61)
    assert not is_due(read=70, moved=50)
    assert not is_due(read=0.5, moved=61)


def test_a_log_is_stale_after_five_intervals_and_not_within_half_a_minute() -> None:
    assert stale_after(TEN) == seconds(50)
    assert stale_after(seconds(1)) == seconds(30)
