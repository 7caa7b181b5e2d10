"""Commands in messages: by mentioning the bot, in channels and threads, and in direct messages."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from bot.sandbox.slack.state.mrkdwn import text_from_person
from tests.e2e.conftest import StartBot
from tests.e2e.test_who_may_act import add_person
from tests.support.bot_tester import ALICE, BOB, GENERAL, MERGE_QUEUE, BotTester
from tests.support.shown import Shown
from tests.support.waiting import until

pytestmark = pytest.mark.e2e


def say(
    bot: BotTester,
    text: str,
    *,
    by: str = ALICE,
    beneath: Shown | None = None,
    broadcast: bool = False,
    files: Sequence[str] = (),
) -> Shown:
    """Write into the merge queue's channel, or into a thread there."""
    thread_ts = beneath.ts if beneath is not None else None
    said = bot.slack.people.message(
        by, MERGE_QUEUE, text, thread_ts, broadcast=broadcast, files=files
    )
    return Shown([], MERGE_QUEUE, said["ts"], text, ephemeral=False)


def mention(bot: BotTester, text: str, *, by: str = ALICE, beneath: Shown | None = None) -> Shown:
    return say(bot, f"@merge-queue {text}", by=by, beneath=beneath)


def write(bot: BotTester, text: str, *, files: Sequence[str] = ()) -> Shown:
    """Write the bot a direct message."""
    workspace = bot.slack.installation.workspace
    channel = workspace.direct_channel(bot.slack.installation.bot_user_id, ALICE)
    said = bot.slack.people.message(ALICE, channel.id, text, files=files)
    return Shown([], channel.id, said["ts"], text, ephemeral=False)


def edit(bot: BotTester, said: Shown, text: str) -> None:
    """Its author changes a message."""
    workspace = bot.slack.installation.workspace
    message = workspace.channels[said.channel].messages.get(said.ts)
    assert message is not None
    edited = {"user": message.user, "ts": workspace.new_ts()}
    workspace.replace(replace(message, text=text_from_person(text, workspace), edited=edited))


async def test_a_mention_in_a_thread_pauses_and_the_thread_says_so(bot: BotTester) -> None:
    incident = say(bot, "CI is red", by=BOB)
    mention(bot, "pause 2h CI runners are down", beneath=incident)
    card = await bot.wait_for_post("CI runners are down", by=BOB)
    assert "Resume queue" in card.labels
    await bot.wait_in_thread(incident, "acme/site is paused", by=BOB)
    assert bot.pause_reason() == "CI runners are down (by alice via Slack)"
    mention(bot, "resume", by=BOB, beneath=incident)
    await bot.wait_for_post("has resumed", by=BOB)
    await bot.wait_in_thread(incident, "has resumed", by=ALICE)
    await bot.wait_for_direct_message("bob resumed acme/site")
    assert bot.pause_reason() is None


async def test_a_direct_message_understands_the_same_words(bot: BotTester) -> None:
    write(bot, "status acme/site")
    status = await bot.wait_for_direct_message("acme/site")
    assert "is running" in status
    write(bot, "pause now database migration")
    await bot.wait_for_direct_message("is paused")
    assert bot.pause_reason() == "database migration (by alice via Slack)"


async def test_a_mention_that_cannot_be_carried_out_gets_help_in_private(bot: BotTester) -> None:
    mention(bot, "pause")
    offer = await bot.wait_for_reply("Slack opens forms only after a click")
    await bot.click(offer, "Open form")
    await bot.modal("Reason")

    mention(bot, "stauts")
    offer = await bot.wait_for_reply("Did you mean")
    await bot.click(offer, "Run /mq status")
    assert "is running" in await bot.wait_for_reply("acme/site")

    say(bot, "thanks @merge-queue, that was quick")
    await bot.wait_for_reply("What I can do")

    guest = add_person(bot, "guy", "guest")
    mention(bot, "pause now mine", by=guest)
    await bot.wait_for_reply("you're a guest here", by=guest)
    assert bot.pause_reason() is None


async def test_a_mention_is_answered_in_its_thread_and_other_messages_get_nothing(
    bot: BotTester,
) -> None:
    ignored = say(bot, "pause now")
    bot.slack.people.message(ALICE, GENERAL, "pause now")
    asked = mention(bot, "status")
    answer = await bot.wait_in_thread(asked, "acme/site", by=BOB)
    assert "is running" in answer
    assert bot.thread(ignored) == []
    assert bot.pause_reason() is None


async def test_a_message_becomes_the_reason_of_a_pause(bot: BotTester) -> None:
    said = say(bot, "CI runners are down", by=BOB)
    where = {"channel": said.channel, "ts": said.ts}
    answer = await bot.slack.people.shortcut(ALICE, "pause_because", **where)
    assert answer["acknowledged"], answer
    form = await bot.modal("0 queued")
    (reason,) = (
        block["element"]["initial_value"]
        for block in form.body["blocks"]
        if "initial_value" in block.get("element", {})
    )
    assert said.ts.replace(".", "") in reason
    await bot.submit(form, reason=reason)
    await bot.modal("acme/site is paused")
    await bot.wait_for_post("is paused", by=BOB)
    assert said.ts.replace(".", "") in (bot.pause_reason() or "")


async def test_a_mention_with_a_file_is_a_command(bot: BotTester) -> None:
    say(bot, "@merge-queue pause now CI is down", files=["red.png"])
    await bot.wait_for_post("is paused")
    assert bot.pause_reason() == "CI is down (by alice via Slack)"


async def test_a_reply_that_is_also_sent_to_the_channel_is_a_command(bot: BotTester) -> None:
    incident = say(bot, "CI is red", by=BOB)
    say(bot, "@merge-queue pause now CI is down", beneath=incident, broadcast=True)
    await bot.wait_for_post("is paused")
    await bot.wait_in_thread(incident, "acme/site is paused", by=BOB)


async def test_a_message_of_the_me_kind_is_a_command(bot: BotTester) -> None:
    asked = say(bot, "/me @merge-queue status")
    assert "is running" in await bot.wait_in_thread(asked, "acme/site")


async def test_a_direct_message_with_a_file_is_a_command(bot: BotTester) -> None:
    write(bot, "status acme/site", files=["log.txt"])
    assert "is running" in await bot.wait_for_direct_message("acme/site")


async def test_a_file_without_words_is_answered_with_what_to_do(bot: BotTester) -> None:
    write(bot, "", files=["voice.m4a"])
    await bot.wait_for_direct_message("I can't read files")
    say(bot, "@merge-queue", files=["red.png"])
    await bot.wait_for_reply("I can't read files")


async def test_an_edited_message_is_answered_once_and_changes_nothing(bot: BotTester) -> None:
    said = write(bot, "statsu")
    await bot.wait_for_direct_message("Did you mean")
    edit(bot, said, "pause now CI is down")
    await bot.wait_for_direct_message("I don't act on edited messages")
    edit(bot, said, "pause now CI is very down")
    write(bot, "status")
    await bot.wait_for_direct_message("is running")
    assert bot.pause_reason() is None
    assert bot.log.actions().count("message_not_read") == 2


async def test_a_preview_of_a_link_is_no_edit(bot: BotTester) -> None:
    said = write(bot, "why https://code.example/acme/site/pull/999999")
    await bot.wait_for_direct_message("999999")
    edit(bot, said, "why https://code.example/acme/site/pull/999999")
    write(bot, "status")
    await bot.wait_for_direct_message("is running")


async def test_one_message_with_two_event_ids_is_one_request(bot: BotTester) -> None:
    bot.slack.faults.arm({"name": "repeat_event"})
    mention(bot, "pause now CI is down")
    await bot.wait_for_post("is paused")
    await until(lambda: "request_repeated" in bot.log.actions(), "the second event")


async def test_words_before_a_mention_are_the_command_where_none_follow(bot: BotTester) -> None:
    asked = say(bot, "status @merge-queue")
    assert "is running" in await bot.wait_in_thread(asked, "acme/site")


async def test_people_channels_and_groups_in_a_reason_are_named(bot: BotTester) -> None:
    # Slack doesn't show the bot a private channel that it isn't in.
    bot.expected_refusals.add("conversations.info channel_not_found")
    bot.slack.arrangement.set_group("oncall", [BOB])
    mention(bot, "pause now see #general and #incidents, ask @oncall")
    await bot.wait_for_post("is paused")
    reason = bot.pause_reason()
    assert reason == ("see #general and a private channel, ask @oncall (by alice via Slack)")


async def test_a_person_is_shown_as_slack_shows_them(bot: BotTester) -> None:
    bot.slack.arrangement.change_user(BOB, {"display_name": ""})
    await bot.type("/mq pause now CI is down", by=BOB)
    card = await bot.wait_for_post("is paused", by=BOB)
    assert "Bob Okafor" in card
    assert bot.pause_reason() == "CI is down (by Bob Okafor via Slack)"


async def test_a_mention_that_is_deleted_before_its_answer_is_answered_privately(
    bot: BotTester,
) -> None:
    bot.slack.faults.arm({"name": "slow", "method": "chat.postMessage", "seconds": 1.0})
    asked = mention(bot, "status")
    bot.delete(asked)
    assert "is running" in await bot.wait_for_reply("acme/site")
    shown = bot.slack.sight.messages(BOB, MERGE_QUEUE)["messages"]
    assert [message for message in shown if message["is_bot"]] == []


THREADS = f"acme/site={MERGE_QUEUE}:enter,merge,failure,pause"


async def test_in_the_thread_of_a_pull_request_commands_mean_that_one(start_bot: StartBot) -> None:
    bot = await start_bot(
        repositories={"acme/site": "quiet", "acme/api": "quiet"},
        channels=f"{THREADS};acme/api={MERGE_QUEUE}:pause",
    )
    await bot.publish("/mq default acme/api", "Default repository in this channel")
    number = bot.enqueue(hangs=True)
    root = await bot.wait_for_post(f"*Queued* #{number}")
    await bot.has_posted()
    mention(bot, "why", beneath=root)
    await bot.wait_in_thread(root, f"#{number}")
    mention(bot, "log", beneath=root)
    assert f"#{number}" in await bot.wait_in_thread(root, "Event log")
    mention(bot, "remove", beneath=root)
    await bot.wait_in_thread(root, "Remove from the queue of acme/site?")
    mention(bot, "status", beneath=root)
    assert "acme/site" in await bot.wait_in_thread(root, "is running")
    mention(bot, "pause now it breaks main", beneath=root)
    await bot.wait_for_post("*acme/site is paused* · it breaks main")
    await bot.wait_in_thread(root, "acme/site is paused")
    assert bot.pause_reason("acme/api") is None


async def test_in_the_thread_of_a_card_resume_means_its_queue(start_bot: StartBot) -> None:
    names = ("acme/site", "acme/api", "acme/docs")
    bot = await start_bot(repositories=dict.fromkeys(names, "quiet"), channels="")
    await bot.publish("/mq default acme/docs", "Default repository in this channel")
    cards = {name: await bot.pause(f"now {name} migration") for name in names[:2]}
    await bot.has_posted()
    mention(bot, "resume", beneath=cards["acme/api"])
    await bot.wait_for_post("*acme/api has resumed*")
    await bot.wait_in_thread(cards["acme/api"], "has resumed")
    assert bot.pause_reason("acme/site") is not None


@pytest.mark.parametrize("typed", ["stop", "Unsubscribe!", "mute notifications"])
async def test_in_a_direct_message_stop_is_about_these_messages(bot: BotTester, typed: str) -> None:
    write(bot, typed)
    await bot.wait_for_direct_message("off")
    assert bot.pause_reason() is None


async def test_to_stop_direct_messages_ends_their_subscriptions_too(bot: BotTester) -> None:
    write(bot, "subscribe acme/site enter")
    await bot.wait_for_direct_message("Subscribed")
    write(bot, "stop sending me messages")
    await bot.wait_for_direct_message("Unsubscribed")
    await bot.wait_for_direct_message("off")


async def test_the_name_of_the_bot_or_the_command_may_stand_in_front(bot: BotTester) -> None:
    asked = mention(bot, ": /mq status")
    assert "is running" in await bot.wait_in_thread(asked, "acme/site", by=BOB)
    asked = mention(bot, ", mq: acme/site")
    assert "is running" in await bot.wait_in_thread(asked, "acme/site", by=BOB)
