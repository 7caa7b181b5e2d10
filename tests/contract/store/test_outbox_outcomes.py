"""The outbox: the outcomes of claimed deliveries."""

from dataclasses import replace

import pytest

from bot.kernel.metrics import SuspendedChannel
from bot.posts.delivery import (
    Delivery,
    DeliveryState,
    delivered,
    failed,
    given_back,
    in_doubt,
    not_found,
    postponed,
)
from bot.posts.outbox import Outbox
from bot.runtime.upkeep.pruning import Upkeep
from bot.store.errors import LeaseLost
from bot.store.transaction import Transaction
from tests.support.stored import (
    NOW,
    add,
    after,
    claim,
    event_subject,
    ids,
    make_new,
    record,
    stored,
)


def claimed_one(transaction: Transaction) -> Delivery:
    add(transaction, make_new(1))
    (delivery,) = claim(transaction, NOW, seconds=30)
    return delivery


def test_a_permanently_rejected_delivery_lets_the_next_one_pass(transaction: Transaction) -> None:
    add(transaction, make_new(1), make_new(2))
    first, second = claim(transaction)
    record(transaction, failed(first, "msg_too_long", NOW))

    assert stored(transaction, 1).progress.error == "msg_too_long"
    # What is added during an attempt comes after it.
    add(transaction, make_new(3))
    assert ids(claim(transaction, after(60))) == ["C1-2", "C1-3"]
    with pytest.raises(LeaseLost):
        record(transaction, delivered(second, "1.1", after(61)))


def test_the_time_of_the_first_attempt_is_left_by_a_crash_and_by_later_attempts(
    transaction: Transaction,
) -> None:
    claimed_one(transaction)
    (found,) = claim(transaction, after(30))

    assert found.progress.attempted_at == NOW
    assert found.progress.attempts == 2
    Outbox(transaction).attempt(found, after(31))
    assert stored(transaction, 1).progress.attempted_at == NOW
    (found_again,) = claim(transaction, after(500))
    assert found_again.progress.attempted_at == NOW


def test_a_delivery_in_doubt_keeps_the_time_of_its_attempt(transaction: Transaction) -> None:
    record(transaction, in_doubt(claimed_one(transaction), "timeout", after(5)))
    assert ids(Outbox(transaction).in_doubt(10)) == ["C1-1"]
    assert Outbox(transaction).in_doubt(0) == []
    assert claim(transaction, after(6)) == []
    (looked_for,) = claim(transaction, after(7))

    assert looked_for.progress.attempted_at == NOW
    assert looked_for.progress.error == "timeout"
    record(transaction, not_found(looked_for, after(8)))
    (looked_for,) = claim(transaction, after(60))
    assert (looked_for.progress.lookups, looked_for.progress.attempted_at) == (1, NOW)


def test_a_delivery_that_was_not_posted_is_sent_without_a_lookup(transaction: Transaction) -> None:
    late = postponed(claimed_one(transaction), "rate_limited", now=NOW, retry_after=9, jitter=0)
    record(transaction, late)
    assert (stored(transaction, 1)).progress.attempted_at is None
    (again,) = claim(transaction, after(9))

    assert again.progress.attempted_at is None
    assert again.progress.attempts == 2
    assert (stored(transaction, 1)).progress.attempted_at == after(9)


def test_only_the_attempted_delivery_of_a_run_may_have_been_sent(transaction: Transaction) -> None:
    add(transaction, make_new(1), make_new(2), make_new(3))
    first, second, _ = claim(transaction, NOW, seconds=30)
    Outbox(transaction).record([delivered(first, "1.1", after(1))])
    Outbox(transaction).attempt(second, after(1))

    left_behind = claim(transaction, after(30))
    assert [
        (delivery.subject.subject_id, delivery.progress.attempted_at) for delivery in left_behind
    ] == [
        (2, after(1)),
        (3, None),
    ]


def test_what_another_process_claimed_or_settled_is_not_sent(transaction: Transaction) -> None:
    add(transaction, make_new(1), make_new(2))
    _, second = claim(transaction, NOW, seconds=30)
    _, taken = claim(transaction, after(30))

    with pytest.raises(LeaseLost):
        Outbox(transaction).attempt(second, after(31))
    record(transaction, delivered(taken, "1.1", after(31)))
    with pytest.raises(LeaseLost):
        Outbox(transaction).attempt(taken, after(32))


def test_the_outcome_of_a_lost_claim_is_rejected(transaction: Transaction) -> None:
    old = claimed_one(transaction)
    (new,) = claim(transaction, after(30))

    with pytest.raises(LeaseLost, match="C1-1"):
        record(transaction, failed(old, "late", after(31)))
    record(transaction, delivered(new, "1.1", after(32)))
    with pytest.raises(LeaseLost):
        record(transaction, delivered(old, "2.2", after(33)))
    assert (stored(transaction, 1)).progress.message_ts == "1.1"


def test_a_rejected_outcome_rejects_the_whole_batch(transaction: Transaction) -> None:
    add(transaction, make_new(1, channel_id="C1"), make_new(1, channel_id="C2"))
    first, second = claim(transaction, NOW, seconds=30)
    claim(transaction, after(30), channels=1)

    with pytest.raises(LeaseLost), transaction.connection.begin_nested():
        record(transaction, delivered(first, "1.1", NOW), delivered(second, "1.2", NOW))
    assert (stored(transaction, 1, "C2")).progress.state is DeliveryState.SENDING


def test_an_outcome_counts_after_the_claim_expired_and_is_never_changed(
    transaction: Transaction,
) -> None:
    claimed = claimed_one(transaction)
    record(transaction, delivered(claimed, "1.1", after(500)))
    kept = stored(transaction, 1)
    for late in (
        delivered(claimed, "2.2", after(501)),
        failed(claimed, "too_late", after(502)),
        in_doubt(claimed, "lost", after(502)),
        postponed(claimed, "x", now=after(502), retry_after=None, jitter=0),
    ):
        record(transaction, late)
        assert stored(transaction, 1) == kept

    assert (kept.progress.state, kept.progress.message_ts) == (DeliveryState.DELIVERED, "1.1")
    assert (kept.progress.settled_at, kept.progress.error) == (after(500), None)


def test_the_second_outcome_of_a_claim_changes_nothing(transaction: Transaction) -> None:
    """A delivery to be retried stays in its queue whatever is reported later."""
    claimed = claimed_one(transaction)
    late = postponed(claimed, "rate_limited", now=NOW, retry_after=9, jitter=0)
    record(transaction, late)
    record(transaction, given_back(late, after(99)))
    record(transaction, delivered(claimed, "1.1", after(1)))
    record(transaction)

    kept = stored(transaction, 1)
    assert (kept.progress.state, kept.progress.due_at) == (DeliveryState.PENDING, after(9))
    assert len(claim(transaction, after(10))) == 1


def test_invalid_outcomes_and_claims_are_refused(transaction: Transaction) -> None:
    claimed = claimed_one(transaction)
    with pytest.raises(LeaseLost):
        record(transaction, delivered(replace(claimed, delivery_id="other"), "1.1", NOW))
    with pytest.raises(ValueError, match="outcome"):
        record(transaction, claimed)
    with pytest.raises(ValueError, match="ends after"):
        claim(transaction, NOW, seconds=0)


def test_the_summary_counts_unsettled_deliveries(transaction: Transaction) -> None:
    add(transaction, *(make_new(n, channel_id=f"C{n}", due_at=after(n)) for n in range(1, 6)))
    first, second, _ = claim(transaction, after(5), channels=3)
    record(transaction, delivered(first, "1.1", NOW), in_doubt(second, "timeout", NOW))
    summary = Outbox(transaction).summary()

    assert (summary.pending, summary.sending, summary.in_doubt) == (2, 1, 1)
    assert summary.oldest_created_at == after(2)


def test_deliveries_to_a_suspended_channel_do_not_count_as_oldest(transaction: Transaction) -> None:
    add(transaction, *(make_new(n, channel_id=f"C{n}", due_at=after(n)) for n in (1, 2)))
    for channel, oldest in (("C1", after(2)), ("C2", None)):
        Outbox(transaction).suspend(SuspendedChannel(channel, "is_archived", NOW, after(120)))
        summary = Outbox(transaction).summary()
        assert (summary.pending, summary.oldest_created_at) == (2, oldest)


def test_only_old_settled_deliveries_are_deleted(transaction: Transaction) -> None:
    add(transaction, make_new(1), make_new(2))
    settled, _ = claim(transaction)
    record(transaction, delivered(settled, "1.1", NOW))
    assert Upkeep(transaction).prune(NOW)["deliveries"] == 0
    assert Upkeep(transaction).prune(after(1))["deliveries"] == 1
    assert Outbox(transaction).get("C1", event_subject(1)) is None
    assert ids(claim(transaction, after(60))) == ["C1-2"]


def test_two_subjects_with_one_id_are_both_kept_and_added_once(transaction: Transaction) -> None:
    one = make_new(1)
    two = replace(make_new(2), delivery_id=one.delivery_id)
    for _ in range(2):
        add(transaction, one, two)

    found = claim(transaction, NOW)
    assert [each.subject for each in found] == [one.subject, two.subject]
    assert len(set(ids(found))) == 2
