"""Commands in direct messages: with the bot like in a channel, otherwise without buttons."""

import pytest

from tests.e2e.conftest import OVER_SOCKET_MODE
from tests.support.bot_tester import ALICE, BOB, BotTester

pytestmark = [pytest.mark.e2e, OVER_SOCKET_MODE]


def conversation(bot: BotTester, *people: str) -> str:
    """The id of the direct messages of two; of one person with the bot."""
    both = people if len(people) > 1 else (*people, bot.slack.installation.bot_user_id)
    return bot.slack.installation.workspace.direct_channel(*both).id


async def test_a_pause_in_a_direct_message_has_its_card_there(bot: BotTester) -> None:
    mine = conversation(bot, ALICE)
    card = await bot.pause("CI runners are down", channel=mine)
    assert card.labels == ["Resume queue", "Set an end…", "More actions"]
    await bot.click(card, "Resume queue")
    await bot.wait_for_change(card, "Resumed by")
    await bot.wait_for_post("has resumed", mine)
    assert bot.pause_reason() is None


async def test_a_direct_message_can_be_subscribed(bot: BotTester) -> None:
    mine = conversation(bot, ALICE)
    await bot.type("/mq subscribe enter", channel=mine)
    await bot.wait_for_post("acme/site", mine)
    number = bot.enqueue()
    await bot.wait_for_post(f"#{number}", mine)


async def test_a_pause_in_a_direct_message_has_no_buttons(bot: BotTester) -> None:
    bot.expected_refusals = {"conversations.info channel_not_found"}
    theirs = conversation(bot, ALICE, BOB)
    post = await bot.pause("CI runners are down", channel=theirs)
    assert post.labels == []
    assert bot.pause_reason() == "CI runners are down (by alice via Slack)"
    status = await bot.ask("/mq status", channel=theirs)
    await bot.click(status, "Resume queue")
    await bot.wait_for_post("has resumed", theirs)
    await bot.wait_for_change(status, "is running")


async def test_a_direct_message_gets_a_list_of_commands(bot: BotTester) -> None:
    mine = conversation(bot, ALICE)
    bot.slack.people.message(ALICE, mine, "good morning to all of you")
    notice = await bot.wait_for_direct_message("What I can do")
    assert "/mq pause" in notice
    bot.slack.people.message(ALICE, mine, "thanks")
    await bot.wait_for_direct_message("What I can do")
    assert len(bot.direct_messages(by=ALICE)) == 2
    assert bot.pause_reason() is None
