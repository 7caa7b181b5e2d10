"""A person's own choices, and what waits for them."""

from collections.abc import Collection, Mapping

from bot.pauses.rows import ResumeWatchers
from bot.people.notices import AboutPerson, Notice, wanted
from bot.people.rows import People
from bot.store.transaction import Transaction


def switch(
    transaction: Transaction, user_id: str, choices: Mapping[Notice, bool]
) -> tuple[Mapping[Notice, bool], AboutPerson]:
    """Turn notifications on or off; return those that changed."""
    before = about(transaction, user_id)
    People(transaction).choose(user_id, choices)
    changed = {
        notice: is_on for notice, is_on in choices.items() if is_on != (notice in before.wanted)
    }
    return changed, about(transaction, user_id)


def switch_all(
    transaction: Transaction, user_id: str, chosen: Collection[Notice]
) -> tuple[Mapping[Notice, bool], AboutPerson]:
    """Turn on the notifications chosen in the menu, and turn off the others; like `switch`."""
    wanted_before = about(transaction, user_id).wanted
    choices = {notice: notice in chosen for notice in wanted_before.symmetric_difference(chosen)}
    return switch(transaction, user_id, choices)


def stop_waiting(transaction: Transaction, user_id: str) -> tuple[bool, AboutPerson]:
    """Cancel all requests of *Notify me when it resumes*; return whether there were any."""
    waited = ResumeWatchers(transaction).forget(user_id)
    return bool(waited), about(transaction, user_id)


def about(transaction: Transaction, user_id: str) -> AboutPerson:
    return about_people(transaction, [user_id])[user_id]


def about_people(transaction: Transaction, user_ids: Collection[str]) -> Mapping[str, AboutPerson]:
    logins = People(transaction).logins(user_ids)
    chosen = People(transaction).chosen(user_ids)
    awaited = ResumeWatchers(transaction).awaited(user_ids)
    return {
        user_id: AboutPerson(
            logins.get(user_id), wanted(chosen.get(user_id, {})), awaited.get(user_id, ())
        )
        for user_id in user_ids
    }
