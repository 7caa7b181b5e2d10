"""The outcome of a post is stored as long as nobody has claimed the delivery since."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.domain.deliveries import Delivery, DeliveryState, delivered
from bot.domain.errors import LeaseLost
from bot.store.transactions import Store
from bot.usecases.posting.post_deliveries import record_outcome
from bot.usecases.posting.send import Outcome
from tests.support.store import InMemoryStore
from tests.support.stored import add, after, claim, event_subject, make_new
from tests.support.transactions import begin

DELIVERED, SENDING = DeliveryState.DELIVERED, DeliveryState.SENDING


async def claimed_in(store: Store) -> Sequence[Delivery]:
    """To three channels."""
    await add(store, *(make_new(number, channel_id=f"C{number}") for number in range(3)))
    return await claim(store)


async def states(store: Store) -> list[DeliveryState]:
    with begin(store) as transaction:
        found = [transaction.outbox.get(f"C{number}", event_subject(number)) for number in range(3)]
    return [one.state for one in found if one is not None]


async def store_outcome(store: Store, claimed: Delivery) -> None:
    with begin(store) as transaction:
        outcome = Outcome(delivered(claimed, "1.1", after(1)))
        record_outcome(transaction, outcome, after(1))


async def test_a_delivery_claimed_by_another_process_is_left_to_it() -> None:
    store = InMemoryStore()
    first, second, third = await claimed_in(store)
    await store_outcome(store, first)
    with pytest.raises(LeaseLost):
        await store_outcome(store, replace(second, attempts=0))
    await store_outcome(store, third)

    assert await states(store) == [DELIVERED, SENDING, DELIVERED]


async def test_known_outcomes_are_stored_by_any_process() -> None:
    store = InMemoryStore()
    claimed = await claimed_in(store)
    with begin(store) as transaction:
        leases = transaction.leases.claim(
            ["post"], holder="other", now=after(60), lifetime=timedelta(seconds=30)
        )
        assert leases
    for one in claimed:
        await store_outcome(store, one)

    assert await states(store) == [DELIVERED] * 3
