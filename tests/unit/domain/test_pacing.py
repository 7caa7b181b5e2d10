"""How fast a channel may be posted to, and how long the next attempt waits."""

from datetime import timedelta

import pytest
from hypothesis import given, strategies as st

from bot.kernel.pacing import (
    FIRST_SECONDS,
    LONGEST_BACKOFF_SECONDS,
    POST_BURST,
    WORKSPACE_BURST,
    WORKSPACE_PER_SECOND,
    Pace,
    Patience,
    TokenBucket,
    retry_delay,
)
from tests.support.clock import NOON

SECOND = timedelta(seconds=1)
jitters = st.floats(0, 1)


def after_a_burst() -> Pace:
    pace = Pace()
    assert [pace.wait("C1", NOON) for _ in range(POST_BURST)] == [timedelta()] * POST_BURST
    return pace


def test_a_burst_goes_out_at_once_and_then_one_a_second() -> None:
    pace = after_a_burst()
    # Asking too early uses no token.
    assert pace.wait("C1", NOON) == SECOND
    assert pace.wait("C1", NOON + SECOND / 4) == SECOND * 3 / 4
    assert pace.wait("C1", NOON + SECOND) == timedelta()
    assert pace.wait("C1", NOON + SECOND) == SECOND
    # Channels do not wait for each other.
    assert pace.wait("C2", NOON) == timedelta()


def test_a_long_quiet_period_allows_one_burst_and_no_more() -> None:
    pace = after_a_burst()
    later = NOON + timedelta(hours=1)
    assert [pace.wait("C1", later) for _ in range(POST_BURST)] == [timedelta()] * POST_BURST
    assert pace.wait("C1", later) > timedelta()


def test_a_negligible_wait_is_not_a_permission() -> None:
    bucket = TokenBucket(POST_BURST, 0.7)
    for _ in range(POST_BURST):
        bucket.take(NOON)
    nearly = NOON + timedelta(microseconds=1428571)

    assert bucket.wait(nearly) > timedelta()
    assert bucket.wait(nearly + timedelta(microseconds=1)) == timedelta()


def test_no_token_comes_before_slacks_requested_wait_is_over() -> None:
    bucket = TokenBucket(POST_BURST, 0.7)
    bucket.pause_for(NOON, 30 * SECOND)
    bucket.pause_for(NOON, 10 * SECOND)

    assert bucket.room(NOON) == 0
    assert bucket.wait(NOON) == 30 * SECOND
    assert bucket.wait(NOON + 20 * SECOND) == 10 * SECOND
    assert bucket.wait(NOON + 31 * SECOND) == timedelta()


def test_all_channels_together_keep_under_the_budget_of_the_workspace() -> None:
    pace = Pace()
    channels = [f"C{number}" for number in range(100)]

    posted = 0
    now = NOON
    for second in range(30):
        now = NOON + second * SECOND
        posted += sum(not pace.wait(channel, now) for channel in channels)
        assert pace.budget.room(now) == 0
    assert posted == WORKSPACE_BURST + 29 * WORKSPACE_PER_SECOND
    assert pace.wait("C1", now + SECOND * 0.1, urgent=True) == SECOND * 0.1
    assert pace.budget.room(now + 2 * SECOND) == 2 * WORKSPACE_PER_SECOND


def test_a_clock_set_back_delays_nobody() -> None:
    bucket = TokenBucket(POST_BURST, 1.0)
    bucket.pause_for(NOON, 3 * SECOND)
    earlier = NOON - timedelta(hours=1)

    assert bucket.wait(earlier) == 3 * SECOND
    assert bucket.wait(earlier + 3 * SECOND) == timedelta()


@pytest.mark.parametrize(
    ("attempt", "seconds"), [(0, 1), (1, 1), (2, 2), (3, 4), (9, 256), (10, 300), (10_000, 300)]
)
def test_the_wait_doubles_up_to_five_minutes(attempt: int, seconds: float) -> None:
    assert retry_delay(attempt, hint=None, jitter=1) == seconds
    assert retry_delay(attempt, hint=None, jitter=0) == seconds / 2


@given(st.integers(0, 10**9), st.floats(-5, 1e6), jitters)
def test_a_wait_stays_within_its_bounds(attempt: int, hint: float, jitter: float) -> None:
    assert (
        FIRST_SECONDS / 2
        <= retry_delay(attempt, hint=None, jitter=jitter)
        <= LONGEST_BACKOFF_SECONDS
    )
    asked = max(hint, 0)
    assert asked <= retry_delay(attempt, hint=hint, jitter=jitter) <= asked + 1


def test_waits_of_a_request_grow_until_attempts_run_out() -> None:
    calm = Patience(jitter=lambda: 0.0)
    assert [calm.wait(attempt, None, 8.0) for attempt in (1, 2, 3)] == [0.5, 1.0, None]
    assert Patience(jitter=lambda: 1.0).wait(1, None, 8.0) == 1.0
    assert 0 <= Patience().jitter() <= 1


@pytest.mark.parametrize(
    ("asked", "remaining", "waited"),
    [
        (0.0, 8.0, 0.5),
        (2.0, 8.0, 2.0),
        (7.4, 8.0, 7.4),
        (7.6, 8.0, None),
        (None, 0.9, None),
        (None, 1.1, 0.5),
    ],
)
def test_the_services_requested_wait_is_kept_within_the_timeout(
    asked: float | None, remaining: float, waited: float | None
) -> None:
    assert Patience(jitter=lambda: 0.0).wait(1, asked, remaining) == waited
