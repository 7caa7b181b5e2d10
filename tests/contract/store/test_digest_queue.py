"""The digest queue of a channel: it waits, and one delivery covers all when the digest is due."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from bot.kernel.repository import RepositoryName
from bot.posts.delivery import (
    UNSUBSCRIBED,
    Delivery,
    DeliveryState,
    NewDelivery,
    Subject,
    SubjectKind,
    delivered,
    summary_id,
)
from bot.posts.outbox import Outbox
from bot.store.transaction import Transaction
from tests.support.stored import NOW, SITE, after

DIGEST_AT = NOW + timedelta(hours=9)
LATER = DIGEST_AT + timedelta(seconds=1)


def waiting(number: int, *, days: int = 0) -> NewDelivery:
    subject = Subject(SubjectKind.EVENT, SITE, number)
    at = DIGEST_AT + timedelta(days=days)
    return NewDelivery(f"d{number}", "C1", subject, after(number), kind="merge", digest_at=at)


def claim(transaction: Transaction, at: datetime) -> Sequence[Delivery]:
    return Outbox(transaction).claim(
        now=at, claimed_until=at + timedelta(seconds=30), at_most=9, per_channel=9
    )


def test_nothing_of_a_digest_is_claimed_before_its_time(transaction: Transaction) -> None:
    ordinary = NewDelivery("now", "C1", Subject(SubjectKind.EVENT, SITE, 9), after(9))
    Outbox(transaction).add([waiting(1), waiting(2), ordinary])
    summary = Outbox(transaction).summary()
    assert Outbox(transaction).summarize(now=after(60), longer_than=0, at_most=9) == 0
    claimed = claim(transaction, after(60))
    # What waits for a digest is not late.
    assert (summary.pending, summary.oldest_created_at) == (1, after(9))
    assert [delivery.delivery_id for delivery in claimed] == ["now"]


def test_a_due_digest_is_one_delivery_and_leaves_the_next_digest_alone(
    transaction: Transaction,
) -> None:
    Outbox(transaction).add([waiting(1), waiting(2), waiting(3), waiting(4, days=1)])
    assert Outbox(transaction).summarize(now=LATER, longer_than=30, at_most=99) == 2
    (claimed,) = claim(transaction, LATER)
    summarized = Outbox(transaction).summary_content(claimed.delivery_id)
    assert claimed.delivery_id == summary_id("d1", "d3")
    assert (claimed.summarizes, claimed.waits_for_digest) == (2, True)
    assert summarized.counts == {(SITE, "merge"): 3}
    assert summarized.oldest_created_at == after(1)
    Outbox(transaction).record([delivered(claimed, "1.1", LATER)])
    again = claim(transaction, LATER)
    assert again == []
    assert Outbox(transaction).summarize(now=LATER, longer_than=30, at_most=99) == 0
    next_day = LATER + timedelta(days=1)
    (tomorrow,) = claim(transaction, next_day)
    assert (tomorrow.delivery_id, tomorrow.summarizes) == ("d4", 0)


@pytest.mark.parametrize("together", [True, False])
def test_an_earlier_digest_does_not_wait_for_a_later_one(
    transaction: Transaction, *, together: bool
) -> None:
    """Two repositories with digests in one channel, at nine and at five."""
    later = waiting(1, days=1)
    sooner = waiting(2)
    for some in [[later, sooner]] if together else [[later], [sooner]]:
        Outbox(transaction).add(some)
    assert Outbox(transaction).summarize(now=LATER, longer_than=30, at_most=99) == 1
    (claimed,) = claim(transaction, LATER)
    assert (claimed.delivery_id, claimed.summarizes) == (summary_id("d1", "d2"), 1)


def test_a_digest_leaves_out_unsubscribed_repositories(transaction: Transaction) -> None:
    other = replace(waiting(2), subject=Subject(SubjectKind.EVENT, RepositoryName("acme/api"), 2))
    Outbox(transaction).add([waiting(1), other, waiting(3)])
    Outbox(transaction).add([replace(waiting(4), delivery_id="d4", channel_id="C2")])
    Outbox(transaction).drop_unsubscribed("C1", SITE, after(60))
    Outbox(transaction).drop_unsubscribed("C1", SITE, after(60))
    assert Outbox(transaction).summarize(now=LATER, longer_than=30, at_most=99) == 0
    claimed = claim(transaction, LATER)
    dropped = Outbox(transaction).get("C1", waiting(1).subject)
    assert [delivery.delivery_id for delivery in claimed] == ["d2", "d4"]
    assert dropped is not None
    assert (dropped.progress.state, dropped.progress.error) == (DeliveryState.FAILED, UNSUBSCRIBED)


def of_another(number: int) -> NewDelivery:
    subject = Subject(SubjectKind.EVENT, RepositoryName("acme/api"), number)
    return replace(waiting(number), subject=subject)


def due(transaction: Transaction, *waiting: NewDelivery) -> list[datetime]:
    found = [Outbox(transaction).get("C1", one.subject) for one in waiting]
    return [one.progress.due_at for one in found if one is not None]


def claimed_at(transaction: Transaction, at: datetime) -> list[str]:
    claimed = claim(transaction, at)
    return [delivery.delivery_id for delivery in claimed]


def test_waiting_deliveries_move_with_the_digest_time(transaction: Transaction) -> None:
    sooner = after(3600)
    later = DIGEST_AT + timedelta(hours=2)
    Outbox(transaction).add([waiting(1), waiting(2)])
    Outbox(transaction).move_digest("C1", SITE, later, after(60))
    Outbox(transaction).move_digest("C2", SITE, after(60), after(60))
    assert claimed_at(transaction, DIGEST_AT) == []
    Outbox(transaction).move_digest("C1", SITE, sooner, after(60))
    assert claimed_at(transaction, after(3599)) == []
    assert claimed_at(transaction, sooner) == ["d1", "d2"]


def test_a_moved_digest_holds_back_no_later_delivery(transaction: Transaction) -> None:
    added = (waiting(1), of_another(2), waiting(3))
    later = DIGEST_AT + timedelta(hours=2)
    Outbox(transaction).add(added)
    Outbox(transaction).move_digest("C1", SITE, later, after(60))
    assert due(transaction, *added) == [DIGEST_AT, DIGEST_AT, later]


def test_deliveries_ahead_of_a_moved_digest_move_along(transaction: Transaction) -> None:
    added = (of_another(1), waiting(2), of_another(3))
    sooner = after(3600)
    Outbox(transaction).add(added)
    Outbox(transaction).move_digest("C1", SITE, sooner, after(60))
    assert due(transaction, *added) == [sooner, sooner, DIGEST_AT]
    assert claimed_at(transaction, sooner) == ["d1", "d2"]


def test_a_digest_that_is_already_due_is_not_postponed(transaction: Transaction) -> None:
    Outbox(transaction).add([waiting(1)])
    Outbox(transaction).move_digest("C1", SITE, LATER + timedelta(hours=9), LATER)
    assert claimed_at(transaction, LATER) == ["d1"]
