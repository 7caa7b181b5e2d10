"""Slack limits the rate of posts: nobody waits for it who need not."""

import pytest

from tests.e2e.conftest import StartBot
from tests.support.bot_tester import BOB, MERGE_QUEUE, RELEASES
from tests.support.clock import MovedClock

pytestmark = pytest.mark.e2e

HEARING = f"acme/site={MERGE_QUEUE}:enter,style:feed;acme/site={RELEASES}:enter,style:feed"
LIMITED = {"chat.postMessage rate_limit"}
HOUR = 3600


async def test_a_limit_in_one_channel_keeps_no_other_waiting(start_bot: StartBot) -> None:
    bot = await start_bot(channels=HEARING)
    bot.expected_refusals = LIMITED
    bot.break_slack("rate_limit", "chat.postMessage", channel=RELEASES, retry_after=300)
    numbers = [bot.enqueue()]
    await bot.wait_for_post(f"#{numbers[0]}")
    await bot.struck("rate_limit")
    numbers.append(bot.enqueue())
    await bot.wait_for_post(f"#{numbers[1]}")
    assert bot.posts(RELEASES, by=BOB) == []


async def test_a_limit_met_while_the_clock_was_wrong_silences_nobody_after_that(
    start_bot: StartBot, clock: MovedClock
) -> None:
    clock.advance(HOUR)
    bot = await start_bot(channels=HEARING)
    bot.expected_refusals = LIMITED
    bot.break_slack("rate_limit", "chat.postMessage", channel=RELEASES, retry_after=2)
    bot.break_slack("rate_limit", "chat.postMessage", channel=MERGE_QUEUE, retry_after=2)
    first = bot.enqueue()
    await bot.struck("rate_limit", 2)
    await bot.stop_bot()
    clock.advance(-HOUR)
    await bot.start_bot()

    for channel, by in ((MERGE_QUEUE, "U0ALICE"), (RELEASES, BOB)):
        await bot.wait_for_post(f"#{first}", channel, by=by)
