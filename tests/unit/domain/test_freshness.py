"""When what is known of event logs counts as stale."""

from datetime import timedelta

from bot.domain.freshness import freshness
from tests.support.clock import NOON

TEN = timedelta(seconds=10)


def test_a_log_is_stale_after_more_than_five_intervals() -> None:
    at = NOON - timedelta(seconds=50)
    assert freshness([at], NOON, TEN).stale == 0
    assert freshness([at - timedelta(milliseconds=1)], NOON, TEN).stale == 1


def test_short_intervals_are_given_half_a_minute() -> None:
    assert freshness([NOON - timedelta(seconds=29)], NOON, timedelta(seconds=1)).stale == 0


def test_a_process_is_stale_when_most_of_its_logs_are() -> None:
    old, new = NOON - timedelta(minutes=5), NOON
    assert not freshness([old, new], NOON, TEN).is_stale
    assert freshness([old, old, new], NOON, TEN).is_stale
    assert freshness([old], NOON, TEN).is_stale


def test_a_process_without_repositories_is_not_stale() -> None:
    found = freshness([], NOON, TEN)
    assert not found.is_stale
    assert found.oldest == timedelta()


def test_the_longest_unread_is_told() -> None:
    known = freshness([NOON - timedelta(minutes=5), NOON], NOON, TEN)
    assert known.oldest == timedelta(minutes=5)
