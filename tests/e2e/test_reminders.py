"""Reminders of a pause: the person who paused first, then the channel, until it ends."""

import pytest

from tests.e2e.conftest import OVER_HTTP, StartBot
from tests.support.bot_tester import ALICE, BOB, MERGE_QUEUE, BotTester

pytestmark = [pytest.mark.e2e, OVER_HTTP, pytest.mark.usefixtures("hurried_reminders")]

HALF_HOUR = 1801
HOUR = 3601


async def test_a_channel_has_one_reminder_which_later_ones_edit(bot: BotTester) -> None:
    card = await bot.pause("CI runners are down")
    await bot.pass_time(HALF_HOUR)
    mine = await bot.wait_for_direct_message("still paused", by=ALICE)
    assert "Asking" not in mine
    assert mine.labels == ["Resume queue", "Snooze 2 h", "Set an end…"]
    # People who read it later read when, and not how long ago that was once.
    assert "By alice · Since " in mine
    assert " ago" not in mine
    await bot.pass_time(HOUR)
    reminder = await bot.wait_for_post("is still paused* after 1 h 30 min")
    assert "Asking alice and this channel" in reminder
    assert "CI runners are down" in reminder
    assert [message.ts for message in bot.thread(card)] == [reminder.ts]

    bot.enqueue()
    await bot.pass_time(2 * HOUR)
    later = await bot.wait_for_change(reminder, "is still paused* after 3 h 30 min")
    assert later.labels == ["Resume queue", "Snooze 8 h", "Set an end…"]
    assert len(bot.posts()) == 2

    await bot.resume(by=BOB)
    await bot.wait_for_direct_message("bob resumed acme/site")
    over = await bot.wait_for_change(reminder, "bob resumed acme/site")
    assert over.labels == []


async def test_a_snooze_postpones_the_next_reminder_and_clicking_twice_counts_once(
    bot: BotTester,
) -> None:
    await bot.pause("CI runners are down")
    await bot.pass_time(HALF_HOUR)
    mine = await bot.wait_for_direct_message("still paused", by=ALICE)
    for _ in range(2):
        await bot.click(mine, "Snooze 2 h", by=ALICE)
        notice = await bot.wait_for_reply(
            "No reminders about acme/site before", channel=mine.channel
        )
        assert "<!date^" in str(notice.blocks)
    await bot.pass_time(HOUR)
    await bot.ask("/mq status")
    assert not [post for post in bot.posts() if "still paused" in post]
    await bot.pass_time(HOUR)
    await bot.wait_for_post("still paused")


async def test_a_changed_end_is_shown_in_the_reminder(bot: BotTester) -> None:
    card = await bot.pause("CI runners are down")
    await bot.pass_time(HALF_HOUR)
    await bot.wait_for_direct_message("still paused", by=ALICE)
    await bot.pass_time(HOUR)
    reminder = await bot.wait_for_post("*acme/site is still paused* after 1 h 30 min")
    await bot.choose(reminder, "in 1 h", menu="Set an end…", by=BOB)
    await bot.wait_for_direct_message("bob changed the end of your pause")
    await bot.wait_in_thread(card, "changed the end")
    await bot.wait_for_change(card, "Until 20")
    await bot.wait_for_change(reminder, "Until 20")
    assert len(bot.posts()) == 2


async def test_a_snooze_of_a_pause_that_was_replaced_shows_the_one_in_force(bot: BotTester) -> None:
    card = await bot.pause("CI runners are down")
    await bot.pass_time(HALF_HOUR)
    mine = await bot.wait_for_direct_message("still paused", by=ALICE)
    other = await bot.ask("/mq pause deploying 4.2", by=BOB)
    await bot.click(other, "Replace reason", by=BOB)
    await bot.wait_in_thread(card, "deploying 4.2")
    await bot.wait_for_direct_message("replaced your pause", by=ALICE)
    await bot.click(mine, "Snooze 2 h", by=ALICE)
    notice = await bot.wait_for_reply("That pause is over", by=ALICE, channel=mine.channel)
    assert "is now paused by bob" in notice
    await bot.stop_bot()
    # Only the bot's clock was moved: by it, bob's pause is half an hour old too, and he may have
    # been reminded by now.
    bot.direct_messages(by=BOB)


async def test_nobody_is_reminded_of_a_pause_that_was_resumed_on_the_dashboard(
    bot: BotTester,
) -> None:
    await bot.pause("CI runners are down")
    bot.merge_queue.resume("acme/site", by="carol")
    await bot.wait_for_post("has resumed")
    await bot.wait_for_direct_message("carol resumed acme/site outside Slack")
    await bot.pass_time(HALF_HOUR)
    await bot.ask("/mq status")
    assert bot.posts()[-1].line.startswith("acme/site has resumed")


async def test_the_subscribers_are_reminded_of_a_pause_made_elsewhere(start_bot: StartBot) -> None:
    bot = await start_bot(channels=f"acme/site={MERGE_QUEUE}:pause")
    bot.merge_queue.pause("acme/site", "Database migration", by="carol")
    await bot.wait_for_post("is paused", by=BOB)
    await bot.pass_time(HALF_HOUR)
    assert "Database migration" in await bot.wait_for_post("still paused")


async def test_nobody_is_reminded_of_a_pause_about_to_resume_by_itself(bot: BotTester) -> None:
    await bot.pause("33m deploying 4.2")
    await bot.pass_time(HALF_HOUR)
    await bot.ask("/mq status")
    await bot.pass_time(180)
    await bot.wait_for_post("has resumed")


async def test_reminders_can_be_switched_off(start_bot: StartBot) -> None:
    bot = await start_bot(environment={"MQBOT_REMINDER_MINUTES": "0"})
    await bot.pause("CI runners are down")
    await bot.pass_time(4 * HOUR)
    await bot.ask("/mq status")
    assert bot.posts()[-1].line.startswith("acme/site is paused")
