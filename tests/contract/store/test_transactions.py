"""Transactions: all or nothing, and no update lost."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.domain.event_log import first_position
from bot.ports import Store
from tests.support.databases import TestDatabase
from tests.support.stored import NOW, SITE, make_record


class Interrupted(Exception):
    """Raised by a test in the middle of a transaction."""


async def audit_length(store: Store) -> int:
    async with store.begin() as transaction:
        return len(await transaction.audit.since(SITE, NOW))


async def add_one(store: Store) -> None:
    """Read, add one microsecond, write."""
    async with store.begin() as transaction:
        position = (await transaction.positions.load([SITE]))[SITE]
        await asyncio.sleep(0)
        later = position.watermark + timedelta(microseconds=1)
        await transaction.positions.save(replace(position, watermark=later))


async def test_six_workers_on_two_stores_lose_none_of_300_updates(
    database: TestDatabase,
) -> None:
    stores = [database.open_store(), database.open_store()]
    async with stores[0].begin() as transaction:
        await transaction.positions.save(first_position(SITE, NOW))

    async def work(store: Store) -> None:
        for _ in range(50):
            await add_one(store)

    await asyncio.gather(*(work(stores[number % 2]) for number in range(6)))

    async with stores[0].begin() as transaction:
        position = (await transaction.positions.load([SITE]))[SITE]
    assert position.watermark - NOW == timedelta(microseconds=300)


async def test_a_transaction_sees_its_own_writes_and_others_see_them_after_it(
    database: TestDatabase,
) -> None:
    one, two = database.open_store(), database.open_store()
    async with one.begin() as transaction:
        await transaction.audit.add(make_record())
        assert len(await transaction.audit.since(SITE, NOW)) == 1

    assert await audit_length(two) == 1


async def write_and_fail(store: Store) -> None:
    async with store.begin() as transaction:
        await transaction.audit.add(make_record())
        raise Interrupted


async def test_an_exception_leaves_nothing_and_rises_unchanged(store: Store) -> None:
    with pytest.raises(Interrupted):
        await write_and_fail(store)

    assert await audit_length(store) == 0


async def begin_inside(store: Store) -> None:
    async with store.begin(), store.begin():
        pass


async def test_a_transaction_inside_another_of_its_task_is_refused(store: Store) -> None:
    with pytest.raises(RuntimeError, match="one transaction"):
        await begin_inside(store)

    assert await audit_length(store) == 0


async def test_a_cancelled_transaction_leaves_nothing_and_the_store_goes_on(
    store: Store,
) -> None:
    """More often than a pool has connections, so that one that is not given back is missed."""
    for _ in range(20):
        written = asyncio.Event()

        async def write(written: asyncio.Event = written) -> None:
            async with store.begin() as transaction:
                await transaction.audit.add(make_record())
                written.set()
                await asyncio.Event().wait()

        task = asyncio.create_task(write())
        await written.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    assert await audit_length(store) == 0


async def test_a_transaction_cancelled_at_any_step_is_all_or_nothing(store: Store) -> None:
    """Cancelled after so many turns of the event loop, from before it begins to after its end."""
    async with store.begin() as transaction:
        await transaction.positions.save(first_position(SITE, NOW))
    finished = 0
    for turns in range(0, 3000, 50):
        task = asyncio.create_task(add_both(store))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        (outcome,) = await asyncio.gather(task, return_exceptions=True)
        finished += outcome is None

    async with store.begin() as transaction:
        position = (await transaction.positions.load([SITE]))[SITE]
    added = (position.watermark - NOW) // timedelta(microseconds=1)
    assert await audit_length(store) == added
    assert finished <= added < 60


async def add_both(store: Store) -> None:
    async with store.begin() as transaction:
        position = (await transaction.positions.load([SITE]))[SITE]
        await transaction.audit.add(make_record())
        later = position.watermark + timedelta(microseconds=1)
        await transaction.positions.save(replace(position, watermark=later))
