"""A delivery that is claimed in the transaction that adds it: only where it comes first."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import pytest

from bot.domain.deliveries import DeliveryState, NewDelivery, delivered
from bot.ports import Added, ParkedChannel, Store
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


async def add_claimed(
    store: Store,
    *new: NewDelivery,
    at_once: Sequence[NewDelivery] | None = None,
    now: datetime = NOW,
) -> Added:
    wanted = {one.delivery_id for one in (new if at_once is None else at_once)}
    async with store.begin() as transaction:
        return await transaction.outbox.add_claimed(new, wanted, now=now, claimed_until=after(60))


async def test_the_first_of_each_line_is_claimed_with_the_time_of_its_attempt(
    store: Store,
) -> None:
    first, second, other = make_new(1), make_new(2), make_new(3, channel_id="C2")
    added = await add_claimed(store, first, second, other)
    assert added.count == 3
    assert sorted(ids(added.claimed)) == sorted([first.delivery_id, other.delivery_id])
    (claimed,) = [one for one in added.claimed if one.channel_id == "C1"]
    assert (claimed.state, claimed.attempts) == (DeliveryState.SENDING, 1)
    # Nothing was sent yet: whoever claimed it does not look for it first.
    assert claimed.attempted_at is None
    assert replace(claimed, attempted_at=NOW) == await stored(store, 1)
    behind = await stored(store, 2)
    assert (behind.state, behind.attempts, behind.attempted_at) == (DeliveryState.PENDING, 0, None)


async def test_nobody_else_claims_it_nor_what_is_behind_it_while_the_claim_lasts(
    store: Store,
) -> None:
    await add_claimed(store, make_new(1), make_new(2))
    assert await claim(store, after(59)) == []


async def test_after_a_crash_it_is_claimed_again_as_one_that_has_to_be_looked_for(
    store: Store,
) -> None:
    await add_claimed(store, make_new(1), make_new(2))
    again = await claim(store, after(61))
    assert [(one.subject.subject_id, one.attempts, one.attempted_at) for one in again] == [
        (1, 2, NOW),
        (2, 1, None),
    ]


async def test_its_outcome_is_recorded_and_what_is_behind_it_can_be_claimed(store: Store) -> None:
    added = await add_claimed(store, make_new(1), make_new(2))
    await record(store, *(delivered(one, "1.1", after(1)) for one in added.claimed))
    assert (await stored(store, 1)).state is DeliveryState.DELIVERED
    assert [one.subject.subject_id for one in await claim(store, after(2))] == [2]


async def test_where_something_is_unsettled_nothing_is_claimed(store: Store) -> None:
    await add(store, make_new(1))
    added = await add_claimed(store, make_new(2))
    assert (added.count, ids(added.claimed)) == (1, [])
    assert [one.subject.subject_id for one in await claim(store)] == [1, 2]


async def test_only_what_is_asked_for_is_claimed(store: Store) -> None:
    first, second = make_new(1), make_new(2)
    added = await add_claimed(store, first, second, at_once=[second])
    assert (added.count, ids(added.claimed)) == (2, [])
    assert [one.attempts for one in await claim(store)] == [1, 1]


async def test_the_line_of_a_digest_is_not_sent_before_its_time(store: Store) -> None:
    added = await add_claimed(store, replace(make_new(1), digest_at=after(30)))
    assert (added.count, ids(added.claimed)) == (1, [])


async def test_a_parked_channel_is_left_to_its_own_time(store: Store) -> None:
    async with store.begin() as transaction:
        await transaction.outbox.park(ParkedChannel("C1", "is_archived", NOW, after(120)))
    added = await add_claimed(store, make_new(1))
    assert (added.count, ids(added.claimed)) == (1, [])
    assert await claim(store, after(119)) == []
    assert len(await claim(store, after(121))) == 1


async def test_what_was_told_before_is_neither_added_nor_claimed_again(store: Store) -> None:
    told = await add_claimed(store, make_new(1))
    await record(store, *(delivered(one, "1.1", after(1)) for one in told.claimed))
    again = await add_claimed(store, make_new(1, delivery_id="again"), make_new(2))
    assert again.count == 1
    # The one that was there came first: what comes behind it is claimed as usual.
    assert ids(again.claimed) == []
    assert [one.subject.subject_id for one in await claim(store, after(2))] == [2]


async def test_what_is_told_by_another_is_never_sent(store: Store) -> None:
    first = replace(make_new(1), folded=1)
    second = replace(make_new(2), told_by=first.delivery_id)
    added = await add_claimed(store, first, second)
    assert ids(added.claimed) == [first.delivery_id]
    assert added.claimed[0].folded == 1
    async with store.begin() as transaction:
        folded = await transaction.outbox.get("C1", event_subject(2))
    assert folded is not None
    assert folded.state is DeliveryState.FOLDED


async def test_a_claim_that_ends_before_it_begins_is_refused(store: Store) -> None:
    async with store.begin() as transaction:
        with pytest.raises(ValueError, match="ends after"):
            await transaction.outbox.add_claimed(
                [make_new(1)], ["C1-1"], now=NOW, claimed_until=NOW
            )


async def test_what_is_added_again_under_the_same_id_is_not_claimed_again(store: Store) -> None:
    told = await add_claimed(store, make_new(1))
    await record(store, *(delivered(one, "1.1", after(1)) for one in told.claimed))
    again = await add_claimed(store, make_new(1))
    assert (again.count, ids(again.claimed)) == (0, [])
    assert await claim(store, after(61)) == []
