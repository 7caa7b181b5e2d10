"""Event logs that are not read any more."""

import asyncio
from dataclasses import replace

from bot.domain.staleness import Staleness
from bot.store.transactions import Store, Transaction
from tests.support.stored import NOW, SHOP, SITE, after
from tests.support.transactions import begin

BEGUN = Staleness((SITE, SHOP), NOW)


async def test_a_staleness_lasts_until_it_is_ended_once(store: Store) -> None:
    with begin(store) as transaction:
        assert transaction.stalenesses.last_end() is None
        first = transaction.stalenesses.add(BEGUN)
        second = transaction.stalenesses.add(replace(BEGUN, repositories=(SHOP,)))
        ended = replace(BEGUN, ended_at=after(60), staleness_id=first)
        assert transaction.stalenesses.save(ended)
        assert not transaction.stalenesses.save(replace(ended, ended_at=after(61)))
    with begin(store) as transaction:
        stalenesses = transaction.stalenesses
        lasting = replace(BEGUN, repositories=(SHOP,), staleness_id=second)
        assert stalenesses.active() == [lasting]
        assert stalenesses.last_end() == after(60)
        assert stalenesses.get([first, second, 99]) == {first: ended, second: lasting}
        assert (transaction.prune(after(60)))["stalenesses"] == 0
        assert (transaction.prune(after(61)))["stalenesses"] == 1
        assert list(stalenesses.get([first, second])) == [second]


async def test_what_is_known_of_one_that_lasts_is_kept(store: Store) -> None:
    begun = replace(BEGUN, told_at=after(5), read_again={SHOP: after(6)})
    with begin(store) as transaction:
        number = transaction.stalenesses.add(begun)
    begun = replace(begun, staleness_id=number)
    with begin(store) as transaction:
        assert transaction.stalenesses.active() == [begun]
        assert begun.unread == (SITE,)
        changed = replace(
            begun,
            repositories=(SHOP, SITE),
            since=after(-1),
            told_at=after(7),
            read_again={SITE: after(8)},
        )
        assert transaction.stalenesses.save(changed)
    with begin(store) as transaction:
        assert transaction.stalenesses.active() == [changed]


async def test_of_several_that_find_an_outage_at_once_one_adds_it(store: Store) -> None:
    def look(transaction: Transaction) -> None:
        transaction.stalenesses.hold()
        if not transaction.stalenesses.active():
            transaction.stalenesses.add(BEGUN)

    await asyncio.gather(*(store.run(look) for _ in range(4)))
    with begin(store) as transaction:
        assert len(transaction.stalenesses.active()) == 1
