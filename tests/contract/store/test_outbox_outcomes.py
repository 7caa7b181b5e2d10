"""The outbox: the outcomes of claimed deliveries."""

from dataclasses import replace

import pytest

from bot.domain.deliveries import (
    Delivery,
    DeliveryState,
    SuspendedChannel,
    delivered,
    failed,
    in_doubt,
    not_found,
    postponed,
)
from bot.domain.errors import LeaseLost
from bot.store.transactions import Store
from tests.support.databases import TestDatabase
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
from tests.support.transactions import begin


async def claimed_one(store: Store) -> Delivery:
    await add(store, make_new(1))
    (delivery,) = await claim(store, NOW, seconds=30)
    return delivery


async def test_a_permanently_rejected_delivery_lets_the_next_one_pass(store: Store) -> None:
    await add(store, make_new(1), make_new(2))
    first, _ = await claim(store)
    await record(store, failed(first, "msg_too_long", NOW))

    assert (await stored(store, 1)).error == "msg_too_long"
    assert ids(await claim(store, after(60))) == ["C1-2"]


async def test_a_crash_between_claim_and_record_leaves_the_time_of_the_attempt(
    database: TestDatabase,
) -> None:
    crashed, other = database.open_store(), database.open_store()
    await claimed_one(crashed)
    (found,) = await claim(other, after(30))

    assert found.attempted_at == NOW
    assert found.attempts == 2
    (found_again,) = await claim(other, after(500))
    assert found_again.attempted_at == NOW


async def test_a_delivery_in_doubt_keeps_the_time_of_its_attempt(store: Store) -> None:
    await record(store, in_doubt(await claimed_one(store), "timeout", after(5)))
    with begin(store) as transaction:
        assert ids(transaction.outbox.in_doubt(10)) == ["C1-1"]
        assert transaction.outbox.in_doubt(0) == []
    assert await claim(store, after(6)) == []
    (looked_for,) = await claim(store, after(7))

    assert looked_for.attempted_at == NOW
    assert looked_for.error == "timeout"
    await record(store, not_found(looked_for, after(8)))
    (looked_for,) = await claim(store, after(60))
    assert (looked_for.lookups, looked_for.attempted_at) == (1, NOW)


async def test_a_delivery_that_was_not_posted_is_sent_without_a_lookup(store: Store) -> None:
    late = postponed(await claimed_one(store), "rate_limited", now=NOW, retry_after=9, jitter=0)
    await record(store, late)
    assert (await stored(store, 1)).attempted_at is None
    (again,) = await claim(store, after(9))

    assert again.attempted_at is None
    assert again.attempts == 2
    assert (await stored(store, 1)).attempted_at == after(9)


async def test_only_the_attempted_delivery_of_a_run_may_have_been_sent(store: Store) -> None:
    await add(store, make_new(1), make_new(2), make_new(3))
    first, second, _ = await claim(store, NOW, seconds=30)
    with begin(store) as transaction:
        transaction.outbox.record([delivered(first, "1.1", after(1))])
        transaction.outbox.attempt(second, after(1))

    left_behind = await claim(store, after(30))
    assert [(one.subject.subject_id, one.attempted_at) for one in left_behind] == [
        (2, after(1)),
        (3, None),
    ]


async def test_an_older_attempt_keeps_its_time(store: Store) -> None:
    await record(store, in_doubt(await claimed_one(store), "timeout", after(5)))
    (found,) = await claim(store, after(30))
    with begin(store) as transaction:
        transaction.outbox.attempt(found, after(31))

    assert (await stored(store, 1)).attempted_at == NOW


async def test_a_delivery_claimed_by_another_process_is_not_sent(database: TestDatabase) -> None:
    slept, awake = database.open_store(), database.open_store()
    await add(slept, make_new(1), make_new(2))
    _, second = await claim(slept, NOW, seconds=30)
    await claim(awake, after(30))

    with pytest.raises(LeaseLost), begin(slept) as transaction:
        transaction.outbox.attempt(second, after(31))


async def test_a_settled_delivery_is_not_sent_again(store: Store) -> None:
    claimed = await claimed_one(store)
    await record(store, delivered(claimed, "1.1", after(1)))

    with pytest.raises(LeaseLost), begin(store) as transaction:
        transaction.outbox.attempt(claimed, after(2))


async def test_the_outcome_of_a_lost_claim_is_rejected(database: TestDatabase) -> None:
    slept, awake = database.open_store(), database.open_store()
    old = await claimed_one(slept)
    (new,) = await claim(awake, after(30))

    with pytest.raises(LeaseLost, match="C1-1"):
        await record(slept, failed(old, "late", after(31)))
    await record(awake, delivered(new, "1.1", after(32)))
    with pytest.raises(LeaseLost):
        await record(slept, delivered(old, "2.2", after(33)))
    assert (await stored(awake, 1)).message_ts == "1.1"


async def test_a_rejected_outcome_rejects_the_whole_batch(store: Store) -> None:
    await add(store, make_new(1, channel_id="C1"), make_new(1, channel_id="C2"))
    first, second = await claim(store, NOW, seconds=30)
    await claim(store, after(30), channels=1)

    with pytest.raises(LeaseLost):
        await record(store, delivered(first, "1.1", NOW), delivered(second, "1.2", NOW))
    assert (await stored(store, 1, "C2")).state is DeliveryState.SENDING


async def test_an_outcome_after_the_claim_expired_counts_if_nobody_took_over(store: Store) -> None:
    claimed = await claimed_one(store)
    await record(store, delivered(claimed, "1.1", after(500)))

    assert (await stored(store, 1)).state is DeliveryState.DELIVERED


async def test_a_settled_delivery_is_never_changed(store: Store) -> None:
    claimed = await claimed_one(store)
    await record(store, delivered(claimed, "1.1", after(1)))
    await record(store, delivered(claimed, "2.2", after(2)))
    await record(store, failed(claimed, "too_late", after(3)))
    await record(store, replace(claimed, state=DeliveryState.PENDING))

    kept = await stored(store, 1)
    assert (kept.state, kept.message_ts) == (DeliveryState.DELIVERED, "1.1")
    assert (kept.settled_at, kept.error) == (after(1), None)


async def test_an_outcome_recorded_twice_changes_nothing(store: Store) -> None:
    late = postponed(await claimed_one(store), "rate_limited", now=NOW, retry_after=9, jitter=0)
    await record(store, late)
    await record(store, replace(late, due_at=after(99)))
    await record(store)

    assert (await stored(store, 1)).due_at == after(9)


async def test_the_second_outcome_of_a_claim_loses_nothing(store: Store) -> None:
    """A delivery to be retried stays in its queue whatever is reported later."""
    claimed = await claimed_one(store)
    await record(store, postponed(claimed, "rate_limited", now=NOW, retry_after=9, jitter=0))
    await record(store, delivered(claimed, "1.1", after(1)))

    assert (await stored(store, 1)).state is DeliveryState.PENDING
    assert len(await claim(store, after(10))) == 1


async def test_deliveries_added_during_an_attempt_come_next(store: Store) -> None:
    claimed = await claimed_one(store)
    await add(store, make_new(2))
    await record(store, delivered(claimed, "1.1", after(1)))

    assert [one.subject.subject_id for one in await claim(store, after(2))] == [2]


async def test_an_unknown_delivery_cannot_be_recorded(store: Store) -> None:
    claimed = await claimed_one(store)
    with pytest.raises(LeaseLost):
        await record(store, delivered(replace(claimed, delivery_id="other"), "1.1", NOW))


async def test_sending_is_not_an_outcome_and_a_claim_has_a_duration(store: Store) -> None:
    claimed = await claimed_one(store)
    with pytest.raises(ValueError, match="outcome"):
        await record(store, claimed)
    with pytest.raises(ValueError, match="ends after"):
        await claim(store, NOW, seconds=0)


async def test_the_summary_counts_unsettled_deliveries(store: Store) -> None:
    await add(store, *(make_new(n, channel_id=f"C{n}", due_at=after(n)) for n in range(1, 6)))
    first, second, _ = await claim(store, after(5), channels=3)
    await record(store, delivered(first, "1.1", NOW), in_doubt(second, "timeout", NOW))
    with begin(store) as transaction:
        summary = transaction.outbox.summary()

    assert (summary.pending, summary.sending, summary.in_doubt) == (2, 1, 1)
    assert summary.oldest_created_at == after(2)


async def test_deliveries_to_a_suspended_channel_do_not_count_as_oldest(store: Store) -> None:
    await add(store, *(make_new(n, channel_id=f"C{n}", due_at=after(n)) for n in (1, 2)))
    for channel, oldest in (("C1", after(2)), ("C2", None)):
        with begin(store) as transaction:
            transaction.outbox.suspend(SuspendedChannel(channel, "is_archived", NOW, after(120)))
            summary = transaction.outbox.summary()
        assert (summary.pending, summary.oldest_created_at) == (2, oldest)


async def test_only_old_settled_deliveries_are_deleted(store: Store) -> None:
    await add(store, make_new(1), make_new(2))
    settled, _ = await claim(store)
    await record(store, delivered(settled, "1.1", NOW))
    with begin(store) as transaction:
        assert transaction.upkeep.prune(NOW)["deliveries"] == 0
        assert transaction.upkeep.prune(after(1))["deliveries"] == 1
        assert transaction.outbox.get("C1", event_subject(1)) is None
    assert ids(await claim(store, after(60))) == ["C1-2"]


async def test_two_subjects_with_one_id_are_both_kept_and_added_once(store: Store) -> None:
    one = make_new(1)
    two = replace(make_new(2), delivery_id=one.delivery_id)
    for _ in range(2):
        await add(store, one, two)

    found = await claim(store, NOW)
    assert [each.subject for each in found] == [one.subject, two.subject]
    assert len(set(ids(found))) == 2
