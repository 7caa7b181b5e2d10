"""Slack refuses posts to a channel: they are kept, shown as waiting, and resume."""

from dataclasses import replace

import pytest

from tests.e2e.conftest import OVER_HTTP, StartBot
from tests.support.bot_tester import ALICE, INCIDENTS, MERGE_QUEUE, RELEASES, BotTester
from tests.support.clock import MovedClock

pytestmark = [pytest.mark.e2e, OVER_HTTP]

LOOKED_AT_AGAIN = 121
MOVED = "C0MOVED"


async def refused_bot(start_bot: StartBot, code: str) -> BotTester:
    bot = await start_bot(channels=f"acme/site={MERGE_QUEUE}:enter;acme/site={RELEASES}:enter")
    bot.expected_errors.add("post_refused")
    bot.expected_refusals = {f"chat.postMessage {code}"}
    return bot


async def is_posted_when_fixed(bot: BotTester, numbers: list[int]) -> None:
    """In order, once, without a restart; the Home tab no longer names the channel."""
    await bot.pass_time(LOOKED_AT_AGAIN)
    for number in numbers:
        await bot.wait_for_post(f"#{number}", MERGE_QUEUE)
    assert len(bot.posts()) == len(numbers)
    shown = [next(one for one in numbers if f"#{one}" in post) for post in bot.posts()]
    assert shown == numbers
    # What Slack shows already may not be known to the bot yet.
    await bot.has_posted()
    await bot.open_home()
    await bot.home("is running", without="Slack refuses posts")


async def test_a_reopened_channel_gets_everything_it_missed(start_bot: StartBot) -> None:
    bot = await refused_bot(start_bot, "is_archived")
    bot.expected_refusals.add("conversations.join is_archived")
    bot.slack.arrangement.change_channel(MERGE_QUEUE, {"is_archived": True})
    numbers = [bot.enqueue(), bot.enqueue()]
    for number in numbers:
        await bot.wait_for_post(f"#{number}", RELEASES)
    await bot.logged("post_refused")
    home = await bot.see_home("Slack refuses posts")
    assert "is_archived" in home
    assert bot.posts() == []
    bot.slack.arrangement.change_channel(MERGE_QUEUE, {"is_archived": False})
    await is_posted_when_fixed(bot, numbers)


async def test_deliveries_kept_during_a_token_revocation_are_posted(start_bot: StartBot) -> None:
    bot = await refused_bot(start_bot, "token_revoked")
    bot.break_slack("refuse", "chat.postMessage", code="token_revoked", times=2)
    number = bot.enqueue()
    await bot.logged("post_refused")
    # Nothing is wrong with the channel.
    home = await bot.see_home("the app has to be installed again")
    assert "End its subscriptions" not in home
    await bot.pass_time(LOOKED_AT_AGAIN)
    await bot.wait_for_post(f"#{number}", RELEASES)
    await is_posted_when_fixed(bot, [number])


async def test_a_channel_slower_than_every_lease_is_reopened(
    start_bot: StartBot, clock: MovedClock
) -> None:
    bot = await refused_bot(start_bot, "token_revoked")
    bot.break_slack("refuse", "chat.postMessage", code="token_revoked", times=2)
    number = bot.enqueue()
    await bot.logged("post_refused")
    bot.break_slack("slow", "chat.postMessage", seconds=3.0, times=2)
    await bot.pass_time(LOOKED_AT_AGAIN)
    await bot.struck("slow", times=2)
    clock.advance(LOOKED_AT_AGAIN)
    for channel in (MERGE_QUEUE, RELEASES):
        await bot.wait_for_post(f"#{number}", channel)
    await bot.has_posted()
    await bot.open_home()
    await bot.home("is running", without="Slack refuses posts")
    assert [len(bot.posts(one)) for one in (MERGE_QUEUE, RELEASES)] == [1, 1]
    assert "post_found" not in bot.logged_actions(), "what Slack said was known, and thrown away"


async def test_a_private_channel_gets_everything_once_the_bot_is_back(start_bot: StartBot) -> None:
    bot = await start_bot(channels=f"acme/site={INCIDENTS}:enter")
    bot.expected_errors.add("post_refused")
    bot.expected_refusals = {
        "chat.postMessage channel_not_found",
        "conversations.info channel_not_found",
    }
    number = bot.enqueue()
    await bot.logged("post_refused")
    me = bot.slack.installation.bot_user_id
    bot.slack.arrangement.set_member(INCIDENTS, me, is_member=True)
    await bot.pass_time(LOOKED_AT_AGAIN)
    await bot.wait_for_post(f"#{number}", INCIDENTS, by=ALICE)


async def test_a_channel_whose_id_changed_stays_subscribed_and_its_card_up_to_date(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(channels=f"acme/site={MERGE_QUEUE}:enter,pause,style:feed")
    bot.merge_queue.pause("acme/site", "Database migration", by="carol")
    card = await bot.wait_for_post("is paused")
    card = await bot.wait_for_change(card, "By carol · Since")
    card = await bot.wait_for_change(card, "0 queued")

    bot.slack.arrangement.change_channel_id(MERGE_QUEUE, MOVED)
    await bot.logged("channel_renamed")
    assert bot.merge_queue.resume("acme/site", by="dave")
    number = bot.enqueue()

    await bot.wait_for_post(f"#{number}", MOVED)
    await bot.wait_for_post("has resumed", MOVED)
    await bot.wait_for_change(replace(card, channel=MOVED), "Resumed by dave")
    assert len(bot.posts(MOVED)) == 3


async def test_subscriptions_of_an_archived_channel_end_from_home(start_bot: StartBot) -> None:
    bot = await start_bot(channels=f"acme/site={RELEASES}:enter")
    bot.expected_errors.add("post_refused")
    bot.expected_refusals = {
        "chat.postMessage is_archived",
        "conversations.join is_archived",
    }
    await bot.publish("/mq subscribe enter", "Subscribed this channel")
    bot.slack.arrangement.change_channel(MERGE_QUEUE, {"is_archived": True})
    number = bot.enqueue()
    await bot.wait_for_post(f"#{number}", RELEASES)
    await bot.logged("post_refused")
    home = await bot.see_home("Slack refuses posts")
    await bot.click(home, "End its subscriptions")
    await bot.wait_for_direct_message("is no longer subscribed to acme/site")
    await bot.home("is running", without="Slack refuses posts")


async def test_what_waits_for_an_archived_channel_without_subscriptions_ends_too(
    start_bot: StartBot,
) -> None:
    """A pause was made there; nobody can hear there any more that it ended."""
    bot = await start_bot(channels="")
    bot.expected_errors.add("post_refused")
    card = await bot.pause("deploying")
    await bot.wait_for_change(card, "0 queued")
    bot.slack.arrangement.change_channel(MERGE_QUEUE, {"is_archived": True})
    bot.expected_refusals = {
        "chat.postMessage is_archived",
        "chat.update is_inactive",
        "conversations.join is_archived",
    }
    assert bot.merge_queue.resume("acme/site", by="dave")
    await bot.logged("post_refused")
    home = await bot.see_home("Slack refuses posts")
    await bot.click(home, "End its subscriptions")
    await bot.home("is running", without="Slack refuses posts")
    await bot.wait_for_direct_message("I dropped the messages waiting for it", by=ALICE)
    await bot.wait_for_direct_message("dave resumed acme/site", by=ALICE)
