"""Commands in messages: by mentioning the bot, in channels and threads, and in direct messages."""

import pytest

from tests.e2e.test_who_may_act import add_person
from tests.support.bot_tester import ALICE, BOB, GENERAL, MERGE_QUEUE, BotTester
from tests.support.shown import Shown

pytestmark = pytest.mark.e2e


def say(bot: BotTester, text: str, *, by: str = ALICE, beneath: Shown | None = None) -> Shown:
    """Write into the merge queue's channel, or into a thread there."""
    thread_ts = beneath.ts if beneath is not None else None
    said = bot.slack.people.message(by, MERGE_QUEUE, text, thread_ts)
    return Shown([], MERGE_QUEUE, said["ts"], text, ephemeral=False)


def mention(bot: BotTester, text: str, *, by: str = ALICE, beneath: Shown | None = None) -> Shown:
    return say(bot, f"@merge-queue {text}", by=by, beneath=beneath)


def write(bot: BotTester, text: str) -> None:
    """Write the bot a direct message."""
    workspace = bot.slack.installation.workspace
    channel = workspace.direct_channel(bot.slack.installation.bot_user_id, ALICE)
    bot.slack.people.message(ALICE, channel.id, text)


async def test_a_mention_in_a_thread_pauses_and_the_thread_says_so(bot: BotTester) -> None:
    incident = say(bot, "CI is red", by=BOB)
    mention(bot, "pause 2h CI runners are down", beneath=incident)
    card = await bot.wait_for_post("CI runners are down", by=BOB)
    assert "Resume queue" in card.labels
    await bot.wait_in_thread(incident, "acme/site is paused", by=BOB)
    assert bot.pause_reason() == "CI runners are down (by alice via Slack)"
    mention(bot, "resume", by=BOB, beneath=incident)
    await bot.wait_for_post("Queue resumed", by=BOB)
    await bot.wait_in_thread(incident, "Queue resumed", by=ALICE)
    await bot.wait_for_direct_message("bob resumed acme/site")
    assert bot.pause_reason() is None


async def test_a_direct_message_understands_the_same_words(bot: BotTester) -> None:
    write(bot, "status acme/site")
    status = await bot.wait_for_direct_message("acme/site")
    assert "is running" in status
    write(bot, "pause now database migration")
    await bot.wait_for_direct_message("Queue paused")
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
    await bot.wait_for_reply("you are a guest here", by=guest)
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
    form = await bot.modal("0 pull requests")
    reason = form.body["blocks"][-3]["element"]["initial_value"]
    assert said.ts.replace(".", "") in reason
    await bot.submit(form, reason=reason)
    await bot.modal("acme/site is paused")
    await bot.wait_for_post("Queue paused", by=BOB)
    assert said.ts.replace(".", "") in (bot.pause_reason() or "")
