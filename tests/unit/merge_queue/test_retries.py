"""Whether and when a request is sent again."""

import pytest

from bot.domain.errors import MergeQueueUnavailable
from bot.merge_queue.http import Patience

LOST = MergeQueueUnavailable("lost")
NOT_SENT = MergeQueueUnavailable("no connection", arrived=False)
CALM = Patience(jitter=lambda: 0.0)


def wait(error: MergeQueueUnavailable, attempt: int = 1, remaining: float = 8.0) -> float | None:
    return CALM.wait_before_retry(error, is_read=True, attempt=attempt, remaining=remaining)


def test_waits_grow_until_attempts_run_out() -> None:
    assert [wait(LOST, attempt) for attempt in (1, 2, 3)] == [0.5, 1.0, None]


def test_a_write_is_repeated_only_when_it_did_not_arrive() -> None:
    def after(error: MergeQueueUnavailable) -> float | None:
        return CALM.wait_before_retry(error, is_read=False, attempt=1, remaining=8)

    assert after(LOST) is None
    assert after(MergeQueueUnavailable("busy", status=503, retry_after=1)) is None
    assert after(NOT_SENT) == 0.5


@pytest.mark.parametrize(
    ("retry_after", "waited"), [(0.0, 0.5), (2.0, 2.0), (7.4, 7.4), (7.6, None), (60.0, None)]
)
def test_the_services_requested_wait_is_kept_within_the_timeout(
    retry_after: float, waited: float | None
) -> None:
    assert wait(MergeQueueUnavailable("busy", status=429, retry_after=retry_after)) == waited


def test_no_attempt_starts_without_time_left() -> None:
    assert wait(LOST, remaining=0.9) is None
    assert wait(LOST, remaining=1.1) == 0.5


def test_jitter_spreads_the_waits() -> None:
    hasty, slow = Patience(jitter=lambda: 0.0), Patience(jitter=lambda: 1.0)

    def first(patience: Patience) -> float | None:
        return patience.wait_before_retry(LOST, is_read=True, attempt=1, remaining=8)

    assert (first(hasty), first(slow)) == (0.5, 1.0)
    assert 0 <= Patience().jitter() <= 1
