"""Reminders of a pause that goes on: the pauser first, then the channel, until it is lifted."""

import pytest

from tests.e2e.conftest import OVER_HTTP, StartBot
from tests.support.bot_tester import ALICE, BOB, MERGE_QUEUE, BotTester

pytestmark = [pytest.mark.e2e, OVER_HTTP, pytest.mark.usefixtures("hurried_reminders")]

HALF_HOUR, HOUR = 1801, 3601


async def test_the_pauser_is_reminded_first_and_then_the_channel(bot: BotTester) -> None:
    await bot.type("/mq pause CI runners are down")
    await bot.wait_for_post("Queue paused")
    await bot.pass_time(HALF_HOUR)
    mine = await bot.wait_for_direct_message("still paused", by=ALICE)
    assert mine.labels == ["Resume queue", "Snooze", "Set an end…"]
    # Whoever reads it later reads when, and not how long ago that was once.
    assert "paused by alice since " in mine
    assert " ago" not in mine
    await bot.pass_time(HOUR)
    assert "CI runners are down" in await bot.wait_for_post("still paused")


async def test_a_snooze_puts_the_next_reminder_off(bot: BotTester) -> None:
    await bot.type("/mq pause CI runners are down")
    await bot.wait_for_post("Queue paused")
    await bot.pass_time(HALF_HOUR)
    mine = await bot.wait_for_direct_message("still paused", by=ALICE)
    await bot.click(mine, "Snooze", by=ALICE)
    await bot.wait_for_reply("No reminder of acme/site before", by=ALICE, channel=mine.channel)
    await bot.pass_time(HOUR)
    await bot.ask("/mq status")
    assert not [one for one in bot.posts() if "still paused" in one]
    await bot.pass_time(HOUR)
    await bot.wait_for_post("still paused")


async def test_a_snooze_of_a_pause_that_was_replaced_tells_of_the_one_in_force(
    bot: BotTester,
) -> None:
    await bot.type("/mq pause CI runners are down")
    await bot.wait_for_post("Queue paused")
    await bot.pass_time(HALF_HOUR)
    mine = await bot.wait_for_direct_message("still paused", by=ALICE)
    other = await bot.ask("/mq pause deploying 4.2", by=BOB)
    await bot.click(other, "Replace reason", by=BOB)
    await bot.wait_for_post("deploying 4.2")
    await bot.wait_for_direct_message("replaced your pause", by=ALICE)
    await bot.click(mine, "Snooze", by=ALICE)
    told = await bot.wait_for_reply("That pause is over", by=ALICE, channel=mine.channel)
    assert "is now paused by bob" in told
    # Only the bot's clock was moved: by it, bob's pause is half an hour old too, and he may have
    # been reminded by now.
    bot.direct_messages(by=BOB)


async def test_nobody_is_reminded_of_a_pause_that_was_lifted_on_the_dashboard(
    bot: BotTester,
) -> None:
    await bot.type("/mq pause CI runners are down")
    await bot.wait_for_post("Queue paused")
    bot.merge_queue.resume("acme/site", by="carol")
    await bot.wait_for_post("Queue resumed")
    await bot.wait_for_direct_message("carol resumed acme/site outside Slack")
    await bot.pass_time(HALF_HOUR)
    await bot.ask("/mq status")
    assert bot.posts()[-1].line.startswith("Queue resumed")


async def test_the_subscribers_are_reminded_of_a_pause_made_elsewhere(start_bot: StartBot) -> None:
    bot = await start_bot(channels=f"acme/site={MERGE_QUEUE}:pause")
    bot.merge_queue.pause("acme/site", "Database migration", by="carol")
    await bot.wait_for_post("Queue paused", by=BOB)
    await bot.pass_time(HALF_HOUR)
    assert "Database migration" in await bot.wait_for_post("still paused")


async def test_nobody_is_reminded_of_a_pause_about_to_lift_itself(bot: BotTester) -> None:
    await bot.type("/mq pause 33m deploying 4.2")
    await bot.wait_for_post("Queue paused")
    await bot.pass_time(HALF_HOUR)
    await bot.ask("/mq status")
    await bot.pass_time(180)
    await bot.wait_for_post("Queue resumed")


async def test_reminders_can_be_switched_off(start_bot: StartBot) -> None:
    bot = await start_bot(environment={"MQBOT_REMINDER_MINUTES": "0"})
    await bot.type("/mq pause CI runners are down")
    await bot.wait_for_post("Queue paused")
    await bot.pass_time(4 * HOUR)
    await bot.ask("/mq status")
    assert bot.posts()[-1].line.startswith("Queue paused")
