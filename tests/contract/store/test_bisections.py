"""Bisections of batches."""

from dataclasses import replace

from bot.domain.threads import Bisection
from bot.store.transactions import Store
from tests.support.stored import NOW, SHOP, SITE, after
from tests.support.transactions import begin

ONE = Bisection(SITE, "7", "b-1", frozenset({41, 42}), NOW, 7)


async def test_a_bisection_comes_back_as_it_was_last_saved(store: Store) -> None:
    ended = replace(ONE, last_at=after(9), latest_event_id=9, ended_at=after(9))
    other = replace(ONE, key="8", batch_id=None, pull_requests=frozenset())
    with begin(store) as transaction:
        transaction.bisections.save([ONE, other, replace(ONE, repository=SHOP)])
        transaction.bisections.save([ended])
        transaction.bisections.save([])
    with begin(store) as transaction:
        bisections = transaction.bisections
        assert bisections.since(SITE, after(9)) == [ended]
        assert {one.key for one in bisections.since(SITE, NOW)} == {"7", "8"}
        assert bisections.since(SITE, after(10)) == []
        assert bisections.get(SITE, ["7", "8", "none"]) == {"7": ended, "8": other}


async def test_old_bisections_are_deleted(store: Store) -> None:
    later = replace(ONE, key="9", last_at=after(60))
    with begin(store) as transaction:
        transaction.bisections.save([ONE, later])
        assert (transaction.upkeep.prune(after(30)))["threads"] == 1
        assert list(transaction.bisections.get(SITE, ["7", "9"])) == ["9"]
