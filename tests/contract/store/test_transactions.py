"""Transactions: all or nothing, and no update lost."""

import asyncio
import threading
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.acts.rows import Audit
from bot.log.position import first_position
from bot.log.rows import Positions
from bot.store.errors import StoreUnavailable
from bot.store.transaction import Transaction
from bot.store.transactions import Store
from tests.support.databases import TestDatabase
from tests.support.stored import NOW, SITE, make_record


class Interrupted(Exception):
    """Raised by a test in the middle of a transaction."""


def _save_first_position(transaction: Transaction) -> None:
    Positions(transaction).save(first_position(SITE, NOW))


def _add_record(transaction: Transaction) -> None:
    Audit(transaction).add(make_record())


def _add_one(transaction: Transaction) -> None:
    """Read, add one microsecond, write."""
    position = Positions(transaction).load([SITE])[SITE]
    later = position.watermark + timedelta(microseconds=1)
    Positions(transaction).save(replace(position, watermark=later))


def _add_both(transaction: Transaction) -> None:
    _add_record(transaction)
    _add_one(transaction)


def _count_records(transaction: Transaction) -> int:
    return len(Audit(transaction).since(SITE, NOW))


async def _audit_length(store: Store) -> int:
    return await store.run(_count_records)


def _added(transaction: Transaction) -> int:
    position = Positions(transaction).load([SITE])[SITE]
    return (position.watermark - NOW) // timedelta(microseconds=1)


def _both(transaction: Transaction) -> tuple[int, int]:
    # In this order: who reads the position keeps others from changing it.
    added = _added(transaction)
    return _count_records(transaction), added


async def test_six_workers_on_two_stores_lose_no_update(database: TestDatabase) -> None:
    stores = [database.open_store(), database.open_store()]
    await stores[0].run(_save_first_position)

    async def work(store: Store) -> None:
        for _ in range(50):
            await store.run(_add_one)

    await asyncio.gather(*(work(stores[number % 2]) for number in range(6)))

    assert await stores[0].run(_added) == 300


async def test_an_exception_rolls_back_and_propagates_unchanged(store: Store) -> None:
    def add_and_fail(transaction: Transaction) -> None:
        _add_record(transaction)
        raise Interrupted

    with pytest.raises(Interrupted):
        await store.run(add_and_fail)

    assert await _audit_length(store) == 0


async def test_cancelling_the_caller_does_not_undo_a_running_transaction(
    database: TestDatabase,
) -> None:
    """More often than the pool has connections, so that a leaked one would be noticed."""
    store = database.open_store()
    for _ in range(20):
        written = threading.Event()
        let_go = threading.Event()

        def write(
            transaction: Transaction,
            written: threading.Event = written,
            let_go: threading.Event = let_go,
        ) -> None:
            _add_record(transaction)
            written.set()
            let_go.wait()

        task = asyncio.create_task(store.run(write))
        await asyncio.to_thread(written.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        let_go.set()

    await store.close()
    assert await _audit_length(database.open_store()) == 20


async def test_a_transaction_cancelled_at_any_step_is_all_or_nothing(store: Store) -> None:
    """Cancelled after each number of event loop turns, from before its start to after its end."""
    await store.run(_save_first_position)
    finished = 0
    for turns in range(0, 3000, 50):
        task = asyncio.create_task(store.run(_add_both))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        (outcome,) = await asyncio.gather(task, return_exceptions=True)
        finished += outcome is None

    records, added = await store.run(_both)
    assert records == added
    assert finished <= added < 60


async def test_a_read_changes_nothing(store: Store) -> None:
    with pytest.raises(StoreUnavailable, match=r"read|write"):
        await store.read(_add_record)

    assert await _audit_length(store) == 0
    await store.run(_add_record)
    assert await store.read(_count_records) == 1


async def test_a_running_read_does_not_see_concurrent_changes(store: Store) -> None:
    begun = threading.Event()
    let_go = threading.Event()

    def read(transaction: Transaction) -> tuple[int, int]:
        before = _count_records(transaction)
        begun.set()
        let_go.wait()
        return before, _count_records(transaction)

    reading = asyncio.create_task(store.read(read))
    await asyncio.to_thread(begun.wait)
    await store.run(_add_record)
    let_go.set()

    assert await reading == (0, 0)
    assert await store.read(_count_records) == 1
