"""When channels are notified that logs can't be read, and when that they can again."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from bot.domain.outages import (
    Outage,
    OutageChange,
    PollObservation,
    has_new_outage,
    outage_changes,
)
from bot.domain.repository import RepositoryName
from tests.support.clock import NOON
from tests.support.make import API, SITE
from tests.support.stored import SHOP

LIMIT = timedelta(seconds=50)
UNREAD = NOON - timedelta(seconds=51)
LONG = NOON - timedelta(seconds=61)
HOUR = timedelta(hours=1)
ONE = Outage((SITE,), LONG, notified_at=NOON, alert_id=1)
BOTH = Outage((SITE, API), NOON - HOUR, notified_at=NOON - HOUR, alert_id=2)


def observed(
    unread_since: Mapping[RepositoryName, datetime] | None = None,
    *,
    read: Collection[RepositoryName] = (),
    polled: Collection[RepositoryName] = (SITE, API, SHOP),
    at: datetime = NOON,
) -> PollObservation:
    return PollObservation(
        at, dict.fromkeys(read, at) | dict(unread_since or {}), dict.fromkeys(read, at), polled
    )


def test_nothing_changes_while_logs_are_read() -> None:
    assert outage_changes(observed({API: NOON - LIMIT}, read=[SITE]), [], LIMIT) == []
    assert not has_new_outage(observed({API: NOON - LIMIT}, read=[SITE]), [], LIMIT)


def test_logs_that_become_unread_together_are_one_outage_announced_when_all_are_known() -> None:
    earlier = UNREAD - timedelta(seconds=5)
    begun = Outage((API, SITE), earlier)
    assert has_new_outage(observed({SITE: UNREAD, API: earlier}), [], LIMIT)
    assert outage_changes(observed({SITE: UNREAD, API: earlier}), [], LIMIT) == [
        OutageChange(begun)
    ]

    begun = replace(begun, alert_id=1)
    later = NOON + timedelta(seconds=5)
    told = replace(begun, notified_at=later)
    assert outage_changes(observed({SITE: UNREAD}, at=later), [begun], LIMIT) == [
        OutageChange(told, notify=(API, SITE))
    ]
    assert outage_changes(observed({SITE: UNREAD}, at=later), [told], LIMIT) == []


def test_a_log_of_another_process_joins_and_only_its_channels_are_told() -> None:
    joined = replace(ONE, repositories=(SITE, API))
    assert outage_changes(observed({API: UNREAD}), [ONE], LIMIT) == [
        OutageChange(joined, notify=(API,))
    ]
    untold = replace(ONE, began_at=UNREAD, notified_at=None)
    assert outage_changes(observed({API: UNREAD}), [untold], LIMIT) == [
        OutageChange(replace(untold, repositories=(SITE, API)))
    ]
    earlier = UNREAD - timedelta(seconds=5)
    assert outage_changes(observed({API: earlier}), [untold], LIMIT) == [
        OutageChange(replace(untold, repositories=(SITE, API), began_at=earlier))
    ]


def test_a_log_taken_on_from_a_process_that_died_in_the_outage_belongs_to_it() -> None:
    began = replace(ONE, began_at=NOON - HOUR)
    taken_on = observed({API: LONG})
    stored = taken_on.corrected({API: began.began_at - timedelta(seconds=15)}, None)
    joined = replace(began, repositories=(SITE, API))
    assert outage_changes(stored, [began], LIMIT) == [OutageChange(joined, notify=(API,))]
    (apart,) = outage_changes(taken_on, [began], LIMIT)
    assert apart.outage.repositories == (API,)


def test_a_log_of_a_repository_that_is_gone_has_no_later_outage_untold() -> None:
    gone = replace(ONE, began_at=NOON - HOUR)
    assert outage_changes(observed({API: LONG, SITE: gone.began_at}), [gone], LIMIT) == [
        OutageChange(Outage((API,), LONG, notified_at=NOON), notify=(API,))
    ]
    half = replace(BOTH, recovered={API: NOON - HOUR / 2})
    assert outage_changes(observed({API: LONG}), [half], LIMIT) == [
        OutageChange(Outage((API,), LONG, notified_at=NOON), notify=(API,))
    ]


def test_it_is_over_when_the_last_of_it_is_read_again() -> None:
    half = replace(BOTH, recovered={SITE: NOON})
    assert outage_changes(observed(read=[SITE]), [BOTH], LIMIT) == [OutageChange(half)]
    assert outage_changes(observed({API: UNREAD}, read=[SITE]), [half], LIMIT) == []
    over = replace(BOTH, recovered={SITE: NOON, API: NOON}, ended_at=NOON)
    assert outage_changes(observed(read=[API]), [half], LIMIT) == [OutageChange(over)]


def test_what_nobody_polls_any_more_keeps_no_outage_going() -> None:
    over = replace(BOTH, recovered={SITE: NOON, API: NOON}, ended_at=NOON)
    assert outage_changes(observed(read=[SITE], polled=[SITE]), [BOTH], LIMIT) == [
        OutageChange(over)
    ]


def test_a_log_that_was_read_for_a_moment_keeps_the_outage_going_untold() -> None:
    half = replace(BOTH, recovered={SITE: UNREAD - timedelta(minutes=5)})
    assert outage_changes(observed({SITE: UNREAD}), [half], LIMIT) == [OutageChange(BOTH)]


def test_what_a_process_read_before_the_outage_is_no_end_of_it() -> None:
    hung = PollObservation(NOON, {SITE: NOON}, {SITE: ONE.began_at}, [SITE])
    assert outage_changes(hung, [ONE], LIMIT) == []


def test_what_another_process_read_meanwhile_is_not_stale() -> None:
    hung = observed({SITE: NOON - HOUR}).corrected({SITE: NOON - LIMIT}, None)
    assert outage_changes(hung, [], LIMIT) == []


def test_those_that_wait_for_their_poll_when_an_outage_ends_are_no_new_one() -> None:
    waiting = observed({SITE: UNREAD, API: NOON})
    assert waiting.corrected({}, NOON - LIMIT).unread(LIMIT) == {}
    assert waiting.corrected({}, LONG).unread(LIMIT) == {SITE: UNREAD}
