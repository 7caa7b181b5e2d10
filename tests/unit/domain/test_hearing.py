"""Who hears each of many events, looked up once for those that are alike."""

from bot.domain.classification import EventKind
from bot.domain.event_records import PullRequestRecord
from bot.domain.event_types import MERGED
from bot.domain.hearing import Hearing
from bot.domain.subscriptions import Style, Subscription
from tests.support.clock import NOON
from tests.support.make import SITE, make_event_record

THREADS = Subscription("C0THREADS", SITE, style=Style.THREAD)
FEED = Subscription("C0FEED", SITE, style=Style.FEED)
EXCEPT_ALICE = Subscription("C0OTHERS", SITE, style=Style.FEED, except_logins=frozenset({"alice"}))


def test_threads_and_other_channels_are_told_apart() -> None:
    hearers = Hearing([FEED, THREADS], {}).of(make_event_record(MERGED), EventKind.MERGE)

    assert hearers.subscriptions == [FEED, THREADS]
    assert hearers.in_threads == ["C0THREADS"]
    assert hearers.others == [FEED]


def test_a_channel_in_threads_hears_nothing_beside_them() -> None:
    also = Subscription("C0THREADS", SITE, style=Style.FEED)

    hearers = Hearing([also, THREADS], {}).of(make_event_record(MERGED), EventKind.MERGE)

    assert (hearers.in_threads, hearers.others) == (["C0THREADS"], [])
    assert hearers.with_threads_in([]).others == [also, THREADS]


def test_events_that_differ_in_what_is_asked_for_are_not_heard_alike() -> None:
    by_alice = PullRequestRecord(SITE, 41, "", "", "Alice", NOON)
    hearing = Hearing([EXCEPT_ALICE], {41: by_alice})
    merge = make_event_record(MERGED, pull_request=41)

    assert hearing.of(merge, EventKind.MERGE).subscriptions == []
    assert hearing.of(make_event_record(MERGED, pull_request=42), EventKind.MERGE).subscriptions
    assert not hearing.of(
        make_event_record("other", pull_request=42), EventKind.OTHER
    ).subscriptions
