"""Leases: one holder at a time, and a token for each holder."""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta

import pytest

from bot.domain.errors import LeaseLost
from bot.domain.leases import Lease
from bot.store.engines import DATABASE_CLOCK
from bot.store.transactions import Transaction
from tests.support.stored import NOW, after

LIFETIME = timedelta(seconds=30)
ALIVE_SECONDS = 9


def claim(
    transaction: Transaction,
    holder: str,
    seconds: float = 0,
    *,
    names: Sequence[str] = ("poll",),
    lifetime: timedelta = LIFETIME,
) -> Mapping[str, Lease]:
    return transaction.leases.claim(names, holder=holder, now=after(seconds), lifetime=lifetime)


def heartbeat(transaction: Transaction, holder: str, seconds: float = 0) -> Collection[str]:
    return transaction.leases.heartbeat(
        holder, now=after(seconds), until=after(seconds + ALIVE_SECONDS)
    )


def require(transaction: Transaction, lease: Lease, seconds: float = 0) -> None:
    transaction.leases.require(lease, after(seconds))


@pytest.mark.parametrize("taker", ["one", "two"])
def test_an_expired_lease_gets_a_higher_token_whoever_takes_it(
    transaction: Transaction, taker: str
) -> None:
    lease = claim(transaction, "one")["poll"]
    assert claim(transaction, "two", 29.9) == {}
    require(transaction, lease, 29.999999)
    with pytest.raises(LeaseLost):
        require(transaction, lease, 30)

    taken = claim(transaction, taker, 30)["poll"]
    assert taken.token == 2
    require(transaction, taken, 31)
    with pytest.raises(LeaseLost, match="poll"):
        require(transaction, lease, 31)


def test_a_holder_renews_and_keeps_its_token(transaction: Transaction) -> None:
    first = claim(transaction, "one")["poll"]
    renewed = claim(transaction, "one", 20, names=["poll", "poll"])

    assert renewed == {"poll": Lease("poll", "one", 1, after(20) + LIFETIME)}
    require(transaction, first, 40)


def test_a_released_lease_is_free_and_its_token_is_never_reused(transaction: Transaction) -> None:
    with pytest.raises(LeaseLost):
        require(transaction, Lease("poll", "one", 1, after(60)))
    first = claim(transaction, "one")["poll"]
    transaction.leases.release([first])
    second = claim(transaction, "two", 1)["poll"]
    assert second.token == 2
    with pytest.raises(LeaseLost):
        require(transaction, first, 2)

    # The new holder keeps what the last one gives back once more.
    transaction.leases.release([first])
    transaction.leases.release([])
    require(transaction, second, 2)


def test_leases_last_by_the_clock_of_the_database(transaction: Transaction) -> None:
    transaction.connection.execution_options(**{DATABASE_CLOCK: True})
    held = claim(transaction, "one")["poll"]
    assert held == Lease("poll", "one", 1, NOW + LIFETIME)
    # The clock of a process is a day ahead, or behind.
    for seconds in (86_400, -86_400):
        assert claim(transaction, "two", seconds) == {}
        require(transaction, held, seconds)
        renewed = claim(transaction, "one", seconds)["poll"]
        assert renewed == Lease("poll", "one", 1, after(seconds) + LIFETIME)
        assert "two" in heartbeat(transaction, "two", seconds)
        assert heartbeat(transaction, "one") == {"one", "two"}
    # One without a length has expired.
    for holder, token in (("three", 1), ("four", 2)):
        spent = claim(transaction, holder, names=["spent"], lifetime=timedelta(seconds=-1))
        assert spent["spent"].token == token


def test_thousands_of_leases_are_divided_between_two_processes(transaction: Transaction) -> None:
    names = [f"poll:acme/site{number}" for number in range(2500)]
    mine = claim(transaction, "one", names=names[:1500])
    theirs = claim(transaction, "two", names=names)
    renewed = claim(transaction, "one", 5, names=names)

    assert sorted(mine) == sorted(names[:1500])
    assert sorted(theirs) == sorted(names[1500:])
    assert sorted(renewed) == sorted(mine)
    assert {lease.token for lease in renewed.values()} == {1}


def test_a_heartbeat_returns_the_live_processes(transaction: Transaction) -> None:
    assert set(heartbeat(transaction, "one")) == {"one"}
    assert set(heartbeat(transaction, "two", 1)) == {"one", "two"}
    assert set(heartbeat(transaction, "one", 8)) == {"one", "two"}
    assert set(heartbeat(transaction, "one", 10)) == {"one"}

    transaction.leases.leave("one")
    transaction.leases.leave("nobody")
    assert set(heartbeat(transaction, "two", 10)) == {"two"}


def test_polling_leases_of_dead_processes_are_free_at_once(transaction: Transaction) -> None:
    names = ["poll:acme/site", "poll:acme/shop", "post"]
    heartbeat(transaction, "one")
    held = claim(transaction, "one", names=names)
    heartbeat(transaction, "two", 1)
    assert claim(transaction, "two", 2, names=names) == {}

    heartbeat(transaction, "two", ALIVE_SECONDS)
    taken = claim(transaction, "two", ALIVE_SECONDS, names=names)
    assert {name: lease.token for name, lease in taken.items()} == dict.fromkeys(names[:2], 2)
    with pytest.raises(LeaseLost):
        require(transaction, held[names[0]], ALIVE_SECONDS)
    require(transaction, held["post"], ALIVE_SECONDS)


def test_jumps_of_clocks_are_remembered_for_a_month(transaction: Transaction) -> None:
    hour, month = timedelta(hours=1), timedelta(days=30).total_seconds()
    keys = transaction.expiring_keys
    keys.add_jump(after(0), -hour)
    keys.add_jump(after(60), timedelta(seconds=2.6))
    assert list(keys.jumps_since(after(0))) == [
        (after(60), timedelta(seconds=3)),
        (after(0), -hour),
    ]
    assert len(keys.jumps_since(after(1))) == 1
    keys.add_jump(after(30 + month), hour)
    assert transaction.upkeep.prune(after(0), after(30 + month))["expiring_keys"] == 1
    assert [at for at, _ in keys.jumps_since(after(0))] == [after(30 + month), after(60)]
