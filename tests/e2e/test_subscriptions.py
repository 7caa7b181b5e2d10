"""Subscribing, unsubscribing, the list of subscriptions, and the configuration."""

import pytest

from bot.channels.subscription import Topic
from tests.e2e.conftest import OVER_HTTP, StartBot
from tests.support.bot_tester import BOB, GENERAL, INCIDENTS, MERGE_QUEUE, RELEASES, BotTester

pytestmark = [pytest.mark.e2e, OVER_HTTP]


async def test_subscribing_shows_the_topics_of_the_channel(bot: BotTester) -> None:
    answer = await bot.ask("/mq subscribe acme/site merged")
    assert "There is no topic “merged”. Did you mean merge? Topics are enter" in answer
    assert "Levels are quiet, normal, everything" in answer
    assert "`/mq help subscribe` shows how." in answer
    assert bot.posts() == []

    await bot.type("/mq subscribe")
    post = await bot.wait_for_post("Subscribed this channel to acme/site", by=BOB)
    assert "enter, merge, failure, pause" in post
    answer = await bot.ask("/mq subscriptions")
    assert "• *acme/site*: enter, merge, failure, pause" in answer

    await bot.type("/mq subscribe everything")
    await bot.wait_for_post(", ".join(topic.value for topic in Topic))


async def test_subscribing_to_one_topic_turns_on_only_that_one_until_others_are_added(
    bot: BotTester,
) -> None:
    await bot.type("/mq subscribe acme/site merge")
    await bot.wait_for_post("Subscribed this channel to acme/site: merge")
    number = await bot.merge()
    post = await bot.wait_for_post(f"#{number}")
    assert post.words.startswith(":white_check_mark: *Merged*")
    assert [message.line for message in bot.posts()][1:] == [post.line]
    await bot.publish("/mq subscribe failure, dequeue", ": merge, failure, dequeue")


async def test_a_single_event_type_is_a_topic_too(bot: BotTester) -> None:
    await bot.publish("/mq subscribe action.queue.checks_start", "`action.queue.checks_start`")
    number = bot.enqueue(hangs=True)
    await bot.wait_for_post(f"*Checks started* #{number}")


async def test_a_quiet_channel_is_notified_of_failures_and_not_of_merges(bot: BotTester) -> None:
    await bot.publish("/mq subscribe", "enter, merge, failure, pause")
    await bot.type("/mq subscribe quiet")
    await bot.wait_for_post("Subscribed this channel to acme/site: failure, pause, health")
    await bot.merge()
    broken = bot.enqueue(broken_check="lint")
    failed = await bot.wait_for_post(f"#{broken}")
    assert failed.words.startswith(":x:")
    assert len(bot.posts()) == 3
    refused = await bot.ask("/mq unsubscribe quiet")
    assert "quiet is for subscribe. Name the topics to leave out." in refused


async def test_a_level_can_be_chosen_with_a_button_below_its_preview(bot: BotTester) -> None:
    for number in (41, 42, 43):
        bot.emit("action.queue.enter", number)
    bot.emit("action.queue.leave", 41, metadata={"dequeue_code": "CHECKS_FAILED"})
    bot.emit("action.queue.batch_bisection_start", 42)
    post = await bot.publish("/mq subscribe merge", "Subscribed this channel to acme/site: merge")
    await bot.click(post, "Choose a level")
    choice = await bot.wait_for_reply()
    assert "*Quiet*: failures, pauses and queue health · 1 message\n" in choice
    assert "*Normal*: also pull requests entering and merging · 4 messages\n" in choice
    assert "*Everything*: all topics · 5 messages" in choice
    assert "Messages in the last busy hour, until" in choice
    await bot.click(choice, "Quiet")
    await bot.wait_for_post("Subscribed this channel to acme/site: failure, pause, health")


async def test_unsubscribing_is_the_mirror_of_subscribing(bot: BotTester) -> None:
    await bot.publish("/mq subscribe", "Subscribed this channel to")
    await bot.type("/mq unsubscribe acme/site enter pause")
    await bot.wait_for_post("stays subscribed to acme/site: merge, failure")
    answer = await bot.ask("/mq unsubscribe enter")
    assert (
        "Nothing to unsubscribe: this channel is subscribed to acme/site: merge, failure" in answer
    )
    await bot.publish("/mq unsubscribe", "Unsubscribed this channel from acme/site")
    answer = await bot.ask("/mq subscriptions")
    assert answer.words.startswith("This channel has no subscriptions yet.")
    answer = await bot.ask("/mq unsubscribe")
    assert answer.words == "This channel wasn't subscribed to acme/site. Nothing to do."


async def test_a_configured_subscription_is_listed_and_cannot_be_removed_by_command(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(channels=f"acme/site={RELEASES}:failure,pause")
    refused = await bot.ask("/mq unsubscribe", channel=RELEASES)
    assert "comes from the bot's configuration (MQBOT_CHANNELS)" in refused
    configured = "failure, pause · in threads (from the configuration)"
    listed = await bot.ask("/mq subscriptions", channel=RELEASES)
    assert f"• *acme/site*: {configured}" in listed
    await bot.type("/mq subscribe merge", channel=RELEASES)
    notice = await bot.wait_for_post("Subscribed this channel to acme/site: merge", RELEASES)
    assert "From the configuration: failure, pause" in notice
    answer = await bot.ask("/mq unsubscribe merge", channel=RELEASES)
    assert "comes from the bot's configuration" in answer
    await bot.wait_for_post(f"stays subscribed to acme/site: {configured}", RELEASES)


async def test_after_unsubscribing_nothing_more_is_posted(start_bot: StartBot) -> None:
    bot = await start_bot(channels=f"acme/site={RELEASES}:enter")
    await bot.publish("/mq subscribe enter", "Subscribed this channel to")
    first = bot.enqueue()
    await bot.wait_for_post(f"#{first}")
    await bot.wait_for_post(f"#{first}", RELEASES)
    await bot.publish("/mq unsubscribe", "Unsubscribed this channel")
    second = bot.enqueue()
    await bot.wait_for_post(f"#{second}", RELEASES)
    assert len(bot.posts(MERGE_QUEUE)) == 3


async def test_a_channel_subscribed_twice_gets_each_event_once(start_bot: StartBot) -> None:
    bot = await start_bot(channels=f"acme/site={MERGE_QUEUE}:enter,style:feed")
    await bot.type("/mq subscribe enter merge style:feed")
    await bot.wait_for_post("Subscribed this channel to acme/site: enter, merge")
    number = await bot.merge()
    await bot.wait_for_post(f"*Queued* #{number}")
    await bot.wait_for_post(f"*Merged* #{number}")
    assert len(bot.posts()) == 3


async def test_subscriptions_survive_a_restart(bot: BotTester) -> None:
    await bot.publish("/mq subscribe enter", "Subscribed this channel to", channel=GENERAL)
    await bot.stop_bot()
    number = bot.enqueue()
    await bot.start_bot()
    await bot.wait_for_post(f"#{number}", GENERAL)


async def test_acts_in_a_channel_without_the_bot_say_how_to_invite_it(bot: BotTester) -> None:
    """Their cards can't be kept up to date there; Slack itself answers a mention.

    https://docs.slack.dev/reference/events/app_mention: without membership there is no event.
    """
    bot.expected_refusals = {"conversations.info channel_not_found"}
    post = await bot.publish("/mq pause now CI is down", "is paused", channel=INCIDENTS)
    assert "I'm not in this channel: type `/invite @merge-queue` so that I can post" in post
    assert "/invite @merge-queue" in post.line
    await bot.slack.people.command("U0ALICE", INCIDENTS, "/invite @merge-queue")
    await bot.wait_for_post("Hello!", INCIDENTS)
    resumed = await bot.publish("/mq resume", "has resumed", channel=INCIDENTS)
    assert "/invite" not in resumed


async def test_a_private_channel_without_the_bot_sees_how_to_invite_it(bot: BotTester) -> None:
    bot.expected_refusals = {"conversations.info channel_not_found"}
    await bot.type("/mq subscribe enter", channel=INCIDENTS)
    post = await bot.wait_for_post("Subscribed this channel to acme/site", INCIDENTS)
    assert "I'm not in this channel yet. Type `/invite @merge-queue`" in post
    await bot.slack.people.command("U0ALICE", INCIDENTS, "/invite @merge-queue")
    hello = await bot.wait_for_post("Hello!", INCIDENTS)
    assert "This channel gets:\n• *acme/site*: enter" in hello
    number = bot.enqueue()
    await bot.wait_for_post(f"#{number}", INCIDENTS)


async def test_several_repositories_have_buttons_and_separate_subscriptions(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(repositories={"acme/site": "quiet", "acme/api": "quiet"}, channels="")
    question = await bot.ask("/mq subscribe enter")
    await bot.click(question, "acme/api")
    await bot.wait_for_post("Subscribed this channel to acme/api: enter")
    await bot.type("/mq subscribe acme/site failure")
    await bot.wait_for_post("Subscribed this channel to acme/site: failure")
    answer = await bot.ask("/mq subscriptions")
    assert "• *acme/api*: enter · in threads\n• *acme/site*: failure · in threads" in answer


async def test_branches_logins_and_style_narrow_a_subscription(bot: BotTester) -> None:
    await bot.type("/mq subscribe merge failure branch:main,release/* except:renovate style:feed")
    post = await bot.wait_for_post("Subscribed this channel to acme/site")
    assert (
        "merge, failure · on `main`, `release/*` · except @renovate · one post per event"
        in post.words
    )
    answer = await bot.ask("/mq subscribe merge branch:main style:feed")
    assert "is already subscribed to acme/site" in answer
    assert len(bot.posts()) == 1
    await bot.type("/mq unsubscribe except:renovate branch:release/*")
    await bot.wait_for_post("stays subscribed to acme/site: merge, failure · on `main`")
    answer = await bot.ask("/mq unsubscribe merge branch:dev")
    assert "This channel is subscribed to main, not dev by name." in answer


async def test_a_digest_is_in_the_persons_own_time_zone_unless_they_say_another(
    bot: BotTester,
) -> None:
    await bot.type("/mq subscribe digest:07:30")
    await bot.wait_for_post("a digest at 07:30 Europe/London, failures and pauses immediately")
    await bot.publish("/mq subscribe digest:08:00 Europe/Paris", "a digest at 08:00 Europe/Paris")
    notice = await bot.publish("/mq unsubscribe failure", "stays subscribed")
    assert "a digest at 08:00 Europe/Paris, pauses immediately" in notice


async def test_the_preview_shows_the_channels_of_a_sample_event(start_bot: StartBot) -> None:
    bot = await start_bot(channels=f"acme/site={RELEASES}:merge branch:release/* style:feed")
    await bot.publish("/mq subscribe acme/site", "Subscribed this channel to")
    answer = await bot.ask("/mq subscriptions test acme/site")
    assert f"• merge: #{MERGE_QUEUE} (thread), #{RELEASES} (feed)" in answer
    assert "• checks: nobody" in answer
    answer = await bot.ask("/mq subscriptions test branch:main")
    assert "Who would be notified of an event in acme/site on `main`" in answer
    assert f"• merge: #{MERGE_QUEUE} (thread)\n" in answer


async def test_the_channels_default_need_not_be_typed(start_bot: StartBot) -> None:
    names = ("acme/site", "acme/api")
    bot = await start_bot(
        repositories=dict.fromkeys(names, "quiet"), channels="acme/api=C0RELEASE:freeze"
    )
    assert "Show which queue?" in await bot.ask("/mq status")
    answer = await bot.ask("/mq default")
    assert "This channel has no default repository. If a command names none" in answer
    assert "I use the only one it can mean, or ask." in answer
    await bot.type("/mq default acme/api")
    post = await bot.wait_for_post("Default repository in this channel: acme/api", by=BOB)
    assert "by alice" in post
    assert "acme/api" in await bot.ask("/mq status")
    assert "Default repository in this channel: acme/api" in await bot.ask("/mq default acme/api")
    assert "Default repository in this channel: acme/api" in await bot.ask("/mq subscriptions")
    await bot.publish("/mq default off", "This channel no longer has a default repository", by=BOB)
    assert "Show which queue?" in await bot.ask("/mq status")
    audit = await bot.ask("/mq audit")
    assert "*bob* changed the default of a channel, acme/api" in audit
    assert "before: acme/api, now: none" in audit


async def test_a_change_says_what_it_replaced_and_how_to_restore_it(start_bot: StartBot) -> None:
    names = ("acme/site", "acme/api")
    bot = await start_bot(repositories=dict.fromkeys(names, "quiet"), channels="")
    await bot.publish("/mq subscribe acme/api digest:09:00 Europe/Paris", "Subscribed")
    post = await bot.publish("/mq subscribe all everything", "all 2 repositories")
    restoring = "/mq subscribe acme/api only enter failure merge pause style:digest"
    assert "Before: acme/api: enter, merge, failure, pause · a digest at 09:00" in post
    assert restoring in post
    assert "acme/site:" not in post.line.partition("Before")[2]
    command = f"{restoring} digest:09:00 Europe/Paris"
    await bot.publish(command, "a digest at 09:00 Europe/Paris")
    ended = await bot.publish("/mq unsubscribe all", "Unsubscribed this channel from")
    assert command in ended


async def test_one_command_restores_what_all_queues_had_alike(start_bot: StartBot) -> None:
    names = ("acme/site", "acme/api")
    bot = await start_bot(repositories=dict.fromkeys(names, "quiet"), channels="")
    await bot.publish("/mq subscribe all everything", "all 2 repositories")
    quiet = await bot.publish("/mq subscribe all quiet", "all 2 repositories")
    _, _, earlier = quiet.line.partition("Before: all: ")
    assert earlier.count("To restore it") == 1
    assert quiet.line.count("Before") == 1
    assert "/mq audit" not in quiet
    restoring = earlier.partition("To restore it: ")[2].partition("\n")[0].strip("`")
    assert restoring.startswith("/mq subscribe all only ")
    restored = await bot.publish(restoring, "all 2 repositories")
    assert "Before: all: failure, pause, health" in restored
    await bot.publish("/mq unsubscribe acme/api", "Unsubscribed")
    ended = await bot.publish("/mq unsubscribe all", "Unsubscribed")
    assert "Before: acme/site: " in ended


async def test_another_default_says_what_it_was(start_bot: StartBot) -> None:
    names = ("acme/site", "acme/api")
    bot = await start_bot(repositories=dict.fromkeys(names, "quiet"), channels="")
    await bot.publish("/mq default acme/site", "Default repository in this channel: acme/site")
    changed = await bot.publish("/mq default `acme/api`", "acme/api")
    assert "was acme/site" in changed
    assert "/mq default acme/site" in changed


async def test_all_is_never_a_topic(bot: BotTester) -> None:
    answer = await bot.ask("/mq subscribe acme/site all")
    assert "“all” means every repository. For every topic, type everything." in answer


async def test_an_invited_bot_says_what_it_does_and_offers_the_levels(bot: BotTester) -> None:
    await bot.slack.people.command(BOB, GENERAL, "/invite @merge-queue")
    hello = await bot.wait_for_post("I post what happens in your merge queues", channel=GENERAL)
    assert "Which posts about acme/site should this channel get?" in hello
    await bot.click(hello, "Quiet")
    await bot.wait_for_post(
        "Subscribed this channel to acme/site: failure, pause, health", channel=GENERAL
    )


async def test_other_people_who_join_a_channel_are_not_greeted(bot: BotTester) -> None:
    await bot.slack.people.command(BOB, GENERAL, "/invite @merge-queue")
    await bot.wait_for_post("Hello!", channel=GENERAL)
    await bot.slack.people.command(BOB, GENERAL, "/invite @carol")
    await bot.publish("/mq subscribe merge", "Subscribed this channel", channel=GENERAL)
    assert sum("Hello!" in post.line for post in bot.posts(GENERAL)) == 1
