"""What one process is told of Slack's limits, others know."""

from collections.abc import Mapping
from datetime import datetime

from bot.ports import Store
from tests.support.databases import TestDatabase
from tests.support.stored import after


async def close(store: Store, method: str, seconds: float) -> None:
    async with store.begin() as transaction:
        await transaction.slack_limits.close(method, after(seconds))


async def closed(store: Store, seconds: float = 0) -> Mapping[str, datetime]:
    async with store.begin() as transaction:
        return await transaction.slack_limits.closed(after(seconds))


async def test_what_one_closes_is_closed_to_another_until_its_time(database: TestDatabase) -> None:
    one, two = database.open_store(), database.open_store()
    assert await closed(two) == {}
    await close(one, "views.open", 30)
    await close(one, "users.info", 10)
    assert await closed(two) == {"views.open": after(30), "users.info": after(10)}
    assert await closed(two, 10) == {"views.open": after(30)}
    assert await closed(two, 30) == {}


async def test_the_later_of_two_times_holds(store: Store) -> None:
    for seconds in (30, 10, 20):
        await close(store, "views.open", seconds)
    assert await closed(store) == {"views.open": after(30)}
    await close(store, "views.open", 60)
    assert await closed(store, 40) == {"views.open": after(60)}
