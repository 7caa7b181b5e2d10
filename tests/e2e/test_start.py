"""A start: each part begins as soon as it can, without waiting for the others."""

import asyncio

import pytest

from tests.support.bot_tester import RELEASES, BotTester
from tests.support.waiting import until

pytestmark = pytest.mark.e2e


async def test_event_logs_are_polled_while_slack_refuses_connections(sqlite_url: str) -> None:
    channels = f"acme/site={RELEASES}:enter"
    # A slow start is refused often enough to say that nobody is reached, which is true.
    async with BotTester(sqlite_url, channels=channels, expected_errors={"socket_deaf"}) as bot:
        await bot.stop_bot()
        bot.slack.faults.arm({"name": "refuse_handshake", "times": 1000})
        number = bot.enqueue()
        starting = asyncio.create_task(bot.start_bot())
        await bot.wait_for_post(f"#{number}", RELEASES)
        assert not starting.done()
        assert bot.slack.delivery.connections == 0
        bot.slack.faults.disarm()
        await starting
        await bot.ask("/mq status")


async def test_a_start_cancelled_while_slack_is_away_leaves_nothing_behind(sqlite_url: str) -> None:
    async with BotTester(sqlite_url) as bot:
        await bot.stop_bot()
        bot.slack.faults.arm({"name": "refuse_handshake", "times": 1000})
        before = asyncio.all_tasks()
        starting = asyncio.create_task(bot.start_bot())
        await until(lambda: "socket_failed" in bot.logged_actions(), "a refused connection")
        starting.cancel()
        await asyncio.wait([starting])
        assert starting.cancelled()
        await until(lambda: asyncio.all_tasks() <= before, "no task of the bot")
        bot.slack.faults.disarm()
