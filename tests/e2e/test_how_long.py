"""How long it takes by the queue's own past, in the status, on the board and for a pull request."""

import re
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
from tests.e2e.test_machines import DEPLOY, WITH_MACHINES, post
from tests.support.bot_tester import MERGE_QUEUE, BotTester
from tests.support.clock import MovedClock
from tests.support.make import SITE
from tests.support.shown import Shown
from tests.support.waiting import until_true

pytestmark = [pytest.mark.e2e, OVER_HTTP]

MERGES = 16
TOOK = timedelta(minutes=20)
LATEST = timedelta(minutes=45)
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


def how_long(answer: Shown) -> str:
    """What a pull request added now takes, by the queue's past; empty if nothing is said."""
    found = re.search(r"a pull request added now takes about \d+ \w+", answer.words)
    return found[0] if found is not None else ""


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
    # The ends of checks are read for failures.
    bot = await start_bot(channels=f"acme/site={MERGE_QUEUE}:failure")
    before = await bot.ask("/mq status")
    assert "By this queue's past" not in before
    await merge_every_hour(bot, clock)

    status = await bot.ask("/mq status")
    assert "By this queue's past: a pull request added now takes about 20 min" in status
    board = await bot.publish("/mq board", "acme/site")
    await bot.open_home()
    home = await bot.home("By this queue's past")
    assert "By this queue's past: a pull request added now takes about 20 min" in home
    assert "By this queue's past: a pull request added now takes about 20 min" in board

    hanging = bot.enqueue(hangs=True)
    await bot.happens("action.queue.checks_start", hanging)
    why = await bot.ask(f"/mq why {hanging}")
    assert "By this queue's past in about 20 min" in why

    async def is_normal() -> bool:
        return "*acme/site is merging normally*" in await bot.ask("/mq why")

    await until_true(is_normal, "a queue that merges normally, by a log that has just been read")
    normally = await bot.ask("/mq why")
    behind_one = await bot.ask("/mq status")
    assert how_long(normally) == how_long(behind_one) != ""

    await bot.pause("now CI is down")
    paused = await bot.ask("/mq status")
    assert "By this queue's past" not in paused


async def test_before_a_pause_people_and_machines_see_the_same(
    start_bot: StartBot, clock: MovedClock
) -> None:
    bot = await start_bot(environment=WITH_MACHINES)
    await merge_every_hour(bot, clock)
    hanging = bot.enqueue(hangs=True)
    await bot.happens("action.queue.checks_start", hanging)
    question = await bot.ask("/mq pause CI is down")
    assert "By this queue's past: next merge" in question
    await bot.click(question, "Don't pause")
    await bot.shortcut()
    form = await bot.modal("By this queue's past: next merge")
    assert "1 queued" in form
    _, answer = await post(bot, "status", DEPLOY, target=SITE)
    (queue,) = answer["queues"]
    read_at = datetime.fromisoformat(queue["read_at"])
    for name in ("merge_expected_by_past", "added_now_expected_by_past"):
        assert read_at < datetime.fromisoformat(queue[name]["expected_at"]) <= read_at + LATEST
        assert queue[name]["earliest"] <= queue[name]["latest"]
    assert "By this queue's past: next merge" in answer["message"]

    await bot.pause("now CI is down")
    _, answer = await post(bot, "status", DEPLOY, target=SITE)
    (queue,) = answer["queues"]
    assert queue["merge_expected_by_past"] is None
    assert queue["added_now_expected_by_past"] is None
