"""Outages of event logs."""

from dataclasses import replace

from bot.domain.outages import Outage
from bot.store.transactions import Transaction
from tests.support.stored import NOW, SHOP, SITE, after

BEGUN = Outage((SITE, SHOP), NOW)


def test_an_outage_lasts_until_it_is_ended(transaction: Transaction) -> None:
    assert transaction.outages.last_end() is None
    first = transaction.outages.add(BEGUN)
    second = transaction.outages.add(replace(BEGUN, repositories=(SHOP,)))
    ended = replace(BEGUN, ended_at=after(60), alert_id=first)
    assert transaction.outages.save(ended)
    assert not transaction.outages.save(replace(ended, ended_at=after(61)))
    outages = transaction.outages
    lasting = replace(BEGUN, repositories=(SHOP,), alert_id=second)
    assert outages.active() == [lasting]
    assert outages.last_end() == after(60)
    assert outages.get([first, second, 99]) == {first: ended, second: lasting}
    assert transaction.upkeep.prune(after(60))["alerts"] == 0
    assert transaction.upkeep.prune(after(61))["alerts"] == 1
    assert list(outages.get([first, second])) == [second]


def test_an_active_outage_is_kept(transaction: Transaction) -> None:
    begun = replace(BEGUN, notified_at=after(5), recovered={SHOP: after(6)})
    number = transaction.outages.add(begun)
    begun = replace(begun, alert_id=number)
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
    assert transaction.outages.active() == [changed]
