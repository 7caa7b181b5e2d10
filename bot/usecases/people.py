"""People's logins at the code host, and which mentions and direct messages they get.

Each person decides for themselves. Repeating the current choice changes nothing but is stored, so
that a later default does not undo it.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.domain.notices import AboutPerson, Notice, wanted
from bot.domain.permissions import is_machine
from bot.store.transactions import Transaction


def switch(
    transaction: Transaction, user_id: str, choices: Mapping[Notice, bool]
) -> tuple[Mapping[Notice, bool], AboutPerson]:
    """Turn notifications on or off; return those that changed."""
    before = about(transaction, user_id)
    transaction.people.choose(user_id, choices)
    changed = {one: is_on for one, is_on in choices.items() if is_on != (one in before.wanted)}
    return changed, about(transaction, user_id)


def switch_all(
    transaction: Transaction, user_id: str, chosen: Collection[Notice]
) -> tuple[Mapping[Notice, bool], AboutPerson]:
    """Turn on the notifications chosen in the menu, and turn off the others; like `switch`."""
    wanted_before = about(transaction, user_id).wanted
    choices = {one: one in chosen for one in wanted_before.symmetric_difference(chosen)}
    return switch(transaction, user_id, choices)


def stop_waiting(transaction: Transaction, user_id: str) -> tuple[bool, AboutPerson]:
    """Cancel all requests of *Notify me when it resumes*; return whether there were any."""
    waited = transaction.resume_watchers.forget(user_id)
    return bool(waited), about(transaction, user_id)


def about(transaction: Transaction, user_id: str) -> AboutPerson:
    return about_people(transaction, [user_id])[user_id]


def about_people(transaction: Transaction, user_ids: Collection[str]) -> Mapping[str, AboutPerson]:
    logins = transaction.people.logins(user_ids)
    chosen = transaction.people.chosen(user_ids)
    awaited = transaction.resume_watchers.awaited(user_ids)
    return {
        one: AboutPerson(logins.get(one), wanted(chosen.get(one, {})), awaited.get(one, ()))
        for one in user_ids
    }


def who_wants(
    transaction: Transaction, notice: Notice, user_ids: Collection[str]
) -> frozenset[str]:
    """The people who get a notice; machines get none."""
    people = [one for one in user_ids if not is_machine(one)]
    if not people:
        return frozenset()
    chosen = transaction.people.chosen(people)
    return frozenset(one for one in people if notice in wanted(chosen.get(one, {})))


@dataclass(frozen=True, slots=True)
class Linked:
    """The result of a link. `holders` are other people with that login: nothing changed.

    `is_assigned`: the settings give the login to another person: nothing changed.
    `is_first`: the person now gets failure notifications, about which they had not decided before.
    """

    holders: Sequence[str] = ()
    is_assigned: bool = False
    is_first: bool = False


def link_account(
    transaction: Transaction, user_id: str, login: str, owner: str | None, now: datetime
) -> Linked:
    """Link a person to a login at the code host, as they claim.

    The link says whose pull requests are whose: a person may remove their own from a queue.
    `owner`: the person to whom the settings assign the login.
    """
    if owner not in {None, user_id}:
        return Linked(is_assigned=True)
    if not transaction.people.link(user_id, login, now):
        return Linked(transaction.people.linked_to([login])[login])
    if Notice.FAILURE in transaction.people.chosen([user_id]).get(user_id, {}):
        return Linked()
    transaction.people.choose(user_id, {Notice.FAILURE: True})
    return Linked(is_first=True)
