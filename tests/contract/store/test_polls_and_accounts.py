"""Polls and logins: when a log was last read, and who has which login."""

from collections.abc import Collection

from bot.domain.event_log import LastPoll
from bot.domain.repository import RepositoryName
from bot.store.transactions import Transaction
from tests.support.stored import NOW, SHOP, SITE, after


def save(
    transaction: Transaction, polled: dict[RepositoryName, float], types: Collection[str] = ()
) -> None:
    (
        transaction.positions.save_polls(
            {name: LastPoll(after(at), types) for name, at in polled.items()}
        )
    )


def test_the_last_poll_of_each_repository_is_known_to_other_processes(
    transaction: Transaction,
) -> None:
    save(transaction, {SITE: 1, SHOP: 2})
    save(transaction, {SITE: 5}, ["merge", "enter"])

    assert transaction.positions.polls([SITE, SHOP]) == {
        SITE: LastPoll(after(5), frozenset({"enter", "merge"})),
        SHOP: LastPoll(after(2), frozenset()),
    }


def test_a_persons_latest_login_counts(transaction: Transaction) -> None:
    transaction.people.link("U1", "ada", NOW)
    assert transaction.people.link("U1", "ada-l", after(1))
    assert transaction.people.link("U1", "Ada-L", after(1))
    assert transaction.people.link("U2", "ada", after(1))

    found = transaction.people.logins(["U1", "U2", "U3"])
    assert found == {"U1": "Ada-L", "U2": "ada"}


def test_a_login_linked_to_another_person_is_rejected_in_any_case(transaction: Transaction) -> None:
    assert transaction.people.link("U1", "ada", NOW)
    assert transaction.people.link("U2", "bob", NOW)
    assert not transaction.people.link("U2", "ADA", after(1))

    assert transaction.people.logins(["U1", "U2"]) == {"U1": "ada", "U2": "bob"}


def test_people_are_found_by_a_login_in_any_case(transaction: Transaction) -> None:
    transaction.people.link("U2", "Ada-L", NOW)
    transaction.people.link("U3", "bob", after(2))

    found = transaction.people.linked_to(["ADA-l", "bob", "carol"])
    assert transaction.people.linked_to([]) == {}
    assert {login: list(people) for login, people in found.items()} == {
        "ADA-l": ["U2"],
        "bob": ["U3"],
    }


def test_a_link_is_ended_once(transaction: Transaction) -> None:
    transaction.people.link("U1", "ada", NOW)
    assert transaction.people.unlink("U1", after(1))
    assert not transaction.people.unlink("U1", after(1))
    assert transaction.people.logins(["U1"]) == {}


def test_assigned_logins_give_way_to_a_persons_own_choice(transaction: Transaction) -> None:
    accounts = transaction.people
    accounts.link("U1", "ada", NOW)
    accounts.link("U2", "bob", NOW)
    accounts.unlink("U2", after(1))
    accounts.assign({"U1": "a-m", "U2": "b-m", "U3": "c-m"})
    assert accounts.logins(["U1", "U2", "U3"]) == {"U1": "ada", "U3": "c-m"}


def test_an_assigned_login_ends_another_persons_claim(transaction: Transaction) -> None:
    accounts = transaction.people
    accounts.link("U1", "ADA", NOW)
    accounts.assign({"U1": "a-m", "U2": "ada"})
    assert accounts.logins(["U1", "U2"]) == {"U1": "a-m", "U2": "ada"}


def test_a_login_that_is_no_longer_assigned_is_nobodys(transaction: Transaction) -> None:
    accounts = transaction.people
    accounts.assign({"U1": "ada", "U2": "bob"})
    accounts.assign({"U1": "bob"})
    assert accounts.logins(["U1", "U2"]) == {"U1": "bob"}
    assert accounts.link("U2", "ada", NOW)
