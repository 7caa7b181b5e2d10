"""Let a person say which mentions and direct messages they get.

Each person decides for themselves. Repeating the current choice changes nothing but is stored, so
that a later default does not undo it.
"""

from collections.abc import Collection, Mapping

from bot.domain.notices import AboutPerson, Notice, wanted
from bot.domain.permissions import is_machine
from bot.store.transactions import Transaction


def switch(
    transaction: Transaction, user_id: str, choices: Mapping[Notice, bool]
) -> tuple[Mapping[Notice, bool], AboutPerson]:
    """Turn notifications on or off; return those that changed."""
    before = about(transaction, user_id)
    transaction.notices.choose(user_id, choices)
    changed = {one: is_on for one, is_on in choices.items() if is_on != (one in before.wanted)}
    return changed, about(transaction, user_id)


def switch_all(
    transaction: Transaction, user_id: str, chosen: Collection[Notice]
) -> tuple[Mapping[Notice, bool], AboutPerson]:
    """Turn on the notifications chosen in the menu, and turn off the others; like `switch`."""
    before = about(transaction, user_id)
    choices = {one: one in chosen for one in Notice if (one in chosen) != (one in before.wanted)}
    return switch(transaction, user_id, choices)


def stop_waiting(transaction: Transaction, user_id: str) -> tuple[bool, AboutPerson]:
    """Cancel all requests of *Notify me when it resumes*; return whether there were any."""
    waited = transaction.resume_watchers.forget(user_id)
    return bool(waited), about(transaction, user_id)


def about(transaction: Transaction, user_id: str) -> AboutPerson:
    """The choices and login of one person."""
    return about_people(transaction, [user_id])[user_id]


def about_people(transaction: Transaction, user_ids: Collection[str]) -> Mapping[str, AboutPerson]:
    """The choices and logins of people, by user id."""
    logins = transaction.accounts.logins(user_ids)
    chosen = transaction.notices.chosen(user_ids)
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
    chosen = transaction.notices.chosen(people)
    return frozenset(one for one in people if notice in wanted(chosen.get(one, {})))
