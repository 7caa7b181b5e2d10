"""Positions: the bookmark of each repository, exact to the microsecond."""

from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from bot.log.position import Walk, first_position
from bot.log.rows import Positions
from bot.merge_queue.window import Window
from bot.store.engines import as_store_errors
from bot.store.transaction import Transaction
from tests.support.stored import NOW, SHOP, SITE, after


def test_a_position_comes_back_as_it_was_saved_in_utc(transaction: Transaction) -> None:
    eastern = NOW.astimezone(timezone(timedelta(hours=-5)))
    resting = first_position(SITE, eastern)
    walk = Walk(Window(NOW, after(0.000001)), cursor="opaque==", newest=after(-1))
    walking = replace(first_position(SHOP, after(1)), walk=walk)
    Positions(transaction).save(resting)
    Positions(transaction).save(walking)
    loaded = Positions(transaction).load([SHOP, SITE])

    assert loaded == {SITE: resting, SHOP: walking}
    assert loaded[SITE].origin == NOW
    assert loaded[SITE].origin.utcoffset() == timedelta(0)
    naive = datetime(2026, 3, 1)  # noqa: DTZ001  # the naive time is what is tested
    with pytest.raises(ValueError, match="aware"), as_store_errors():
        Positions(transaction).save(first_position(SITE, naive))
