"""Positions: the bookmark of each repository, exact to the microsecond."""

from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from bot.domain.event_log import Walk, Window, first_position
from bot.store.transactions import Store
from tests.support.stored import NOW, SHOP, SITE, after
from tests.support.transactions import begin


async def test_a_position_comes_back_as_it_was_saved(store: Store) -> None:
    resting = first_position(SITE, NOW)
    walk = Walk(Window(NOW, after(0.000001)), cursor="opaque==", newest=after(-1))
    walking = replace(first_position(SHOP, after(1)), walk=walk)
    with begin(store) as transaction:
        transaction.positions.save(resting)
        transaction.positions.save(walking)
    with begin(store) as transaction:
        loaded = transaction.positions.load([SHOP, SITE])

    assert loaded == {SITE: resting, SHOP: walking}


async def test_times_from_other_zones_come_back_in_utc(store: Store) -> None:
    eastern = NOW.astimezone(timezone(timedelta(hours=-5)))
    with begin(store) as transaction:
        transaction.positions.save(first_position(SITE, eastern))
    with begin(store) as transaction:
        loaded = transaction.positions.load([SITE])

    assert loaded[SITE].origin == NOW
    assert loaded[SITE].origin.utcoffset() == timedelta(0)


async def test_a_naive_time_is_refused(store: Store) -> None:
    naive = datetime(2026, 3, 1)  # noqa: DTZ001  # the naive time is what is tested
    with pytest.raises(ValueError, match="aware"), begin(store) as transaction:
        transaction.positions.save(first_position(SITE, naive))
