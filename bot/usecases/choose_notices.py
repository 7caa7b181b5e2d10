"""Let a person say which mentions and direct messages they get."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum

from bot.domain.notices import AboutPerson, Notice, wanted
from bot.store.transactions import Store, Transaction


class Chosen(StrEnum):
    """What came of a choice."""

    CHANGED = "changed"
    SAME = "same"


@dataclass(frozen=True, slots=True)
class ChooseNotices:
    """Each person decides for themselves alone; what they have not chosen comes as it is meant to.

    Choosing what is so already changes nothing, and is kept: a later default does not undo it.
    """

    store: Store

    async def choose(
        self, user_id: str, notices: Collection[Notice], *, is_on: bool
    ) -> tuple[Chosen, AboutPerson]:
        choices = dict.fromkeys(notices, is_on)
        return await self.store.run(_choose, user_id, choices)

    async def stop_waiting(self, user_id: str) -> tuple[Chosen, AboutPerson]:
        """Take back all that was asked for with *Tell me when it resumes*."""
        return await self.store.run(_stop_waiting, user_id)

    async def about(self, user_id: str) -> AboutPerson:
        return await self.store.run(_about, user_id)


def about_people(transaction: Transaction, user_ids: Collection[str]) -> Mapping[str, AboutPerson]:
    """What is known of each of the people, by user id."""
    logins = transaction.accounts.logins(user_ids)
    chosen = transaction.notices.chosen(user_ids)
    awaited = transaction.resume_watchers.awaited(user_ids)
    return {
        one: AboutPerson(logins.get(one), wanted(chosen.get(one, {})), awaited.get(one, ()))
        for one in user_ids
    }


def who_want(transaction: Transaction, notice: Notice, user_ids: Collection[str]) -> frozenset[str]:
    """Those of the people who get a notice."""
    if not user_ids:
        return frozenset()
    chosen = transaction.notices.chosen(user_ids)
    return frozenset(one for one in user_ids if notice in wanted(chosen.get(one, {})))


def _choose(
    transaction: Transaction, user_id: str, choices: Mapping[Notice, bool]
) -> tuple[Chosen, AboutPerson]:
    before = _about(transaction, user_id)
    transaction.notices.choose(user_id, choices)
    after = _about(transaction, user_id)
    return (Chosen.SAME if before == after else Chosen.CHANGED), after


def _stop_waiting(transaction: Transaction, user_id: str) -> tuple[Chosen, AboutPerson]:
    waited = transaction.resume_watchers.forget(user_id)
    return (Chosen.CHANGED if waited else Chosen.SAME), _about(transaction, user_id)


def _about(transaction: Transaction, user_id: str) -> AboutPerson:
    return about_people(transaction, [user_id])[user_id]
