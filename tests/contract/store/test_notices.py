"""Notices: the mentions and direct messages that people turned on or off."""

from bot.people.notices import Notice
from bot.people.rows import MutedPullRequests, People
from bot.runtime.upkeep.pruning import Upkeep
from bot.store.transaction import Transaction
from tests.support.stored import NOW, SHOP, SITE, after


def test_other_processes_see_a_persons_latest_choice(transaction: Transaction) -> None:
    first = {Notice.MENTION: False, Notice.REMINDER: False}
    People(transaction).choose("U1", first)
    People(transaction).choose("U1", {Notice.MENTION: True})
    People(transaction).choose("U2", {})

    assert People(transaction).chosen(["U1", "U2"]) == {
        "U1": {Notice.MENTION: True, Notice.REMINDER: False}
    }


def test_notification_choices_are_found_by_login_in_any_case(transaction: Transaction) -> None:
    People(transaction).link("U1", "Ada-L", NOW)
    People(transaction).link("U3", "carol", NOW)
    People(transaction).link("U4", "bob", NOW)
    for user_id in ("U1", "U2", "U4", "U5"):
        People(transaction).choose(user_id, {Notice.FAILURE: True})
    People(transaction).choose("U1", {Notice.MERGE: True})
    People(transaction).choose("U3", {Notice.MERGE: False})

    both = [Notice.FAILURE, Notice.MERGE]
    found = People(transaction).switched_on(["ada-l", "BOB", "carol"], both)
    merges = People(transaction).switched_on(["ada-l"], [Notice.MERGE])
    assert People(transaction).switched_on([], both) == {}
    assert {key: list(people) for key, people in found.items()} == {
        ("ada-l", Notice.FAILURE): ["U1"],
        ("ada-l", Notice.MERGE): ["U1"],
        ("BOB", Notice.FAILURE): ["U4"],
    }
    assert {key: list(people) for key, people in merges.items()} == {
        ("ada-l", Notice.MERGE): ["U1"]
    }


def test_notifications_that_anyone_enabled_are_listed(transaction: Transaction) -> None:
    People(transaction).choose("U1", {Notice.FAILURE: False})
    People(transaction).choose("U2", {Notice.FAILURE: False, Notice.MERGE: True})

    notices = People(transaction)
    assert list(notices.switched_on_by_anybody(list(Notice))) == [Notice.MERGE]
    assert list(notices.switched_on_by_anybody([Notice.FAILURE])) == []


def test_a_pull_request_is_muted_for_one_person_and_for_a_while(transaction: Transaction) -> None:
    muted = MutedPullRequests(transaction)
    muted.add("U1", SITE, 41, until=after(60))
    muted.add("U2", SITE, 42, until=after(60))
    muted.add("U3", SHOP, 41, until=after(60))
    everybody = ["U1", "U2", "U3"]

    assert muted.muted_by(everybody, SITE, 41, NOW) == {"U1"}
    assert muted.muted_by([], SITE, 41, NOW) == frozenset()
    assert muted.muted_by(everybody, SITE, 41, after(60)) == frozenset()
    muted.add("U1", SITE, 41, until=after(120))
    assert muted.muted_by(everybody, SITE, 41, after(60)) == {"U1"}

    assert muted.remove("U1", SITE, 41)
    assert not muted.remove("U1", SITE, 41)
    assert muted.muted_by(everybody, SITE, 41, NOW) == frozenset()


def test_what_is_no_longer_muted_is_pruned(transaction: Transaction) -> None:
    MutedPullRequests(transaction).add("U1", SITE, 41, until=after(60))
    MutedPullRequests(transaction).add("U2", SITE, 41, until=after(600))

    pruned = Upkeep(transaction).prune(NOW, now=after(100))

    assert pruned["muted_pull_requests"] == 1
    assert MutedPullRequests(transaction).muted_by(["U1", "U2"], SITE, 41, NOW) == {"U2"}
