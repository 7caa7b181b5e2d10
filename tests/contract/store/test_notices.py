"""Notices: the mentions and direct messages that people turned on or off."""

from bot.domain.notices import Notice
from bot.store.transactions import Store
from tests.support.databases import TestDatabase
from tests.support.stored import NOW
from tests.support.transactions import begin


async def test_other_processes_see_a_persons_latest_choice(database: TestDatabase) -> None:
    first = {Notice.MENTION: False, Notice.REMINDER: False}
    with begin(database.open_store()) as transaction:
        transaction.people.choose("U1", first)
    with begin(database.open_store()) as transaction:
        transaction.people.choose("U1", {Notice.MENTION: True})
        transaction.people.choose("U2", {})

    with begin(database.open_store()) as transaction:
        assert transaction.people.chosen(["U1", "U2"]) == {
            "U1": {Notice.MENTION: True, Notice.REMINDER: False}
        }


async def test_notification_choices_are_found_by_login_in_any_case(store: Store) -> None:
    with begin(store) as transaction:
        transaction.people.link("U1", "Ada-L", NOW)
        transaction.people.link("U3", "carol", NOW)
        transaction.people.link("U4", "bob", NOW)
        for user_id in ("U1", "U2", "U4", "U5"):
            transaction.people.choose(user_id, {Notice.FAILURE: True})
        transaction.people.choose("U1", {Notice.MERGE: True})
        transaction.people.choose("U3", {Notice.MERGE: False})

    with begin(store) as transaction:
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


async def test_notifications_that_anyone_enabled_are_listed(store: Store) -> None:
    with begin(store) as transaction:
        transaction.people.choose("U1", {Notice.FAILURE: False})
        transaction.people.choose("U2", {Notice.FAILURE: False, Notice.MERGE: True})

    with begin(store) as transaction:
        notices = transaction.people
        assert list(notices.switched_on_by_anybody(list(Notice))) == [Notice.MERGE]
        assert list(notices.switched_on_by_anybody([Notice.FAILURE])) == []
