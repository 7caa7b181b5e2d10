"""Polls and logins: when a log was last read, and who has which login."""

from collections.abc import Collection

from bot.kernel.repository import RepositoryName
from bot.log.position import LastPoll
from bot.log.rows import Positions
from bot.people.rows import People
from bot.store.transaction import Transaction
from tests.support.stored import NOW, SHOP, SITE, after


def save(
    transaction: Transaction, polled: dict[RepositoryName, float], types: Collection[str] = ()
) -> None:
    polls = {name: LastPoll(after(at), types) for name, at in polled.items()}
    Positions(transaction).save_polls(polls)


def test_the_last_poll_of_each_repository_is_known_to_other_processes(
    transaction: Transaction,
) -> None:
    save(transaction, {SITE: 1, SHOP: 2})
    save(transaction, {SITE: 5}, ["merge", "enter"])

    assert Positions(transaction).polls([SITE, SHOP]) == {
        SITE: LastPoll(after(5), frozenset({"enter", "merge"})),
        SHOP: LastPoll(after(2), frozenset()),
    }


def test_a_persons_latest_login_counts_and_belongs_to_nobody_else(transaction: Transaction) -> None:
    people = People(transaction)
    people.link("U1", "ada", NOW)
    assert people.link("U1", "ada-l", after(1))
    assert people.link("U1", "Ada-L", after(1))
    assert people.link("U2", "ada", after(1))
    assert not people.link("U2", "ADA-L", after(2))

    assert people.logins(["U1", "U2", "U3"]) == {"U1": "Ada-L", "U2": "ada"}
    found = people.linked_to(["ADA-l", "ada", "carol"])
    assert {login: list(linked) for login, linked in found.items()} == {
        "ADA-l": ["U1"],
        "ada": ["U2"],
    }
    assert people.linked_to([]) == {}
    assert people.unlink("U1", after(3))
    assert not people.unlink("U1", after(3))
    assert people.logins(["U1"]) == {}


def test_assigned_logins_give_way_to_a_persons_own_choice_and_end_others_claims(
    transaction: Transaction,
) -> None:
    people = People(transaction)
    people.link("U1", "ada", NOW)
    people.link("U2", "bob", NOW)
    people.unlink("U2", after(1))
    people.assign({"U1": "a-m", "U2": "b-m", "U3": "c-m"})
    assert people.logins(["U1", "U2", "U3"]) == {"U1": "ada", "U3": "c-m"}

    people.link("U4", "DAN", NOW)
    people.assign({"U4": "d-m", "U5": "dan"})
    assert people.logins(["U4", "U5"]) == {"U4": "d-m", "U5": "dan"}


def test_a_login_that_is_no_longer_assigned_is_nobodys(transaction: Transaction) -> None:
    accounts = People(transaction)
    accounts.assign({"U1": "ada", "U2": "bob"})
    accounts.assign({"U1": "bob"})
    assert accounts.logins(["U1", "U2"]) == {"U1": "bob"}
    assert accounts.link("U2", "ada", NOW)
