"""Event logs that are not read any more."""

from dataclasses import replace

from bot.domain.staleness import Staleness
from bot.ports import Store
from tests.support.stored import NOW, SHOP, SITE, after

BEGUN = Staleness((SITE, SHOP), NOW)


async def test_a_staleness_lasts_until_it_is_ended_once(store: Store) -> None:
    async with store.begin() as transaction:
        first = await transaction.stalenesses.add(BEGUN)
        second = await transaction.stalenesses.add(replace(BEGUN, repositories=(SHOP,)))
        assert await transaction.stalenesses.end(first, after(60))
        assert not await transaction.stalenesses.end(first, after(61))
    async with store.begin() as transaction:
        stalenesses = transaction.stalenesses
        lasting = replace(BEGUN, repositories=(SHOP,), staleness_id=second)
        assert await stalenesses.active() == [lasting]
        assert await stalenesses.get([first, second, 99]) == {
            first: replace(BEGUN, ended_at=after(60), staleness_id=first),
            second: lasting,
        }
        assert await stalenesses.delete_before(after(60)) == 0
        assert await stalenesses.delete_before(after(61)) == 1
        assert list(await stalenesses.get([first, second])) == [second]
