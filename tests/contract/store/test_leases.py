"""Leases: one holder at a time, and a token for each holder."""

from datetime import timedelta

import pytest

from bot.runtime.upkeep.pruning import Upkeep
from bot.store.coordination import Leases
from bot.store.engines import DATABASE_CLOCK
from bot.store.errors import LeaseLost
from bot.store.lease_values import Lease
from bot.store.processes import ClockJumps
from bot.store.transaction import Transaction
from tests.support.stored import NOW, after

LIFETIME = timedelta(seconds=30)


def claim(
    transaction: Transaction,
    holder: str,
    seconds: float = 0,
    *,
    name: str = "poll",
    lifetime: timedelta = LIFETIME,
) -> Lease | None:
    return Leases(transaction).claim(name, holder=holder, now=after(seconds), lifetime=lifetime)


def taken(
    transaction: Transaction,
    holder: str,
    seconds: float = 0,
    *,
    name: str = "poll",
    lifetime: timedelta = LIFETIME,
) -> Lease:
    lease = claim(transaction, holder, seconds, name=name, lifetime=lifetime)
    assert lease is not None
    return lease


def require(transaction: Transaction, lease: Lease, seconds: float = 0) -> None:
    Leases(transaction).require(lease, after(seconds))


@pytest.mark.parametrize("taker", ["one", "two"])
def test_an_expired_lease_gets_a_higher_token_whoever_takes_it(
    transaction: Transaction, taker: str
) -> None:
    lease = taken(transaction, "one")
    assert claim(transaction, "two", 29.9) is None
    require(transaction, lease, 29.999999)
    with pytest.raises(LeaseLost):
        require(transaction, lease, 30)

    next_lease = taken(transaction, taker, 30)
    assert next_lease.token == 2
    require(transaction, next_lease, 31)
    with pytest.raises(LeaseLost, match="poll"):
        require(transaction, lease, 31)


def test_a_holder_renews_and_keeps_its_token(transaction: Transaction) -> None:
    first = taken(transaction, "one")
    renewed = taken(transaction, "one", 20)

    assert renewed == Lease("poll", "one", 1, after(20) + LIFETIME)
    require(transaction, first, 40)


def test_a_released_lease_is_free_and_its_token_is_never_reused(transaction: Transaction) -> None:
    with pytest.raises(LeaseLost):
        require(transaction, Lease("poll", "one", 1, after(60)))
    first = taken(transaction, "one")
    Leases(transaction).release(first)
    second = taken(transaction, "two", 1)
    assert second.token == 2
    with pytest.raises(LeaseLost):
        require(transaction, first, 2)

    # The new holder keeps what the last one gives back once more.
    Leases(transaction).release(first)
    require(transaction, second, 2)


def test_leases_of_different_names_are_independent(transaction: Transaction) -> None:
    polls = taken(transaction, "one")
    posts = taken(transaction, "two", name="post")
    Leases(transaction).release(polls)
    require(transaction, posts, 1)
    assert claim(transaction, "one", 1, name="post") is None


def test_leases_last_by_the_clock_of_the_database(transaction: Transaction) -> None:
    transaction.connection.execution_options(**{DATABASE_CLOCK: True})
    held = taken(transaction, "one")
    assert held == Lease("poll", "one", 1, NOW + LIFETIME)
    # The clock of a process is a day ahead, or behind.
    for seconds in (86_400, -86_400):
        assert claim(transaction, "two", seconds) is None
        require(transaction, held, seconds)
        renewed = taken(transaction, "one", seconds)
        assert renewed == Lease("poll", "one", 1, after(seconds) + LIFETIME)
    # One without a length has expired.
    for holder, token in (("three", 1), ("four", 2)):
        spent = taken(transaction, holder, name="spent", lifetime=timedelta(seconds=-1))
        assert spent.token == token


def test_jumps_of_clocks_are_kept_as_long_as_events(transaction: Transaction) -> None:
    hour = timedelta(hours=1)
    jumps = ClockJumps(transaction)
    jumps.add(after(0), -hour)
    jumps.add(after(60), timedelta(seconds=2.6))
    assert list(jumps.since(after(0))) == [
        (after(60), timedelta(seconds=3)),
        (after(0), -hour),
    ]
    assert len(jumps.since(after(1))) == 1
    jumps.add(after(90), hour)
    assert Upkeep(transaction).prune(after(30))["clock_jumps"] == 1
    assert [at for at, _ in jumps.since(after(0))] == [after(90), after(60)]
