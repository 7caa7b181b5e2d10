"""Slack's rate limits are shared between processes, by the database's clock."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing

import pytest

from bot.store.engines import sqlite_path
from bot.store.slack_limits import SlackLimits
from bot.store.transactions import Store
from tests.support.databases import TestDatabase

HOUR = 3600


async def close(store: Store, name: str, seconds: float) -> None:
    await store.run(lambda transaction: SlackLimits(transaction).close(name, seconds))


async def closed(store: Store) -> Mapping[str, float]:
    return await store.run(lambda transaction: SlackLimits(transaction).closed())


async def test_the_later_of_two_ends_holds(store: Store) -> None:
    for seconds in (30, 10, 20):
        await close(store, "views.open", seconds)
    assert 25 < (await closed(store))["views.open"] <= 30
    await close(store, "views.open", 60)
    assert 55 < (await closed(store))["views.open"] <= 60


@pytest.mark.parametrize("any_database", ["sqlite"], indirect=True)
async def test_a_limit_stored_with_a_wrong_clock_blocks_nothing(database: TestDatabase) -> None:
    """Only the clock of a file is that of the machine."""
    store = database.open_store()
    await close(store, "views.open", 5)
    with closing(sqlite3.connect(sqlite_path(database.url))) as file, file:
        file.execute(
            "UPDATE slack_limits SET met_at = met_at + ?1, until = until + ?1", [HOUR * 1_000_000]
        )
    assert await closed(store) == {}

    await close(store, "views.open", 5)
    assert 3 < (await closed(store))["views.open"] <= 5
