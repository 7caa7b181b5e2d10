"""When channels are told that logs are not read, and when that they are again."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from bot.domain.repository import RepositoryName
from bot.domain.staleness import Change, Look, Staleness, changes, newly_stale
from tests.support.clock import NOON
from tests.support.make import API, SITE
from tests.support.stored import SHOP

LIMIT = timedelta(seconds=50)
STALE = NOON - timedelta(seconds=51)
LONG = NOON - timedelta(seconds=61)
HOUR = timedelta(hours=1)
ONE = Staleness((SITE,), LONG, told_at=NOON, staleness_id=1)
BOTH = Staleness((SITE, API), NOON - HOUR, told_at=NOON - HOUR, staleness_id=2)


def look(
    unread_since: Mapping[RepositoryName, datetime] | None = None,
    *,
    read: Collection[RepositoryName] = (),
    polled: Collection[RepositoryName] = (SITE, API, SHOP),
    at: datetime = NOON,
) -> Look:
    return Look(
        at, dict.fromkeys(read, at) | dict(unread_since or {}), dict.fromkeys(read, at), polled
    )


def test_nothing_changes_while_logs_are_read() -> None:
    assert changes(look({API: NOON - LIMIT}, read=[SITE]), [], LIMIT) == []
    assert not newly_stale(look({API: NOON - LIMIT}, read=[SITE]), [], LIMIT)


def test_logs_that_become_stale_together_are_one_staleness_told_when_all_are_known() -> None:
    earlier = STALE - timedelta(seconds=5)
    begun = Staleness((API, SITE), earlier)
    assert newly_stale(look({SITE: STALE, API: earlier}), [], LIMIT)
    assert changes(look({SITE: STALE, API: earlier}), [], LIMIT) == [Change(begun)]

    begun = replace(begun, staleness_id=1)
    later = NOON + timedelta(seconds=5)
    told = replace(begun, told_at=later)
    assert changes(look({SITE: STALE}, at=later), [begun], LIMIT) == [
        Change(told, tell=(API, SITE))
    ]
    assert changes(look({SITE: STALE}, at=later), [told], LIMIT) == []


def test_a_log_of_another_process_joins_and_only_its_channels_are_told() -> None:
    joined = replace(ONE, repositories=(SITE, API))
    assert changes(look({API: STALE}), [ONE], LIMIT) == [Change(joined, tell=(API,))]
    untold = replace(ONE, since=STALE, told_at=None)
    assert changes(look({API: STALE}), [untold], LIMIT) == [
        Change(replace(untold, repositories=(SITE, API)))
    ]
    earlier = STALE - timedelta(seconds=5)
    assert changes(look({API: earlier}), [untold], LIMIT) == [
        Change(replace(untold, repositories=(SITE, API), since=earlier))
    ]


def test_a_log_taken_on_from_a_process_that_died_in_the_outage_belongs_to_it() -> None:
    began = replace(ONE, since=NOON - HOUR)
    taken_on = look({API: LONG})
    stored = taken_on.corrected({API: began.since - timedelta(seconds=15)}, None)
    joined = replace(began, repositories=(SITE, API))
    assert changes(stored, [began], LIMIT) == [Change(joined, tell=(API,))]
    (apart,) = changes(taken_on, [began], LIMIT)
    assert apart.staleness.repositories == (API,)


def test_a_log_of_a_repository_that_is_gone_has_no_later_outage_untold() -> None:
    gone = replace(ONE, since=NOON - HOUR)
    assert changes(look({API: LONG, SITE: gone.since}), [gone], LIMIT) == [
        Change(Staleness((API,), LONG, told_at=NOON), tell=(API,))
    ]
    half = replace(BOTH, read_again={API: NOON - HOUR / 2})
    assert changes(look({API: LONG}), [half], LIMIT) == [
        Change(Staleness((API,), LONG, told_at=NOON), tell=(API,))
    ]


def test_it_is_over_when_the_last_of_it_is_read_again() -> None:
    half = replace(BOTH, read_again={SITE: NOON})
    assert changes(look(read=[SITE]), [BOTH], LIMIT) == [Change(half)]
    assert changes(look({API: STALE}, read=[SITE]), [half], LIMIT) == []
    over = replace(BOTH, read_again={SITE: NOON, API: NOON}, ended_at=NOON)
    assert changes(look(read=[API]), [half], LIMIT) == [Change(over)]


def test_what_nobody_polls_any_more_keeps_no_outage_going() -> None:
    over = replace(BOTH, read_again={SITE: NOON, API: NOON}, ended_at=NOON)
    assert changes(look(read=[SITE], polled=[SITE]), [BOTH], LIMIT) == [Change(over)]


def test_a_log_that_was_read_for_a_moment_keeps_the_outage_going_untold() -> None:
    half = replace(BOTH, read_again={SITE: STALE - timedelta(minutes=5)})
    assert changes(look({SITE: STALE}), [half], LIMIT) == [Change(BOTH)]


def test_what_a_process_read_before_the_outage_is_no_end_of_it() -> None:
    hung = Look(NOON, {SITE: NOON}, {SITE: ONE.since}, [SITE])
    assert changes(hung, [ONE], LIMIT) == []


def test_what_another_process_read_meanwhile_is_not_stale() -> None:
    hung = look({SITE: NOON - HOUR}).corrected({SITE: NOON - LIMIT}, None)
    assert changes(hung, [], LIMIT) == []


def test_those_that_wait_for_their_poll_when_an_outage_ends_are_no_new_one() -> None:
    waiting = look({SITE: STALE, API: NOON})
    assert waiting.corrected({}, NOON - LIMIT).stale(LIMIT) == {}
    assert waiting.corrected({}, LONG).stale(LIMIT) == {SITE: STALE}
