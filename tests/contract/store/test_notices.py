"""Notices: the mentions and direct messages that people turned on or off."""

from bot.domain.notices import Notice
from bot.store.transactions import Transaction
from tests.support.stored import NOW


def test_other_processes_see_a_persons_latest_choice(transaction: Transaction) -> None:
    first = {Notice.MENTION: False, Notice.REMINDER: False}
    transaction.people.choose("U1", first)
    transaction.people.choose("U1", {Notice.MENTION: True})
    transaction.people.choose("U2", {})

    assert transaction.people.chosen(["U1", "U2"]) == {
        "U1": {Notice.MENTION: True, Notice.REMINDER: False}
    }


def test_notification_choices_are_found_by_login_in_any_case(transaction: Transaction) -> None:
    transaction.people.link("U1", "Ada-L", NOW)
    transaction.people.link("U3", "carol", NOW)
    transaction.people.link("U4", "bob", NOW)
    for user_id in ("U1", "U2", "U4", "U5"):
        transaction.people.choose(user_id, {Notice.FAILURE: True})
    transaction.people.choose("U1", {Notice.MERGE: True})
    transaction.people.choose("U3", {Notice.MERGE: False})

    both = [Notice.FAILURE, Notice.MERGE]
    found = transaction.people.switched_on(["ada-l", "BOB", "carol"], both)
    merges = transaction.people.switched_on(["ada-l"], [Notice.MERGE])
    assert transaction.people.switched_on([], both) == {}
    assert {key: list(people) for key, people in found.items()} == {
        ("ada-l", Notice.FAILURE): ["U1"],
        ("ada-l", Notice.MERGE): ["U1"],
        ("BOB", Notice.FAILURE): ["U4"],
    }
    assert {key: list(people) for key, people in merges.items()} == {
        ("ada-l", Notice.MERGE): ["U1"]
    }


def test_notifications_that_anyone_enabled_are_listed(transaction: Transaction) -> None:
    transaction.people.choose("U1", {Notice.FAILURE: False})
    transaction.people.choose("U2", {Notice.FAILURE: False, Notice.MERGE: True})

    notices = transaction.people
    assert list(notices.switched_on_by_anybody(list(Notice))) == [Notice.MERGE]
    assert list(notices.switched_on_by_anybody([Notice.FAILURE])) == []
