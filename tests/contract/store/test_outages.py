"""Outages of event logs."""

import asyncio
from dataclasses import replace

from bot.domain.outages import Outage
from bot.store.transactions import Store, Transaction
from tests.support.stored import NOW, SHOP, SITE, after
from tests.support.transactions import begin

BEGUN = Outage((SITE, SHOP), NOW)


async def test_an_outage_lasts_until_it_is_ended(store: Store) -> None:
    with begin(store) as transaction:
        assert transaction.outages.last_end() is None
        first = transaction.outages.add(BEGUN)
        second = transaction.outages.add(replace(BEGUN, repositories=(SHOP,)))
        ended = replace(BEGUN, ended_at=after(60), alert_id=first)
        assert transaction.outages.save(ended)
        assert not transaction.outages.save(replace(ended, ended_at=after(61)))
    with begin(store) as transaction:
        outages = transaction.outages
        lasting = replace(BEGUN, repositories=(SHOP,), alert_id=second)
        assert outages.active() == [lasting]
        assert outages.last_end() == after(60)
        assert outages.get([first, second, 99]) == {first: ended, second: lasting}
        assert (transaction.upkeep.prune(after(60)))["alerts"] == 0
        assert (transaction.upkeep.prune(after(61)))["alerts"] == 1
        assert list(outages.get([first, second])) == [second]


async def test_an_active_outage_is_kept(store: Store) -> None:
    begun = replace(BEGUN, notified_at=after(5), recovered={SHOP: after(6)})
    with begin(store) as transaction:
        number = transaction.outages.add(begun)
    begun = replace(begun, alert_id=number)
    with begin(store) as transaction:
        assert transaction.outages.active() == [begun]
        assert begun.unread == (SITE,)
        changed = replace(
            begun,
            repositories=(SHOP, SITE),
            began_at=after(-1),
            notified_at=after(7),
            recovered={SITE: after(8)},
        )
        assert transaction.outages.save(changed)
    with begin(store) as transaction:
        assert transaction.outages.active() == [changed]


async def test_processes_that_detect_an_outage_together_add_it_once(store: Store) -> None:
    def look(transaction: Transaction) -> None:
        transaction.outages.hold("outages")
        if not transaction.outages.active():
            transaction.outages.add(BEGUN)

    await asyncio.gather(*(store.run(look) for _ in range(4)))
    with begin(store) as transaction:
        assert len(transaction.outages.active()) == 1
