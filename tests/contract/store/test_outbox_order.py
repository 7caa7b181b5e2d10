"""The outbox: what is claimed, and in which order."""

from dataclasses import replace

from bot.kernel.metrics import SuspendedChannel
from bot.posts.delivery import DeliveryState, delivered, postponed
from bot.posts.outbox import Outbox
from bot.store.transaction import Transaction
from tests.support.stored import NOW, add, after, claim, ids, make_new, record, stored


def test_a_claimed_delivery_counts_its_attempt_and_is_nobody_elses_until_the_claim_expires(
    transaction: Transaction,
) -> None:
    add(transaction, make_new(1))
    (claimed,) = claim(transaction, after(1), seconds=60)

    assert claimed.progress.state is DeliveryState.SENDING
    assert (claimed.progress.attempts, claimed.sequence, claimed.progress.lookups) == (1, 1, 0)
    assert claimed.created_at == NOW
    assert claimed.progress.attempted_at is None
    kept = stored(transaction, 1)
    assert kept.progress.attempted_at == after(1)
    assert kept.progress.state is DeliveryState.SENDING
    assert claim(transaction, after(60.999999)) == []
    assert ids(claim(transaction, after(61))) == ["C1-1"]


def test_deliveries_keep_the_order_they_were_added_in(transaction: Transaction) -> None:
    add(transaction, make_new(5), make_new(3), make_new(9, channel_id="C2"))
    add(transaction, make_new(1), make_new(4))
    claimed = claim(transaction, per_channel=3)

    assert ids(claimed) == ["C1-5", "C1-3", "C1-1", "C2-9"]
    assert [delivery.sequence for delivery in claimed] == [1, 2, 3, 1]


def test_later_deliveries_wait_until_the_claimed_run_is_settled(transaction: Transaction) -> None:
    add(transaction, *(make_new(number) for number in range(1, 6)))
    run = claim(transaction, per_channel=2)

    assert claim(transaction, after(1), per_channel=2) == []
    record(transaction, delivered(run[0], "1.1", after(1)))
    assert claim(transaction, after(1), per_channel=2) == []
    record(transaction, delivered(run[1], "1.2", after(1)))
    assert ids(claim(transaction, after(1), per_channel=2)) == ["C1-3", "C1-4"]


def test_a_first_delivery_that_is_not_due_holds_back_those_behind_it(
    transaction: Transaction,
) -> None:
    add(transaction, make_new(1), make_new(2))
    add(transaction, make_new(3, due_at=after(40)), make_new(4))
    head, follower = claim(transaction)
    late = postponed(head, "rate_limited", now=NOW, retry_after=30, jitter=0)
    given_back = postponed(follower, "behind", now=NOW, retry_after=0, jitter=0)
    record(transaction, late, given_back)

    assert claim(transaction, after(29)) == []
    assert ids(claim(transaction, after(30))) == ["C1-1", "C1-2"]


def test_pauses_are_claimed_first_then_failures_then_what_waited_longest(
    transaction: Transaction,
) -> None:
    add(
        transaction,
        make_new(1, channel_id="C1", due_at=after(2)),
        make_new(2, channel_id="C2", due_at=after(1)),
        make_new(5, channel_id="C5", due_at=after(3)),
        replace(make_new(3, channel_id="C3", due_at=after(3)), kind="failure"),
        replace(make_new(4, channel_id="C4", due_at=after(4)), urgent=True),
    )

    claimed = [claim(transaction, after(5), channels=1) for _ in range(3)]
    assert [ids(delivery) for delivery in claimed] == [["C4-4"], ["C3-3"], ["C2-2"]]
    assert ids(claim(transaction, after(5), channels=2)) == ["C1-1", "C5-5"]


def test_deliveries_delayed_by_a_wrong_clock_are_claimed_once_it_is_corrected(
    transaction: Transaction,
) -> None:
    hour = 3600
    add(
        transaction,
        make_new(1, due_at=after(hour)),
        make_new(2),
        make_new(3, channel_id="C2", due_at=after(60)),
        replace(make_new(4, channel_id="C3"), digest_at=after(hour)),
    )

    assert ids(claim(transaction)) == ["C1-1", "C1-2"]


def test_a_subject_is_added_to_a_channel_once(transaction: Transaction) -> None:
    assert add(transaction, make_new(1), make_new(2)) == 2
    assert add(transaction, make_new(2, delivery_id="other"), make_new(3)) == 1
    assert add(transaction, make_new(4), make_new(4, delivery_id="twice")) == 1
    assert add(transaction) == 0

    assert ids(claim(transaction)) == ["C1-1", "C1-2", "C1-3", "C1-4"]


def test_a_settled_subject_is_not_added_again_but_others_are_claimed(
    transaction: Transaction,
) -> None:
    add(transaction, make_new(1))
    record(transaction, *(delivered(each, "1.1", NOW) for each in claim(transaction)))

    assert add(transaction, make_new(1, delivery_id="again")) == 0
    assert claim(transaction, after(1000)) == []
    add(transaction, make_new(2, due_at=after(1005)))
    assert claim(transaction, after(1004)) == []
    assert ids(claim(transaction, after(1005))) == ["C1-2"]


def test_a_parked_channel_releases_one_delivery_at_its_retry_time(transaction: Transaction) -> None:
    add(transaction, make_new(1), make_new(2), make_new(1, channel_id="C2"))
    run = claim(transaction, channels=1)
    suspended = SuspendedChannel("C1", "is_archived", suspended_at=NOW, retry_at=after(600))
    back = [postponed(each, "is_archived", now=NOW, retry_after=0, jitter=0) for each in run]
    Outbox(transaction).record(back)
    Outbox(transaction).suspend(suspended)

    assert ids(claim(transaction, after(599))) == ["C2-1"]
    tried = claim(transaction, after(600))
    assert ids(tried) == ["C1-1"]
    assert Outbox(transaction).summary().suspended == [suspended]
    Outbox(transaction).record([delivered(tried[0], "1.1", after(601))])
    Outbox(transaction).resume("C1")
    assert Outbox(transaction).summary().suspended == []
    assert ids(claim(transaction, after(601))) == ["C1-2"]


def test_a_channel_parked_again_waits_for_its_new_retry_time_unless_it_is_unparked(
    transaction: Transaction,
) -> None:
    for channel_id in ("C1", "C2"):
        for retry_at in (after(10), after(20)):
            suspended = SuspendedChannel(channel_id, "not_in_channel", NOW, retry_at)
            Outbox(transaction).suspend(suspended)
    Outbox(transaction).resume("C9")
    add(transaction, make_new(1), make_new(2), make_new(1, channel_id="C2"))
    assert claim(transaction, after(1)) == []
    Outbox(transaction).resume("C1")
    assert ids(claim(transaction, after(1))) == ["C1-1", "C1-2"]
    assert claim(transaction, after(19)) == []
    assert ids(claim(transaction, after(20))) == ["C2-1"]
