"""Leases: one holder at a time, and a token for each holder."""

from datetime import timedelta

import pytest

from bot.domain.errors import LeaseLost
from bot.domain.leases import Lease
from bot.store.engines import create_engine, with_database_clock
from bot.store.transactions import Store
from tests.support.databases import PATIENT, TestDatabase
from tests.support.stored import NOW, after
from tests.support.transactions import begin

LIFETIME = timedelta(seconds=30)


async def claim_one(store: Store, holder: str, seconds: float = 0) -> Lease | None:
    with begin(store) as transaction:
        claimed = transaction.leases.claim(
            ["poll"], holder=holder, now=after(seconds), lifetime=LIFETIME
        )
    return claimed.get("poll")


async def require(store: Store, lease: Lease, seconds: float = 0) -> None:
    await store.run(lambda transaction: transaction.leases.require(lease, after(seconds)))


async def test_a_held_lease_is_not_given_to_others(database: TestDatabase) -> None:
    await claim_one(database.open_store(), "one")

    assert await claim_one(database.open_store(), "two", 29.9) is None


async def test_a_holder_renews_and_keeps_its_token(store: Store) -> None:
    first = await claim_one(store, "one")
    renewed = await claim_one(store, "one", 20)

    assert renewed == Lease("poll", "one", 1, after(20) + LIFETIME)
    assert first is not None
    await require(store, first, 40)


async def test_an_expired_lease_changes_hands_with_a_higher_token(database: TestDatabase) -> None:
    one, two = database.open_store(), database.open_store()
    first = await claim_one(one, "one")
    second = await claim_one(two, "two", 30)

    assert second is not None
    assert second.token == 2
    await require(two, second, 31)
    assert first is not None
    with pytest.raises(LeaseLost, match="poll"):
        await require(one, first, 31)


async def test_writes_under_an_expired_lease_are_rejected_even_if_nobody_took_it(
    store: Store,
) -> None:
    lease = await claim_one(store, "one")

    assert lease is not None
    await require(store, lease, 29.999999)
    with pytest.raises(LeaseLost):
        await require(store, lease, 30)


async def test_a_holder_that_let_its_lease_expire_gets_a_new_token(store: Store) -> None:
    slept = await claim_one(store, "one")
    again = await claim_one(store, "one", 31)

    assert again is not None
    assert again.token == 2
    assert slept is not None
    with pytest.raises(LeaseLost):
        await require(store, slept, 32)


async def test_a_released_lease_is_free_and_its_token_is_never_reused(store: Store) -> None:
    first = await claim_one(store, "one")
    assert first is not None
    with begin(store) as transaction:
        transaction.leases.release([first])
    second = await claim_one(store, "two", 1)

    assert second is not None
    assert second.token == 2
    with pytest.raises(LeaseLost):
        await require(store, first, 2)


async def test_releasing_a_lost_lease_does_not_take_it_from_its_holder(store: Store) -> None:
    lost = await claim_one(store, "one")
    held = await claim_one(store, "two", 31)
    assert lost is not None
    with begin(store) as transaction:
        transaction.leases.release([lost])
        transaction.leases.release([])

    assert held is not None
    await require(store, held, 32)


async def test_an_unknown_lease_is_rejected(store: Store) -> None:
    with pytest.raises(LeaseLost):
        await require(store, Lease("poll", "one", 1, after(60)))


async def test_leases_last_by_the_clock_of_the_database(database: TestDatabase) -> None:
    one, two = [
        Store(with_database_clock(create_engine(database.url, **PATIENT))) for _ in range(2)
    ]
    held = await claim_one(one, "one")
    assert held == Lease("poll", "one", 1, NOW + LIFETIME)
    # Its clock is a day ahead, or behind.
    for seconds in (86_400, -86_400):
        assert await claim_one(two, "two", seconds) is None
        await require(one, held, seconds)
        renewed = await claim_one(one, "one", seconds)
        assert renewed == Lease("poll", "one", 1, after(seconds) + LIFETIME)
        with begin(two) as transaction:
            until = after(seconds + 60)
            assert "two" in transaction.leases.heartbeat("two", now=after(seconds), until=until)
            assert transaction.leases.heartbeat("one", now=NOW, until=after(60)) == {
                "one",
                "two",
            }
    await one.close()
    await two.close()


async def test_a_zero_length_lease_is_expired_at_once(database: TestDatabase) -> None:
    store = Store(with_database_clock(create_engine(database.url, **PATIENT)))
    for holder, token in (("one", 1), ("two", 2)):
        with begin(store) as transaction:
            claimed = transaction.leases.claim(
                ["poll"], holder=holder, now=NOW, lifetime=timedelta(seconds=-1)
            )
        assert claimed["poll"].token == token
    await store.close()


async def test_thousands_of_leases_are_divided_between_two_processes(
    database: TestDatabase,
) -> None:
    names = [f"poll:acme/site{number}" for number in range(2500)]
    one, two = database.open_store(), database.open_store()
    with begin(one) as transaction:
        mine = transaction.leases.claim(names[:1500], holder="one", now=NOW, lifetime=LIFETIME)
    with begin(two) as transaction:
        theirs = transaction.leases.claim(names, holder="two", now=NOW, lifetime=LIFETIME)
    with begin(one) as transaction:
        renewed = transaction.leases.claim(names, holder="one", now=after(5), lifetime=LIFETIME)

    assert sorted(mine) == sorted(names[:1500])
    assert sorted(theirs) == sorted(names[1500:])
    assert sorted(renewed) == sorted(mine)
    assert {lease.token for lease in renewed.values()} == {1}


async def test_requesting_a_name_twice_gives_one_lease(store: Store) -> None:
    with begin(store) as transaction:
        claimed = transaction.leases.claim(["a", "a"], holder="one", now=NOW, lifetime=LIFETIME)

    assert list(claimed) == ["a"]
