"""The service's clock goes minutes ahead of or behind ours: nothing is lost, nothing told twice."""

import pytest

from tests.e2e.conftest import StartBot
from tests.support.bot_tester import MERGE_QUEUE
from tests.support.clock import MovedClock

pytestmark = pytest.mark.e2e

MINUTES = 240
"""Within what Slack's signatures allow, so that both ways of hearing Slack work."""


@pytest.mark.parametrize("ours_is_ahead_by", [MINUTES, -MINUTES])
async def test_every_event_is_told_once_whatever_the_clocks_say(
    start_bot: StartBot, clock: MovedClock, ours_is_ahead_by: int
) -> None:
    clock.advance(ours_is_ahead_by)
    bot = await start_bot(channels=f"acme/site={MERGE_QUEUE}:enter,pause,style:feed")
    numbers = [bot.enqueue()]
    await bot.wait_for_post(f"#{numbers[0]}")
    await bot.stop_bot()
    numbers += [bot.enqueue(), bot.enqueue()]
    await bot.start_bot()
    for number in numbers[1:]:
        await bot.wait_for_post(f"#{number}")
    bot.merge_queue.pause("acme/site", "Database migration", by="carol")
    await bot.wait_for_post("Database migration")
    told = [one for one in bot.posts() if "Queued" in one]
    assert [next(each for each in numbers if f"#{each}" in one) for one in told] == numbers
