"""Outages of event logs, and of Slack."""

from dataclasses import replace

from bot.health.outage import Outage, SlackOutage
from bot.health.outage_rows import Outages, SlackOutages
from bot.runtime.upkeep.pruning import Upkeep
from bot.store.transaction import Transaction
from tests.support.stored import NOW, SHOP, SITE, after

BEGUN = Outage((SITE, SHOP), NOW)


def test_an_outage_lasts_until_it_is_ended(transaction: Transaction) -> None:
    assert Outages(transaction).last_end() is None
    first = Outages(transaction).add(BEGUN)
    second = Outages(transaction).add(replace(BEGUN, repositories=(SHOP,)))
    ended = replace(BEGUN, ended_at=after(60), outage_id=first)
    assert Outages(transaction).save(ended)
    assert not Outages(transaction).save(replace(ended, ended_at=after(61)))
    outages = Outages(transaction)
    lasting = replace(BEGUN, repositories=(SHOP,), outage_id=second)
    assert outages.active() == [lasting]
    assert outages.last_end() == after(60)
    assert outages.get([first, second, 99]) == {first: ended, second: lasting}
    assert Upkeep(transaction).prune(after(60))["outages"] == 0
    assert Upkeep(transaction).prune(after(61))["outages"] == 1
    assert list(outages.get([first, second])) == [second]


def test_an_active_outage_is_kept(transaction: Transaction) -> None:
    begun = replace(BEGUN, notified_at=after(5), recovered={SHOP: after(6)})
    number = Outages(transaction).add(begun)
    begun = replace(begun, outage_id=number)
    assert Outages(transaction).active() == [begun]
    assert begun.unread == (SITE,)
    changed = replace(
        begun,
        repositories=(SHOP, SITE),
        began_at=after(-1),
        notified_at=after(7),
        recovered={SITE: after(8)},
    )
    assert Outages(transaction).save(changed)
    assert Outages(transaction).active() == [changed]


def test_slack_has_one_outage_at_a_time_and_an_end_counts_once(transaction: Transaction) -> None:
    outages = SlackOutages(transaction)
    assert outages.active() is None
    number = outages.begin(NOW)
    begun = SlackOutage(NOW, outage_id=number)
    assert outages.active() == begun
    assert outages.end(begun, after(60), late=3)
    assert not outages.end(begun, after(61), late=0)
    assert outages.active() is None
    assert outages.one(number) == SlackOutage(NOW, after(60), 3, number)
    assert Upkeep(transaction).prune(after(60))["slack_outages"] == 0
    assert Upkeep(transaction).prune(after(61))["slack_outages"] == 1
