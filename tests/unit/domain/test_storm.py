"""When a storm of failures lasts and ends."""

from datetime import timedelta

from bot.storms.storm import CALM, FailureStorm, StormEnd
from bot.verdicts.verdict import STORM_SPAN
from tests.support.clock import NOON
from tests.support.make import SITE

STORM = FailureStorm(SITE, "1", NOON - timedelta(minutes=5), NOON)
MOMENT = timedelta(seconds=1)


def test_it_lasts_while_failures_follow_soon() -> None:
    assert STORM.lasts_at(NOON + STORM_SPAN)
    assert not STORM.lasts_at(NOON + STORM_SPAN + MOMENT)
    later = STORM.after_failure(NOON + STORM_SPAN)
    assert later.lasts_at(NOON + 2 * STORM_SPAN)


def test_a_failure_that_arrives_late_doesnt_move_it_back() -> None:
    assert STORM.after_failure(NOON - timedelta(minutes=1)) == STORM


def test_a_merge_ends_it_only_once_nothing_fails_any_more() -> None:
    assert STORM.after_merge(NOON + CALM) == STORM
    over = STORM.after_merge(NOON + CALM + MOMENT)
    assert over.ended_at == NOON + CALM + MOMENT
    assert not over.lasts_at(NOON + CALM + MOMENT)
    assert over.after_merge(NOON + 2 * CALM) == over


def test_it_lapses_once_the_log_shows_a_quiet_time() -> None:
    assert STORM.after_reading(NOON + STORM_SPAN) == STORM
    over = STORM.after_reading(NOON + STORM_SPAN + MOMENT)
    assert over.ended_at == NOON + STORM_SPAN
    assert over.ending is StormEnd.LAPSED
    assert over.after_merge(NOON + 2 * STORM_SPAN) == over


def test_one_that_ended_with_a_merge_doesnt_lapse() -> None:
    merged = STORM.after_merge(NOON + CALM + MOMENT)
    assert merged.after_reading(NOON + 2 * STORM_SPAN) == merged
    assert merged.ending is StormEnd.MERGED
