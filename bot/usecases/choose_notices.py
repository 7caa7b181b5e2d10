"""Let a person say which mentions and direct messages they get."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum

from bot.domain.notices import AboutPerson, Notice, wanted
from bot.ports import Clock, Store, Transaction


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
    clock: Clock

    async def choose(
        self, user_id: str, notices: Collection[Notice], *, is_on: bool
    ) -> tuple[Chosen, AboutPerson]:
        async with self.store.begin() as transaction:
            before = await _about(transaction, user_id)
            choices = dict.fromkeys(notices, is_on)
            await transaction.notices.choose(user_id, choices, self.clock.now())
            after = await _about(transaction, user_id)
        return (Chosen.SAME if before == after else Chosen.CHANGED), after

    async def stop_waiting(self, user_id: str) -> tuple[Chosen, AboutPerson]:
        """Take back all that was asked for with *Tell me when it resumes*."""
        async with self.store.begin() as transaction:
            waited = await transaction.resume_watchers.forget(user_id)
            after = await _about(transaction, user_id)
        return (Chosen.CHANGED if waited else Chosen.SAME), after

    async def about(self, user_id: str) -> AboutPerson:
        async with self.store.begin() as transaction:
            return await _about(transaction, user_id)


async def about_people(
    transaction: Transaction, user_ids: Collection[str]
) -> Mapping[str, AboutPerson]:
    """What is known of each of the people, by user id."""
    logins = await transaction.accounts.logins(user_ids)
    chosen = await transaction.notices.chosen(user_ids)
    awaited = await transaction.resume_watchers.awaited(user_ids)
    return {
        one: AboutPerson(logins.get(one), wanted(chosen.get(one, {})), awaited.get(one, ()))
        for one in user_ids
    }


async def who_want(
    transaction: Transaction, notice: Notice, user_ids: Collection[str]
) -> frozenset[str]:
    """Those of the people who get a notice."""
    if not user_ids:
        return frozenset()
    chosen = await transaction.notices.chosen(user_ids)
    return frozenset(one for one in user_ids if notice in wanted(chosen.get(one, {})))


async def _about(transaction: Transaction, user_id: str) -> AboutPerson:
    return (await about_people(transaction, [user_id]))[user_id]
