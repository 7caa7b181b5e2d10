"""The outbox: the urgent queue of a channel, and summaries of backlogs."""

from dataclasses import replace

from bot.kernel.metrics import SuspendedChannel
from bot.kernel.repository import RepositoryName
from bot.log.classification import EventKind
from bot.posts.delivery import (
    UNSUBSCRIBED,
    DeliveryState,
    Subject,
    SubjectKind,
    attempted,
    delivered,
    failed,
    given_back,
    in_doubt,
    summary_id,
)
from bot.posts.outbox import Outbox
from bot.store.transaction import Transaction
from tests.support.stored import (
    NOW,
    SITE,
    add,
    after,
    claim,
    event_subject,
    ids,
    make_new,
    record,
    stored as stored_delivery,
)


def summarize(transaction: Transaction, *, longer_than: int = 3, at_most: int = 100) -> int:
    return Outbox(transaction).summarize(now=after(10), longer_than=longer_than, at_most=at_most)


def test_urgent_deliveries_have_an_order_of_their_own(transaction: Transaction) -> None:
    add(transaction, make_new(1), replace(make_new(8), urgent=True), make_new(2))
    add(transaction, replace(make_new(9), urgent=True), make_new(3))
    claimed = claim(transaction, per_channel=2)

    assert [delivery.subject.subject_id for delivery in claimed if delivery.urgent] == [8, 9]
    assert [delivery.subject.subject_id for delivery in claimed if not delivery.urgent] == [1, 2]
    record(
        transaction, *(delivered(delivery, "1.1", NOW) for delivery in claimed if delivery.urgent)
    )
    add(transaction, replace(make_new(10), urgent=True))
    (urgent,) = claim(transaction, after(1))
    assert (urgent.urgent, urgent.subject.subject_id) == (True, 10)


def test_a_parked_channel_without_deliveries_is_not_reported(transaction: Transaction) -> None:
    add(transaction, replace(make_new(8), urgent=True))
    Outbox(transaction).suspend(SuspendedChannel("C1", "is_archived", NOW, after(100)))
    Outbox(transaction).suspend(SuspendedChannel("C2", "is_archived", NOW, after(100)))
    assert [
        subscription.channel_id for subscription in Outbox(transaction).summary().suspended
    ] == ["C1"]
    (last,) = claim(transaction, after(100))
    record(transaction, failed(last, "is_archived", after(101)))
    assert Outbox(transaction).summary().suspended == []


def test_deliveries_to_a_suspended_channel_end_when_it_unsubscribes(
    transaction: Transaction,
) -> None:
    other = replace(make_new(3), subject=Subject(SubjectKind.EVENT, RepositoryName("acme/api"), 3))
    elsewhere = replace(make_new(4), channel_id="C2")
    add(transaction, make_new(1), replace(make_new(2), urgent=True), other, elsewhere)
    Outbox(transaction).suspend(SuspendedChannel("C1", "is_archived", NOW, after(100)))
    Outbox(transaction).drop_unsubscribed("C1", SITE, NOW)
    Outbox(transaction).drop_unsubscribed("C2", SITE, NOW)
    assert ids(claim(transaction, after(100), per_channel=5)) == ["C1-3", "C1-4"]
    dropped = stored_delivery(transaction, 1)
    assert (dropped.progress.state, dropped.progress.error) == (DeliveryState.FAILED, UNSUBSCRIBED)


def test_parking_applies_to_both_queues_of_a_channel(transaction: Transaction) -> None:
    add(transaction, make_new(1), replace(make_new(8), urgent=True))
    suspended = SuspendedChannel("C1", "is_archived", NOW, after(100))
    Outbox(transaction).suspend(suspended)

    assert claim(transaction, after(99)) == []
    assert len(claim(transaction, after(100), seconds=200)) == 2
    assert Outbox(transaction).summary().suspended == [suspended]
    Outbox(transaction).resume("C1")
    assert Outbox(transaction).summary().suspended == []


def test_a_backlog_is_summarized_in_its_first_delivery(transaction: Transaction) -> None:
    kinds = [EventKind.MERGE, EventKind.FAILURE, EventKind.MERGE, EventKind.ENTER]
    add(transaction, *(replace(make_new(n), kind=kind) for n, kind in enumerate(kinds, 1)))

    assert summarize(transaction) == 3
    (summary,) = claim(transaction, after(10), per_channel=10)
    assert (summary.delivery_id, summary.summarizes) == (summary_id("C1-1", "C1-4"), 3)
    summarized = Outbox(transaction).summary_content(summary.delivery_id)
    assert summarized.counts == {
        (SITE, EventKind.MERGE): 2,
        (SITE, EventKind.FAILURE): 1,
        (SITE, EventKind.ENTER): 1,
    }
    assert list(summarized.subjects) == [event_subject(2)]
    assert (stored_delivery(transaction, 3)).progress.state is DeliveryState.SUMMARIZED


def test_later_deliveries_follow_a_summary(transaction: Transaction) -> None:
    add(transaction, *(make_new(number) for number in range(1, 6)))
    summarize(transaction)
    add(transaction, make_new(6))
    run = claim(transaction, after(10), per_channel=10)
    assert [(delivery.subject.subject_id, delivery.summarizes) for delivery in run] == [
        (1, 4),
        (6, 0),
    ]
    record(transaction, delivered(run[0], "1.1", after(11)), delivered(run[1], "1.2", after(11)))

    assert claim(transaction, after(100)) == []


def test_short_and_urgent_queues_are_not_summarized(transaction: Transaction) -> None:
    add(transaction, make_new(1), make_new(2), make_new(3))
    add(transaction, *(replace(make_new(number), urgent=True) for number in range(11, 19)))
    assert summarize(transaction, longer_than=3) == 0


def test_what_a_living_process_claimed_or_may_have_posted_is_not_summarized(
    transaction: Transaction,
) -> None:
    add(transaction, *(make_new(number) for number in range(1, 9)))
    run = claim(transaction, per_channel=2)
    assert summarize(transaction, longer_than=0) == 0
    record(transaction, *(in_doubt(delivery, "timeout", after(1)) for delivery in run))
    assert summarize(transaction) == 0


def test_deliveries_behind_one_in_doubt_are_summarized_after_it(transaction: Transaction) -> None:
    add(transaction, *(make_new(number) for number in range(1, 6)))
    (head,) = claim(transaction, per_channel=1)
    assert summarize(transaction) == 0
    record(transaction, in_doubt(head, "timeout", after(1)))

    assert summarize(transaction) == 3
    run = claim(transaction, after(10), per_channel=10)
    assert [(delivery.subject.subject_id, delivery.summarizes) for delivery in run] == [
        (1, 0),
        (2, 3),
    ]


def test_unsent_claims_of_a_dead_process_are_summarized(transaction: Transaction) -> None:
    add(transaction, *(make_new(number) for number in range(1, 9)))
    claim(transaction, per_channel=6, seconds=9)

    assert summarize(transaction) == 6
    run = claim(transaction, after(10), per_channel=10)
    assert [(delivery.subject.subject_id, delivery.summarizes) for delivery in run] == [
        (1, 0),
        (2, 6),
    ]
    assert [delivery.progress.attempted_at for delivery in run] == [NOW, None]


def _with_a_summary(transaction: Transaction, many: int) -> None:
    """The first waits again after a doubtful attempt; the second summarizes those behind it."""
    add(transaction, *(make_new(number) for number in range(1, many + 3)))
    (head,) = claim(transaction, per_channel=1)
    record(transaction, in_doubt(head, "timeout", after(1)))
    summarize(transaction)
    run = claim(transaction, after(10), per_channel=2)
    assert [delivery.summarizes for delivery in run] == [0, many]
    record(transaction, *(given_back(attempted(post, None), after(10)) for post in run))


def test_a_summary_is_not_included_in_another_summary(transaction: Transaction) -> None:
    _with_a_summary(transaction, 51)
    add(transaction, *(make_new(number) for number in range(100, 106)))

    assert summarize(transaction) == 0
    reported = Outbox(transaction).summary_content(summary_id("C1-2", "C1-53"))
    assert sum(reported.counts.values()) == 52


def test_a_small_summary_is_included_in_a_larger_one(transaction: Transaction) -> None:
    _with_a_summary(transaction, 3)
    add(transaction, *(make_new(number) for number in range(100, 103)))

    assert summarize(transaction) == 4
    reported = Outbox(transaction).summary_content(summary_id("C1-1", "C1-102"))
    subjects = Outbox(transaction).subjects_of(summary_id("C1-1", "C1-102"), 50)
    few = summary_id("C1-2", "C1-5")
    assert Outbox(transaction).subjects_of(few, 50) == [event_subject(2)]
    assert sum(reported.counts.values()) == 8
    assert subjects == [event_subject(one) for one in (1, 2, 3, 4, 5, 100, 101, 102)]
    (head,) = claim(transaction, after(10))
    assert head.summarizes == 7


def test_a_summary_can_cover_others_and_itself(transaction: Transaction) -> None:
    others = [replace(make_new(number), summarized_by="C1-2") for number in (3, 4)]
    add(transaction, make_new(1), replace(make_new(2), summarizes=2), *others, make_new(5))

    run = claim(transaction)

    assert [(delivery.subject.subject_id, delivery.summarizes) for delivery in run] == [
        (1, 0),
        (2, 2),
        (5, 0),
    ]
    assert (stored_delivery(transaction, 3)).progress.state is DeliveryState.SUMMARIZED
    record(transaction, *(delivered(post, "1.1", NOW) for post in run))
    assert claim(transaction, after(100)) == []
    reported = Outbox(transaction).subjects_of("C1-2", 50)
    assert Outbox(transaction).subjects_of("C1-2", 2) == reported[:2]
    assert Outbox(transaction).summary().pending == 0
    assert reported == [event_subject(one) for one in (2, 3, 4)]


def test_summarizing_stops_at_its_limit(transaction: Transaction) -> None:
    add(transaction, *(make_new(number) for number in range(1, 9)))
    assert summarize(transaction, at_most=4) == 4

    run = claim(transaction, after(10), per_channel=10)
    assert [delivery.subject.subject_id for delivery in run] == [1, 6, 7, 8]


def test_a_summary_does_not_overtake_deliveries_that_may_have_been_posted(
    transaction: Transaction,
) -> None:
    add(transaction, *(make_new(number) for number in range(1, 9)))
    head, second, third = claim(transaction, per_channel=3)
    record(
        transaction,
        given_back(head, after(1)),
        given_back(second, after(1)),
        in_doubt(third, "timeout", after(1)),
    )

    assert summarize(transaction) == 1
    assert (stored_delivery(transaction, 2)).progress.state is DeliveryState.SUMMARIZED
    assert (stored_delivery(transaction, 4)).progress.state is DeliveryState.PENDING
