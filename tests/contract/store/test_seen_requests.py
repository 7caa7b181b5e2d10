"""A request handled by any machine is new once, while it is remembered."""

import asyncio

import pytest

from bot.store.handled_requests import HandledRequests
from bot.store.transaction import Transaction
from bot.store.transactions import Store
from tests.support.databases import TestDatabase
from tests.support.stored import NOW, after


async def add(store: Store, key: str, *, now: float = 0, until: float = 600) -> bool:
    return await store.run(
        lambda transaction: HandledRequests(transaction).add(
            key, now=after(now), until=after(until)
        )
    )


async def test_one_of_several_machines_handles_a_request(database: TestDatabase) -> None:
    stores = [database.open_store() for _ in range(4)]
    assert sorted(await asyncio.gather(*(add(each, "k1") for each in stores))) == [
        False,
        False,
        False,
        True,
    ]


async def test_a_request_whose_transaction_failed_is_new_again(store: Store) -> None:
    def fail(transaction: Transaction) -> None:
        HandledRequests(transaction).add("k1", now=NOW, until=after(600))
        raise LookupError

    with pytest.raises(LookupError):
        await store.run(fail)
    assert await add(store, "k1") is True


async def test_a_request_is_remembered_until_it_expires(store: Store) -> None:
    await add(store, "k1", until=600)
    await add(store, "k2", until=6000)
    assert await add(store, "k1", now=600) is False
    await add(store, "another", now=601, until=6000)
    assert await add(store, "k1", now=601) is True
    assert await add(store, "k2", now=601) is False
