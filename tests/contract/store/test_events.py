"""Events: stored once, routed once, deleted when no longer needed."""

from dataclasses import replace
from datetime import timedelta

from bot.log.position import first_position
from bot.log.queue_entries import Leave, LeaveDetails
from bot.log.rows import Events, Positions
from bot.merge_queue.event_records import EventDetails, EventRecord
from bot.merge_queue.event_types import LEAVE
from bot.posts.delivery import Subject, SubjectKind, delivered
from bot.posts.events import events_about
from bot.runtime.upkeep.pruning import Upkeep
from bot.store.transaction import Transaction
from tests.support.stored import (
    NOW,
    SHOP,
    SITE,
    add,
    after,
    claim,
    event_subject,
    make_event,
    make_new,
    record,
)


def keep(transaction: Transaction, *records: EventRecord) -> int:
    return Events(transaction).add_new(records)


def route(transaction: Transaction, *event_ids: int) -> None:
    Events(transaction).mark_routed(SITE, event_ids)


def delete_all_before(transaction: Transaction, seconds: float) -> int:
    return Upkeep(transaction).prune(after(seconds))["events"]


def test_an_event_of_a_repository_is_stored_once_as_first_read(transaction: Transaction) -> None:
    first = make_event(1)
    elsewhere = make_event(1, repository=SHOP)

    assert keep(transaction, first, make_event(2), elsewhere) == 3
    assert keep(transaction, replace(first, type="changed"), make_event(3), make_event(3)) == 1
    act = Subject(SubjectKind.ACT, SITE, 1)
    found = events_about(transaction, [event_subject(1, SHOP), event_subject(1), act])
    assert found == {event_subject(1): first, event_subject(1, SHOP): elsewhere}


def test_unrouted_events_come_oldest_first_for_any_order_of_pages(transaction: Transaction) -> None:
    keep(transaction, make_event(5, received_at=after(3)), make_event(9, received_at=after(1)))
    keep(transaction, make_event(7, received_at=after(1)), make_event(1, repository=SHOP))
    route(transaction, 5)
    unrouted = Events(transaction).unrouted(SITE)

    assert [record.event_id for record in unrouted] == [7, 9]
    assert set(Events(transaction).with_unrouted([SITE, SHOP])) == {SITE, SHOP}
    route(transaction, 7, 9)
    assert set(Events(transaction).with_unrouted([SITE, SHOP])) == {SHOP}
    assert set(Events(transaction).with_unrouted([SITE])) == set()
    assert set(Events(transaction).with_unrouted([])) == set()


def test_text_that_a_database_cannot_store_does_not_stop_a_poll(transaction: Transaction) -> None:
    text = "nul \x00, surrogate \ud800, \N{PILE OF POO}"
    odd = replace(make_event(1, type_=text), details=EventDetails(reason="\N{PILE OF POO}"))
    keep(transaction, odd)
    found = events_about(transaction, [event_subject(1)])[event_subject(1)]

    assert found.type == "nul \ufffd, surrogate \ufffd, \N{PILE OF POO}"
    assert found.details == odd.details


def test_only_old_routed_events_are_deleted(transaction: Transaction) -> None:
    keep(transaction, *(make_event(number, received_at=after(number)) for number in range(1, 5)))
    route(transaction, 1, 2, 4)

    assert delete_all_before(transaction, 4) == 2
    assert delete_all_before(transaction, 4) == 0
    left = events_about(transaction, [event_subject(number) for number in range(1, 5)])
    assert sorted(subject.subject_id for subject in left) == [3, 4]


def test_an_event_that_waits_to_be_posted_is_kept(transaction: Transaction) -> None:
    keep(transaction, make_event(1), make_event(2))
    route(transaction, 1, 2)
    add(transaction, make_new(1), make_new(2), make_new(1, channel_id="C2"))
    posted = [each for each in claim(transaction) if each.subject.subject_id == 1]
    record(transaction, delivered(posted[0], "1.1", NOW))

    assert delete_all_before(transaction, 60) == 0
    record(transaction, delivered(posted[1], "1.2", NOW))
    assert delete_all_before(transaction, 60) == 1


def test_events_that_the_next_walk_reads_again_are_kept(transaction: Transaction) -> None:
    """Without them the last event of a quiet repository would be posted again."""
    old = NOW - timedelta(days=100)
    newest = NOW - timedelta(days=90)
    keep(transaction, make_event(1, received_at=old), make_event(2, received_at=newest))
    route(transaction, 1, 2)
    Positions(transaction).save(replace(first_position(SITE, old), watermark=newest))

    assert delete_all_before(transaction, 0) == 1
    assert keep(transaction, make_event(2, received_at=newest)) == 0


def test_each_call_deletes_a_limited_number_of_events(transaction: Transaction) -> None:
    keep(transaction, *(make_event(n, received_at=after(n)) for n in range(1, 1201)))
    route(transaction, *range(1, 1201))

    assert delete_all_before(transaction, 5000) == 1000
    assert not events_about(transaction, [event_subject(1000)])
    assert events_about(transaction, [event_subject(1001)])
    assert delete_all_before(transaction, 5000) == 200


def test_leaves_come_newest_first_with_what_they_say_of_their_entries(
    transaction: Transaction,
) -> None:
    entered_at = after(-60)
    silent = make_event(1, type_=LEAVE, received_at=after(1))
    details = EventDetails(queued_at=entered_at, merged=True, code="PR_MERGED", trigger="rule")
    telling = replace(make_event(2, type_=LEAVE, received_at=after(2)), details=details)
    too_late = make_event(3, type_=LEAVE, received_at=after(3))
    keep(transaction, silent, telling, too_late, make_event(4), make_event(5, repository=SHOP))

    leaves = Events(transaction).leaves(SITE, after(0), after(2), limit=2)

    assert leaves == [
        Leave(42, "main", after(2), LeaveDetails(entered_at, merged=True, code="PR_MERGED")),
        Leave(41, "main", after(1), LeaveDetails()),
    ]
    assert Events(transaction).leaves(SITE, after(0), after(2), limit=1) == leaves[:1]


def test_the_newest_events_of_some_pull_requests_come_oldest_first(
    transaction: Transaction,
) -> None:
    """`make_event` makes event N one of pull request 40 + N."""
    reported = [
        replace(make_event(number), pull_request=number % 3, received_at=after(number))
        for number in range(1, 10)
    ]
    keep(transaction, *reversed(reported), replace(make_event(1, repository=SHOP), pull_request=1))

    events = Events(transaction)
    both = events.of_pull_requests(SITE, [1, 2, 2], since=after(2))
    newest = events.of_pull_requests(SITE, [1, 2], since=after(0), limit=3)
    nobodys = events.of_pull_requests(SITE, [], since=after(0))

    assert [record.event_id for record in both] == [2, 4, 5, 7, 8]
    assert [record.event_id for record in newest] == [5, 7, 8]
    assert nobodys == []
