"""When channels are notified that logs can't be read, and when that they can again."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from bot.domain.outages import (
    Outage,
    OutageChange,
    PollObservation,
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


def test_logs_that_go_stale_together_are_one_outage_announced_once_all_are_known() -> None:
    earlier = UNREAD - timedelta(seconds=5)
    begun = Outage((API, SITE), earlier)
    assert outage_changes(observed({SITE: UNREAD, API: earlier}), [], LIMIT) == [
        OutageChange(begun)
    ]

    begun = replace(begun, alert_id=1)
    later = NOON + timedelta(seconds=5)
    reported = replace(begun, notified_at=later)
    assert outage_changes(observed({SITE: UNREAD}, at=later), [begun], LIMIT) == [
        OutageChange(reported, notify=(API, SITE))
    ]
    assert outage_changes(observed({SITE: UNREAD}, at=later), [reported], LIMIT) == []


def test_a_log_of_another_process_joins_and_only_new_channels_are_notified() -> None:
    joined = replace(ONE, repositories=(SITE, API))
    assert outage_changes(observed({API: UNREAD}), [ONE], LIMIT) == [
        OutageChange(joined, notify=(API,))
    ]
    unnotified = replace(ONE, began_at=UNREAD, notified_at=None)
    assert outage_changes(observed({API: UNREAD}), [unnotified], LIMIT) == [
        OutageChange(replace(unnotified, repositories=(SITE, API)))
    ]
    earlier = UNREAD - timedelta(seconds=5)
    assert outage_changes(observed({API: earlier}), [unnotified], LIMIT) == [
        OutageChange(replace(unnotified, repositories=(SITE, API), began_at=earlier))
    ]


def test_a_log_taken_over_from_a_dead_process_stays_in_its_outage() -> None:
    began = replace(ONE, began_at=NOON - HOUR)
    taken_on = observed({API: LONG})
    stored = taken_on.corrected({API: began.began_at - timedelta(seconds=15)}, None)
    joined = replace(began, repositories=(SITE, API))
    assert outage_changes(stored, [began], LIMIT) == [OutageChange(joined, notify=(API,))]
    (apart,) = outage_changes(taken_on, [began], LIMIT)
    assert apart.outage.repositories == (API,)


def test_a_removed_repositorys_log_has_no_later_outage_to_report() -> None:
    gone = replace(ONE, began_at=NOON - HOUR)
    assert outage_changes(observed({API: LONG, SITE: gone.began_at}), [gone], LIMIT) == [
        OutageChange(Outage((API,), LONG, notified_at=NOON), notify=(API,))
    ]
    half = replace(BOTH, recovered={API: NOON - HOUR / 2})
    assert outage_changes(observed({API: LONG}), [half], LIMIT) == [
        OutageChange(Outage((API,), LONG, notified_at=NOON), notify=(API,))
    ]


def test_an_outage_ends_when_its_last_log_is_read_again() -> None:
    half = replace(BOTH, recovered={SITE: NOON})
    assert outage_changes(observed(read=[SITE]), [BOTH], LIMIT) == [OutageChange(half)]
    assert outage_changes(observed({API: UNREAD}, read=[SITE]), [half], LIMIT) == []
    over = replace(BOTH, recovered={SITE: NOON, API: NOON}, ended_at=NOON)
    assert outage_changes(observed(read=[API]), [half], LIMIT) == [OutageChange(over)]


def test_a_log_read_only_briefly_continues_the_outage_silently() -> None:
    half = replace(BOTH, recovered={SITE: UNREAD - timedelta(minutes=5)})
    assert outage_changes(observed({SITE: UNREAD}), [half], LIMIT) == [OutageChange(BOTH)]


def test_a_reading_from_before_an_outage_does_not_end_it() -> None:
    hung = PollObservation(NOON, {SITE: NOON}, {SITE: ONE.began_at}, [SITE])
    assert outage_changes(hung, [ONE], LIMIT) == []
