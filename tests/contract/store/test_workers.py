"""Workers: who is alive, and the leases of those who are not."""

from collections.abc import Collection
from datetime import timedelta

import pytest

from bot.domain.errors import LeaseLost
from bot.domain.leases import Lease
from bot.store.transactions import Store
from tests.support.databases import TestDatabase
from tests.support.stored import after
from tests.support.transactions import begin

ALIVE_SECONDS = 9


async def heartbeat(store: Store, holder: str, seconds: float = 0) -> Collection[str]:
    return await store.run(
        lambda transaction: transaction.leases.heartbeat(
            holder, now=after(seconds), until=after(seconds + ALIVE_SECONDS)
        )
    )


async def claim(store: Store, holder: str, seconds: float = 0) -> dict[str, Lease]:
    names = ["poll:acme/site", "poll:acme/shop", "post"]
    return await store.run(
        lambda transaction: dict(
            transaction.leases.claim(
                names, holder=holder, now=after(seconds), lifetime=timedelta(seconds=60)
            )
        )
    )


async def test_a_heartbeat_returns_the_live_processes(database: TestDatabase) -> None:
    one, two = database.open_store(), database.open_store()
    assert set(await heartbeat(one, "one")) == {"one"}
    assert set(await heartbeat(two, "two", 1)) == {"one", "two"}
    assert set(await heartbeat(one, "one", 8)) == {"one", "two"}
    assert set(await heartbeat(one, "one", 10)) == {"one"}


async def test_polling_leases_of_dead_processes_are_free_at_once(store: Store) -> None:
    await heartbeat(store, "one")
    held = await claim(store, "one")
    await heartbeat(store, "two", 1)
    assert await claim(store, "two", 2) == {}

    await heartbeat(store, "two", ALIVE_SECONDS)
    taken = await claim(store, "two", ALIVE_SECONDS)
    assert {name: lease.token for name, lease in taken.items()} == {
        "poll:acme/site": 2,
        "poll:acme/shop": 2,
    }
    with begin(store) as transaction:
        with pytest.raises(LeaseLost):
            transaction.leases.require(held["poll:acme/site"], after(ALIVE_SECONDS))
        transaction.leases.require(held["post"], after(ALIVE_SECONDS))


async def test_nobody_waits_for_a_process_that_left(store: Store) -> None:
    await heartbeat(store, "one")
    await heartbeat(store, "two")
    with begin(store) as transaction:
        transaction.leases.leave("one")
        transaction.leases.leave("nobody")
    assert set(await heartbeat(store, "two")) == {"two"}


async def test_jumps_of_clocks_are_remembered_for_a_month(store: Store) -> None:
    hour = timedelta(hours=1)
    with begin(store) as transaction:
        transaction.expiring_keys.add_jump(after(0), -hour)
        transaction.expiring_keys.add_jump(after(60), timedelta(seconds=2.6))
        known = transaction.expiring_keys.jumps_since(after(0))
        assert list(known) == [(after(60), timedelta(seconds=3)), (after(0), -hour)]
        assert len(transaction.expiring_keys.jumps_since(after(1))) == 1
    month = timedelta(days=30).total_seconds()
    with begin(store) as transaction:
        transaction.expiring_keys.add_jump(after(30 + month), hour)
        assert (transaction.upkeep.prune(after(0), after(30 + month)))["expiring_keys"] == 1
        known = transaction.expiring_keys.jumps_since(after(0))
    assert [at for at, _ in known] == [after(30 + month), after(60)]
