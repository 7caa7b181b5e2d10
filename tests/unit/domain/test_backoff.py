"""How long the next attempt waits."""

import pytest
from hypothesis import given, strategies as st

from bot.domain.pacing import FIRST_SECONDS, LONGEST_SECONDS, retry_delay

jitters = st.floats(0, 1)


@pytest.mark.parametrize(
    ("attempt", "seconds"), [(0, 1), (1, 1), (2, 2), (3, 4), (9, 256), (10, 300), (10_000, 300)]
)
def test_the_wait_doubles_up_to_five_minutes(attempt: int, seconds: float) -> None:
    assert retry_delay(attempt, hint=None, jitter=1) == seconds
    assert retry_delay(attempt, hint=None, jitter=0) == seconds / 2


@given(st.integers(0, 10**9), jitters)
def test_without_a_retry_hint_the_wait_stays_within_its_bounds(attempt: int, jitter: float) -> None:
    assert FIRST_SECONDS / 2 <= retry_delay(attempt, hint=None, jitter=jitter) <= LONGEST_SECONDS


@given(st.integers(0, 50), st.floats(0, 1e6), jitters)
def test_a_requested_wait_is_never_undercut_or_much_exceeded(
    attempt: int, hint: float, jitter: float
) -> None:
    wait = retry_delay(attempt, hint=hint, jitter=jitter)

    assert hint <= wait <= hint + 1


def test_a_wait_that_has_passed_is_zero() -> None:
    assert retry_delay(1, hint=-5, jitter=1) == 0
