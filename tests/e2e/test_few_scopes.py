"""An app that was granted only the scopes without which the bot can't work."""

import pytest

from tests.e2e.conftest import StartBot
from tests.support.bot_tester import ALICE, BOB, MERGE_QUEUE, BotTester

pytestmark = pytest.mark.e2e


@pytest.fixture
async def bot(start_bot: StartBot) -> BotTester:
    """Nobody but people can bring it into a channel."""
    bot = await start_bot(is_minimal=True, channels="")
    bot.expected_refusals = {"users.conversations missing_scope"}
    return bot


def invite(bot: BotTester) -> None:
    bot_user = bot.slack.installation.bot_user_id
    bot.slack.arrangement.set_member(MERGE_QUEUE, bot_user, is_member=True)


async def test_the_log_names_the_cost_of_each_missing_scope(bot: BotTester) -> None:
    lost = {
        record.scope: record.lost  # type: ignore[attr-defined]  # the fields of these records
        for record in bot.log.records
        if getattr(record, "action", None) == "scope_missing"
    }
    assert "a post may be missing if Slack's answer" in lost["channels:history"]
    assert "direct messages" in lost["im:write"]
    assert "chat:write" not in lost


async def test_people_subscribe_pause_and_resume(bot: BotTester) -> None:
    invite(bot)
    await bot.publish("/mq subscribe enter pause", "Subscribed")
    card = await bot.pause("CI runners are down", by=ALICE)
    await bot.click(card, "Resume queue", by=BOB)
    await bot.wait_for_post("has resumed")
    # The direct message to the person who paused.
    bot.expected_refusals |= {"conversations.open missing_scope"}
    number = bot.enqueue()
    await bot.wait_for_post(f"#{number}")
    assert "is running" in await bot.ask("/mq status")


async def test_a_private_channel_gets_posts_without_buttons_that_stay_up_to_date(
    bot: BotTester,
) -> None:
    added = bot.slack.arrangement.add_channel("secret", [ALICE], is_private=True)
    channel = added["channel"]
    bot_user = bot.slack.installation.bot_user_id
    bot.slack.arrangement.set_member(channel, bot_user, is_member=True)
    bot.expected_refusals |= {"conversations.info missing_scope"}
    await bot.type("/mq subscribe pause", channel=channel)
    await bot.wait_for_post("Subscribed", channel)
    bot.merge_queue.pause("acme/site", "Night", by="carol")
    card = await bot.wait_for_post("is paused", channel)
    assert card.labels == []
    bot.enqueue()
    await bot.wait_for_change(card, "1 queued")


async def test_a_post_whose_answer_is_lost_holds_nothing_up_and_is_not_repeated(
    bot: BotTester,
) -> None:
    invite(bot)
    await bot.publish("/mq subscribe enter", "Subscribed")
    bot.expected_errors = {"given_up"}
    bot.expected_refusals |= {"conversations.history missing_scope"}
    bot.break_slack("drop_after_accept", "chat.postMessage")
    first = bot.enqueue()
    await bot.wait_for_post(f"#{first}")
    second = bot.enqueue()
    await bot.wait_for_post(f"#{second}")
    await bot.has_posted()
    assert len([post for post in bot.posts() if f"#{first}" in post]) == 1
