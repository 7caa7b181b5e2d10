"""How long it takes by the queue's own past, in the status, on the board and for a pull request."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest

from bot.log.rows import Events
from bot.merge_queue.event_types import LEAVE, MERGED
from bot.store.engines import create_engine
from bot.store.transaction import Transaction
from bot.store.transactions import Store
from tests.e2e.conftest import OVER_HTTP, StartBot
from tests.support.bot_tester import BotTester
from tests.support.clock import MovedClock
from tests.support.make import SITE
from tests.support.waiting import until_true

pytestmark = [pytest.mark.e2e, OVER_HTTP]

MERGES = 16
TOOK = timedelta(minutes=20)
HOUR = 3600
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


async def merge_every_hour(bot: BotTester, clock: MovedClock) -> None:
    """Pull requests that each took twenty minutes, with the queue to themselves."""
    for number in range(1000, 1000 + MERGES):
        queued_at = (clock.now() - TOOK).isoformat()
        metadata = {"queued_at": queued_at, "merged": True, "dequeue_code": "PR_MERGED"}
        bot.emit(LEAVE, number, metadata=metadata)
        bot.emit(MERGED, number, metadata=metadata)
        await bot.pass_time(HOUR)
    async with bot_store(bot) as store:
        await until_true(lambda: store.read(has_all), "all merges in the store")


def has_all(transaction: Transaction) -> bool:
    return len(Events(transaction).newest(SITE, MERGED, LONG_AGO)) == MERGES


@asynccontextmanager
async def bot_store(bot: BotTester) -> AsyncIterator[Store]:
    store = Store(create_engine(bot.database_url))
    try:
        yield store
    finally:
        await store.close()


async def test_the_queues_own_past_says_how_long_it_takes(
    start_bot: StartBot, clock: MovedClock
) -> None:
    bot = await start_bot()
    before = await bot.ask("/mq status")
    assert "By this queue's past" not in before
    await merge_every_hour(bot, clock)

    status = await bot.ask("/mq status")
    assert "By this queue's past: a pull request added now takes about 20 min" in status
    board = await bot.publish("/mq board", "acme/site")
    assert "By this queue's past: a pull request added now takes about 20 min" in board

    hanging = bot.enqueue(hangs=True)
    await bot.happens("action.queue.checks_start", hanging)
    why = await bot.ask(f"/mq why {hanging}")
    assert "By this queue's past in about 20 min" in why

    await bot.pause("now CI is down")
    paused = await bot.ask("/mq status")
    assert "By this queue's past" not in paused
