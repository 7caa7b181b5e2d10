"""A person's own choices, and what waits for them."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from bot.pauses.rows import ResumeWatchers
from bot.people.notices import AboutPerson, Notice, wanted
from bot.people.rows import People
from bot.store.transaction import Transaction


class Switched(NamedTuple):
    """What became of a person's choice."""

    changed: Mapping[Notice, bool]  #: the notifications that are now on, or off, and weren't
    person: AboutPerson


def switch(transaction: Transaction, user_id: str, choices: Mapping[Notice, bool]) -> Switched:
    """Turn notifications on or off."""
    before = about(transaction, user_id)
    People(transaction).choose(user_id, choices)
    changed: dict[Notice, bool] = {}
    for notice, is_on in choices.items():
        was_on = notice in before.wanted
        if is_on != was_on:
            changed[notice] = is_on
    return Switched(changed, about(transaction, user_id))


def switch_all(transaction: Transaction, user_id: str, chosen: Collection[Notice]) -> Switched:
    """Turn on the notifications chosen in the menu, and turn off the others; like `switch`."""
    wanted_before = about(transaction, user_id).wanted
    choices = {notice: notice in chosen for notice in wanted_before.symmetric_difference(chosen)}
    return switch(transaction, user_id, choices)


class StoppedWaiting(NamedTuple):
    """The end of a person's requests of *Notify me when it resumes*."""

    had_any: bool
    person: AboutPerson


def stop_waiting(transaction: Transaction, user_id: str) -> StoppedWaiting:
    """Cancel all requests of *Notify me when it resumes*."""
    waited = ResumeWatchers(transaction).forget(user_id)
    return StoppedWaiting(bool(waited), about(transaction, user_id))


def about(transaction: Transaction, user_id: str) -> AboutPerson:
    return about_people(transaction, [user_id])[user_id]


def about_people(transaction: Transaction, user_ids: Collection[str]) -> Mapping[str, AboutPerson]:
    logins = People(transaction).logins(user_ids)
    chosen = People(transaction).chosen(user_ids)
    awaited = ResumeWatchers(transaction).awaited(user_ids)
    found: dict[str, AboutPerson] = {}
    for user_id in user_ids:
        notices = wanted(chosen.get(user_id, {}))
        found[user_id] = AboutPerson(logins.get(user_id), notices, awaited.get(user_id, ()))
    return found
