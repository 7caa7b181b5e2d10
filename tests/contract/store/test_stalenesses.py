"""Event logs that are not read any more."""

import asyncio
from dataclasses import replace

from bot.domain.staleness import Staleness
from bot.ports import Store
from tests.support.stored import NOW, SHOP, SITE, after

BEGUN = Staleness((SITE, SHOP), NOW)


async def test_a_staleness_lasts_until_it_is_ended_once(store: Store) -> None:
    async with store.begin() as transaction:
        assert await transaction.stalenesses.last_end() is None
        first = await transaction.stalenesses.add(BEGUN)
        second = await transaction.stalenesses.add(replace(BEGUN, repositories=(SHOP,)))
        ended = replace(BEGUN, ended_at=after(60), staleness_id=first)
        assert await transaction.stalenesses.save(ended)
        assert not await transaction.stalenesses.save(replace(ended, ended_at=after(61)))
    async with store.begin() as transaction:
        stalenesses = transaction.stalenesses
        lasting = replace(BEGUN, repositories=(SHOP,), staleness_id=second)
        assert await stalenesses.active() == [lasting]
        assert await stalenesses.last_end() == after(60)
        assert await stalenesses.get([first, second, 99]) == {first: ended, second: lasting}
        assert (await transaction.prune(after(60)))["stalenesses"] == 0
        assert (await transaction.prune(after(61)))["stalenesses"] == 1
        assert list(await stalenesses.get([first, second])) == [second]


async def test_what_is_known_of_one_that_lasts_is_kept(store: Store) -> None:
    begun = replace(BEGUN, told_at=after(5), read_again={SHOP: after(6)})
    async with store.begin() as transaction:
        number = await transaction.stalenesses.add(begun)
    begun = replace(begun, staleness_id=number)
    async with store.begin() as transaction:
        assert await transaction.stalenesses.active() == [begun]
        assert begun.unread == (SITE,)
        changed = replace(
            begun,
            repositories=(SHOP, SITE),
            since=after(-1),
            told_at=after(7),
            read_again={SITE: after(8)},
        )
        assert await transaction.stalenesses.save(changed)
    async with store.begin() as transaction:
        assert await transaction.stalenesses.active() == [changed]


async def test_of_several_that_find_an_outage_at_once_one_adds_it(store: Store) -> None:
    async def look() -> None:
        async with store.begin() as transaction:
            await transaction.stalenesses.hold()
            if not await transaction.stalenesses.active():
                await transaction.stalenesses.add(BEGUN)

    await asyncio.gather(*(look() for _ in range(4)))
    async with store.begin() as transaction:
        assert len(await transaction.stalenesses.active()) == 1
