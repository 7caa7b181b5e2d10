"""Outcomes of posts: those that wait are stored together, and each fares as it would alone."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.domain.deliveries import Delivery, DeliveryState, delivered
from bot.domain.errors import LeaseLost, StoreUnavailable
from bot.usecases.posting.record_outcomes import Outcome, RecordOutcomes
from tests.support.clock import FakeClock
from tests.support.store import InMemoryStore
from tests.support.stored import NOW, add, after, claim, event_subject, make_new
from tests.support.waiting import until


class Desk:
    """Deliveries to three channels, claimed under a lease."""

    def __init__(self) -> None:
        self.store = InMemoryStore()
        self.clock = FakeClock(NOW)
        self.outcomes = RecordOutcomes(self.store, self.clock)

    async def claimed(self) -> Sequence[Delivery]:
        await add(self.store, *(make_new(number, channel_id=f"C{number}") for number in range(3)))
        async with self.store.begin() as transaction:
            await transaction.leases.claim(
                ["post"], holder="one", now=NOW, lifetime=timedelta(seconds=30)
            )
        return await claim(self.store)

    async def states(self) -> list[DeliveryState]:
        async with self.store.begin() as transaction:
            found = [
                await transaction.outbox.get(f"C{number}", event_subject(number))
                for number in range(3)
            ]
        return [one.state for one in found if one is not None]


def outcome_of(delivery: Delivery) -> Outcome:
    return Outcome([delivered(delivery, "1.1", after(1))])


async def begun(desk: Desk, outcomes: Sequence[Outcome]) -> list[asyncio.Task[None]]:
    """All of them wait by now."""
    wait = len(desk.outcomes.waiting) + len(outcomes)
    tasks = [asyncio.create_task(desk.outcomes.run(one)) for one in outcomes]
    await until(lambda: len(desk.outcomes.waiting) == wait, "all of them wait")
    return tasks


DELIVERED, SENDING = DeliveryState.DELIVERED, DeliveryState.SENDING


async def test_those_that_wait_for_a_transaction_are_stored_in_one() -> None:
    desk = Desk()
    claimed = await desk.claimed()
    async with desk.store.begin():
        tasks = await begun(desk, [outcome_of(one) for one in claimed])
        before = desk.store.transactions
    await asyncio.gather(*tasks)

    assert desk.store.transactions == before + 2, "the one that was waited for, and one for all"
    assert await desk.states() == [DELIVERED] * 3


async def test_where_nobody_waits_each_is_stored_by_itself() -> None:
    desk = Desk()
    claimed = await desk.claimed()
    before = desk.store.transactions
    for one in claimed:
        await desk.outcomes.run(outcome_of(one))

    assert desk.store.transactions == before + 3
    assert await desk.states() == [DELIVERED] * 3


async def test_a_claim_that_was_lost_is_told_to_its_own_caller_alone() -> None:
    desk = Desk()
    claimed = await desk.claimed()
    first, second, third = (outcome_of(one) for one in claimed)
    # As if another process had claimed it once more.
    second = replace(second, after=[replace(second.after[0], attempts=0)])
    async with desk.store.begin():
        tasks = await begun(desk, [first, second, third])
    found = await asyncio.gather(*tasks, return_exceptions=True)

    assert [type(one) for one in found] == [type(None), LeaseLost, type(None)]
    assert await desk.states() == [DELIVERED, SENDING, DELIVERED]


async def test_what_is_known_is_stored_whoever_posts_by_now() -> None:
    desk = Desk()
    claimed = await desk.claimed()
    desk.clock.advance(60)
    async with desk.store.begin() as transaction:
        leases = await transaction.leases.claim(
            ["post"], holder="other", now=desk.clock.now(), lifetime=timedelta(seconds=30)
        )
        assert leases
    for one in claimed:
        await desk.outcomes.run(outcome_of(one))

    assert await desk.states() == [DELIVERED] * 3


async def test_a_store_that_is_gone_is_told_to_each() -> None:
    desk = Desk()
    claimed = await desk.claimed()
    async with desk.store.begin():
        tasks = await begun(desk, [outcome_of(one) for one in claimed])
        # What has begun to wait for its turn passes; what comes after it does not.
        desk.store.unavailable = "gone"
        tasks += await begun(desk, [outcome_of(claimed[0])])
    await asyncio.gather(*tasks)
    with pytest.raises(StoreUnavailable):
        await desk.outcomes.run(outcome_of(claimed[0]))
    desk.store.unavailable = None

    assert await desk.states() == [DELIVERED] * 3
    assert desk.outcomes.waiting == []


@pytest.mark.parametrize("left", [0, 1])
async def test_whoever_is_cancelled_takes_no_other_along(left: int) -> None:
    desk = Desk()
    claimed = await desk.claimed()
    async with desk.store.begin():
        tasks = await begun(desk, [outcome_of(one) for one in claimed])
        tasks[left].cancel()
        found = asyncio.gather(*tasks, return_exceptions=True)
    said = [type(one) for one in await found]
    await desk.outcomes.run(outcome_of(claimed[left]))

    assert said == [asyncio.CancelledError if k == left else type(None) for k in range(3)]
    assert await desk.states() == [DELIVERED] * 3
    assert desk.outcomes.waiting == []
