"""When channels are told that logs are not read, and when that they are again."""

from datetime import timedelta

from bot.domain.staleness import Staleness, changes
from tests.support.clock import NOON
from tests.support.make import API, SITE

LIMIT = timedelta(seconds=50)
FRESH, STALE = NOON, NOON - timedelta(seconds=51)
ONE = Staleness((SITE,), STALE, staleness_id=1)


def test_nothing_is_said_while_logs_are_read() -> None:
    change = changes({SITE: FRESH, API: NOON - LIMIT}, [], NOON, LIMIT, back=())
    assert (change.begun, change.ended) == (None, ())


def test_logs_that_become_stale_together_are_told_together() -> None:
    earlier = STALE - timedelta(seconds=5)
    change = changes({SITE: STALE, API: earlier}, [], NOON, LIMIT, back=())
    assert change.begun == Staleness((API, SITE), earlier)
    assert change.ended == ()


def test_what_was_told_is_not_told_again_and_another_is() -> None:
    assert changes({SITE: STALE}, [ONE], NOON, LIMIT, back=()).begun is None
    assert changes({SITE: STALE, API: STALE}, [ONE], NOON, LIMIT, back=()).begun == Staleness(
        (API,), STALE
    )


def test_it_is_over_when_all_of_it_is_read_again_or_polled_no_more() -> None:
    both = Staleness((API, SITE), STALE, staleness_id=2)
    fresh = {SITE: FRESH, API: FRESH}
    assert changes({**fresh, API: STALE}, [both], NOON, LIMIT, back={SITE, API}).ended == ()
    assert changes(fresh, [both], NOON, LIMIT, back={SITE}).ended == ()
    assert changes(fresh, [both], NOON, LIMIT, back={SITE, API}).ended == (both,)
    assert changes({}, [both], NOON, LIMIT, back={SITE, API}).ended == (both,)
