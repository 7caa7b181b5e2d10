"""Notices: which mentions and direct messages people have switched on or off."""

from bot.domain.notices import Notice
from bot.ports import Store
from tests.support.databases import TestDatabase
from tests.support.stored import NOW, after


async def test_what_a_person_chose_last_is_known_to_other_processes(database: TestDatabase) -> None:
    first = {Notice.MENTION: False, Notice.REMINDER: False}
    async with database.open_store().begin() as transaction:
        await transaction.notices.choose("U1", first, NOW)
    async with database.open_store().begin() as transaction:
        await transaction.notices.choose("U1", {Notice.MENTION: True}, after(1))

    async with database.open_store().begin() as transaction:
        assert await transaction.notices.chosen(["U1"]) == {
            "U1": {Notice.MENTION: True, Notice.REMINDER: False}
        }


async def test_each_person_chooses_for_themselves_alone(store: Store) -> None:
    async with store.begin() as transaction:
        await transaction.notices.choose("U1", {Notice.REPLACED: False}, NOW)
        await transaction.notices.choose("U2", {Notice.MENTION: False}, NOW)
        await transaction.notices.choose("U3", {}, NOW)

    async with store.begin() as transaction:
        found = await transaction.notices.chosen(["U1", "U3", "U4"])
        assert await transaction.notices.chosen([]) == {}
    assert found == {"U1": {Notice.REPLACED: False}}
