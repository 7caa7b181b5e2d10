"""How fast a channel may be posted to."""

from datetime import timedelta

import pytest

from bot.domain.pacing import (
    BURST,
    WORKSPACE_BURST,
    WORKSPACE_PER_SECOND,
    Pace,
    Patience,
    TokenBucket,
)
from tests.support.clock import NOON

SECOND = timedelta(seconds=1)


def test_a_burst_goes_out_at_once_and_then_one_a_second() -> None:
    pace = Pace()

    assert [pace.wait("C1", NOON) for _ in range(BURST)] == [timedelta()] * BURST
    assert pace.wait("C1", NOON) == SECOND
    assert pace.wait("C1", NOON + SECOND) == timedelta()
    assert pace.wait("C1", NOON + SECOND) == SECOND


def test_asking_too_early_uses_no_token() -> None:
    pace = Pace()
    for _ in range(BURST):
        pace.wait("C1", NOON)

    assert pace.wait("C1", NOON + SECOND / 4) == SECOND * 3 / 4
    assert pace.wait("C1", NOON + SECOND / 2) == SECOND / 2
    assert pace.wait("C1", NOON + SECOND) == timedelta()


def test_a_negligible_wait_is_not_a_permission() -> None:
    bucket = TokenBucket(BURST, 0.7)
    for _ in range(BURST):
        bucket.take(NOON)
    nearly = NOON + timedelta(microseconds=1428571)

    assert bucket.wait(nearly) > timedelta()
    assert bucket.wait(nearly + timedelta(microseconds=1)) == timedelta()


def test_channels_do_not_wait_for_each_other() -> None:
    pace = Pace()
    for _ in range(BURST + 1):
        pace.wait("C1", NOON)

    assert pace.wait("C2", NOON) == timedelta()


def test_a_long_quiet_period_allows_one_burst_and_no_more() -> None:
    pace = Pace()
    pace.wait("C1", NOON)
    later = NOON + timedelta(hours=1)

    assert [pace.wait("C1", later) for _ in range(BURST)] == [timedelta()] * BURST
    assert pace.wait("C1", later) > timedelta()


def test_no_token_comes_before_slacks_requested_wait_is_over() -> None:
    bucket = TokenBucket(BURST, 0.7)
    bucket.hold(NOON, 30 * SECOND)
    bucket.hold(NOON, 10 * SECOND)

    assert bucket.room(NOON) == 0
    assert bucket.wait(NOON) == 30 * SECOND
    assert bucket.wait(NOON + 20 * SECOND) == 10 * SECOND
    assert bucket.wait(NOON + 31 * SECOND) == timedelta()


def test_all_channels_together_keep_under_the_budget_of_the_workspace() -> None:
    pace = Pace()
    channels = [f"C{number}" for number in range(1000)]

    posted, now = 0, NOON
    for second in range(60):
        now = NOON + second * SECOND
        posted += sum(not pace.wait(channel, now) for channel in channels)
        assert pace.budget.room(now) == 0
    assert posted == WORKSPACE_BURST + 59 * WORKSPACE_PER_SECOND
    assert pace.wait("C1", now + SECOND * 0.1, urgent=True) == SECOND * 0.1
    assert pace.budget.room(now + 2 * SECOND) == 2 * WORKSPACE_PER_SECOND


def test_a_clock_set_back_delays_nobody() -> None:
    bucket = TokenBucket(BURST, 1.0)
    bucket.hold(NOON, 3 * SECOND)
    earlier = NOON - timedelta(hours=1)

    assert bucket.wait(earlier) == 3 * SECOND
    assert bucket.wait(earlier + 3 * SECOND) == timedelta()


class TestPatience:
    """Whether and when a request is sent again."""

    def test_waits_grow_until_attempts_run_out(self) -> None:
        calm = Patience(jitter=lambda: 0.0)

        assert [calm.wait(attempt, None, 8.0) for attempt in (1, 2, 3)] == [0.5, 1.0, None]

    @pytest.mark.parametrize(
        ("asked", "waited"), [(0.0, 0.5), (2.0, 2.0), (7.4, 7.4), (7.6, None), (60.0, None)]
    )
    def test_the_services_requested_wait_is_kept_within_the_timeout(
        self, asked: float, waited: float | None
    ) -> None:
        assert Patience(jitter=lambda: 0.0).wait(1, asked, 8.0) == waited

    def test_no_attempt_starts_without_time_left(self) -> None:
        calm = Patience(jitter=lambda: 0.0)

        assert (calm.wait(1, None, 0.9), calm.wait(1, None, 1.1)) == (None, 0.5)

    def test_jitter_spreads_the_waits(self) -> None:
        assert Patience(jitter=lambda: 1.0).wait(1, None, 8.0) == 1.0
        assert 0 <= Patience().jitter() <= 1
