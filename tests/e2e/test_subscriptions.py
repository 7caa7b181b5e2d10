"""Who hears about what: subscribing, unsubscribing, the list, and the configuration."""

import pytest

from tests.e2e.conftest import StartBot
from tests.support.bot_tester import BOB, GENERAL, INCIDENTS, MERGE_QUEUE, RELEASES, BotTester

pytestmark = pytest.mark.e2e


async def test_subscribing_tells_the_channel_which_topics_it_now_hears(bot: BotTester) -> None:
    await bot.type("/mq subscribe")
    post = await bot.wait_for_post("This channel now hears about acme/site", by=BOB)
    assert "enter, merge, failure, pause" in post
    answer = await bot.ask("/mq subscriptions")
    assert "• *acme/site*: enter, merge, failure, pause" in answer


async def test_subscribing_to_one_topic_turns_on_that_one_only(bot: BotTester) -> None:
    await bot.type("/mq subscribe acme/site merge")
    await bot.wait_for_post("now hears about acme/site: merge")
    number = await bot.merge()
    post = await bot.wait_for_post(f"#{number}")
    assert post.words.startswith(":white_check_mark: *Merged*")
    assert [one.line for one in bot.posts()][1:] == [post.line]


async def test_a_second_subscription_adds_its_topics(bot: BotTester) -> None:
    await bot.type("/mq subscribe merge")
    await bot.wait_for_post(": merge")
    await bot.type("/mq subscribe failure, dequeue")
    await bot.wait_for_post(": merge, failure, dequeue")


async def test_a_single_event_type_is_a_topic_too(bot: BotTester) -> None:
    await bot.type("/mq subscribe action.queue.checks_start")
    await bot.wait_for_post("`action.queue.checks_start`")
    number = bot.enqueue(hangs=True)
    await bot.wait_for_post(f"*Checks started* #{number}")


async def test_all_topics_can_be_asked_for_at_once(bot: BotTester) -> None:
    await bot.type("/mq subscribe all")
    topics = "enter, checks, merge, failure, dequeue, batch, pause, freeze, command, ci"
    await bot.wait_for_post(topics)


async def test_unsubscribing_is_the_mirror_of_subscribing(bot: BotTester) -> None:
    await bot.type("/mq subscribe")
    await bot.wait_for_post("now hears about")
    await bot.type("/mq unsubscribe acme/site enter pause")
    await bot.wait_for_post("now hears only this about acme/site: merge, failure")
    await bot.type("/mq unsubscribe")
    await bot.wait_for_post("no longer hears about acme/site")
    answer = await bot.ask("/mq subscriptions")
    assert answer.words.startswith("This channel hears about nothing yet.")
    answer = await bot.ask("/mq unsubscribe")
    assert answer.words == "This channel was not subscribed to acme/site. Nothing to do."


async def test_after_unsubscribing_nothing_more_is_posted(start_bot: StartBot) -> None:
    bot = await start_bot(channels=f"acme/site={RELEASES}:enter")
    await bot.type("/mq subscribe enter")
    await bot.wait_for_post("now hears about")
    first = bot.enqueue()
    await bot.wait_for_post(f"#{first}")
    await bot.wait_for_post(f"#{first}", RELEASES)
    await bot.type("/mq unsubscribe")
    await bot.wait_for_post("no longer hears")
    second = bot.enqueue()
    await bot.wait_for_post(f"#{second}", RELEASES)
    assert len(bot.posts(MERGE_QUEUE)) == 3


async def test_an_unknown_topic_is_named_with_those_there_are(bot: BotTester) -> None:
    answer = await bot.ask("/mq subscribe acme/site merges")
    assert "There is no topic “merges”. Topics are enter, checks, merge, failure" in answer
    assert "Usage: `/mq subscribe [owner/name] [topic …]`" in answer
    assert bot.posts() == []


async def test_a_configured_subscription_cannot_be_removed_by_command(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(channels=f"acme/site={MERGE_QUEUE}:enter,failure")
    answer = await bot.ask("/mq subscriptions")
    assert "• *acme/site*: enter, failure (from the configuration)" in answer
    answer = await bot.ask("/mq unsubscribe")
    assert "comes from the bot's configuration (MQBOT_CHANNELS)" in answer
    number = bot.enqueue()
    await bot.wait_for_post(f"#{number}")


async def test_one_subscribed_twice_hears_everything_once(start_bot: StartBot) -> None:
    bot = await start_bot(channels=f"acme/site={MERGE_QUEUE}:enter")
    await bot.type("/mq subscribe enter merge")
    await bot.wait_for_post("now hears about acme/site: enter, merge")
    number = await bot.merge()
    await bot.wait_for_post(f"*Queued* #{number}")
    await bot.wait_for_post(f"*Merged* #{number}")
    assert len(bot.posts()) == 3


async def test_what_was_subscribed_outlives_a_restart(bot: BotTester) -> None:
    await bot.type("/mq subscribe enter", channel=GENERAL)
    await bot.wait_for_post("now hears about", GENERAL)
    await bot.stop_bot()
    number = bot.enqueue()
    await bot.start_bot()
    await bot.wait_for_post(f"#{number}", GENERAL)


async def test_a_private_channel_without_the_bot_is_told_how_to_invite_it(
    bot: BotTester,
) -> None:
    bot.expected_refusals = {"conversations.info channel_not_found"}
    await bot.type("/mq subscribe enter", channel=INCIDENTS)
    post = await bot.wait_for_post("now hears about acme/site", INCIDENTS)
    assert "I am not in this channel yet: type `/invite @merge-queue`" in post
    await bot.slack.people.command("U0ALICE", INCIDENTS, "/invite @merge-queue")
    number = bot.enqueue()
    await bot.wait_for_post(f"#{number}", INCIDENTS)


async def test_several_repositories_have_a_menu_and_each_its_own_subscription(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(repositories={"acme/site": "quiet", "acme/api": "quiet"}, channels="")
    question = await bot.ask("/mq subscribe enter")
    await bot.choose(question, "acme/api", menu="Choose a repository")
    await bot.wait_for_post("now hears about acme/api: enter")
    await bot.type("/mq subscribe acme/site failure")
    await bot.wait_for_post("now hears about acme/site: failure")
    answer = await bot.ask("/mq subscriptions")
    assert "• *acme/api*: enter\n• *acme/site*: failure" in answer
