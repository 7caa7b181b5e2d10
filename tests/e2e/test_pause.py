"""Pausing and resuming by typed commands: what the person and the channel see."""

import asyncio
import re

import pytest

from bot.sandbox.merge_queue.controls import FreezeTerms
from tests.e2e.conftest import StartBot
from tests.support.bot_tester import (
    ALICE,
    BOB,
    INCIDENTS,
    MERGE_QUEUE,
    RELEASES,
    BotTester,
)

pytestmark = pytest.mark.e2e

HEARING = f"acme/site={MERGE_QUEUE}:enter,pause"


async def test_a_pause_and_its_end_are_reported_to_the_channel(bot: BotTester) -> None:
    await bot.type("/mq pause CI runners are down")
    post = await bot.wait_for_post("is paused", by=BOB)
    assert post.words.startswith(
        ":double_vertical_bar: *acme/site is paused* · CI runners are down\n*By* alice · *Since*"
    )
    assert post.labels == ["Resume queue", "Set an end…", "More actions"]
    assert "By alice" in post.line
    assert bot.pause_reason() == "CI runners are down (by alice via Slack)"
    assert bot.replies() == []

    post = await bot.resume(by=BOB)
    assert "By bob · Paused for " in post
    assert "Reason was: CI runners are down" in post
    assert bot.pause_reason() is None
    notice = await bot.wait_for_direct_message("bob resumed acme/site after")
    assert "You had paused it: CI runners are down" in notice


async def test_unpause_is_another_word_for_resume(bot: BotTester) -> None:
    bot.merge_queue.pause("acme/site", "Night", by="carol")
    await bot.publish("/mq unpause", "has resumed")
    assert bot.pause_reason() is None


async def test_resuming_a_running_queue_tells_only_the_caller(bot: BotTester) -> None:
    answer = await bot.ask("/mq resume")
    assert answer.words == "acme/site is not paused. Nothing to do."
    assert bot.posts() == []


async def test_a_second_pause_shows_who_paused_since_when_and_why(bot: BotTester) -> None:
    await bot.pause("CI runners are down")
    answer = await bot.ask("/mq pause Deploying 4.2", by=BOB)
    assert "acme/site is already paused by alice: CI runners are down" in answer
    assert "since " in answer
    assert "your reason: Deploying 4.2" in answer
    assert answer.labels == ["Replace reason", "Leave it"]
    await bot.click(answer, "Leave it", by=BOB)
    await bot.wait_until_gone(answer, by=BOB)
    assert bot.pause_reason() == "CI runners are down (by alice via Slack)"


async def test_replacing_the_reason_notifies_the_channel_and_the_first_pauser(
    bot: BotTester,
) -> None:
    card = await bot.pause("CI runners are down")
    answer = await bot.ask("/mq pause Deploying 4.2", by=BOB)
    await bot.click(answer, "Replace reason", by=BOB)
    changed = await bot.wait_for_change(card, "*acme/site is paused* · Deploying 4.2")
    assert "By alice · With bob since" in changed
    assert "Previous reason: CI runners are down" in changed
    assert changed.labels == card.labels
    line = await bot.wait_in_thread(card, "changed why acme/site is paused* · Deploying 4.2")
    assert "bob changed why" in line
    await bot.wait_for_change(answer, "acme/site is paused", by=BOB)
    notice = await bot.wait_for_direct_message("bob replaced your pause of acme/site")
    assert "It now says: Deploying 4.2" in notice
    assert "Reason was: CI runners are down" in notice
    assert bot.pause_reason() == "Deploying 4.2 (by bob via Slack)"


async def test_replacing_a_pause_that_has_ended_asks_again(bot: BotTester) -> None:
    bot.pause_elsewhere("First", seconds_from_now=-60)
    answer = await bot.ask("/mq pause Mine")
    bot.merge_queue.resume("acme/site", by="carol")
    bot.pause_elsewhere("Second")
    await bot.click(answer, "Replace reason")
    # Its person is named once the log is read.
    again = await bot.wait_for_change(answer, ": Second")
    assert "acme/site is already paused" in again
    assert again.labels == ["Replace reason", "Leave it"]
    assert bot.pause_reason() == "Second"


async def test_two_people_who_pause_at_once_both_see_the_true_state(bot: BotTester) -> None:
    await asyncio.gather(
        bot.type("/mq pause Alice has a reason"),
        bot.type("/mq pause Bob has one too", by=BOB),
    )
    post = await bot.wait_for_post("is paused")
    if "By alice" in post:
        winner = "alice"
        loser = BOB
    else:
        winner = "bob"
        loser = "U0ALICE"
    reason = "Alice has a reason" if winner == "alice" else "Bob has one too"
    answer = await bot.wait_for_reply(by=loser)
    assert f"acme/site is already paused by {winner}: {reason}" in answer
    assert bot.pause_reason() == f"{reason} (by {winner} via Slack)"
    assert len(bot.posts()) == 1


async def test_two_people_who_resume_at_once_both_see_the_true_state(bot: BotTester) -> None:
    bot.merge_queue.pause("acme/site", "Night", by="carol")
    await asyncio.gather(bot.type("/mq resume"), bot.type("/mq resume", by=BOB))
    post = await bot.wait_for_post("has resumed")
    if "By alice" in post:
        winner = "alice"
        loser = BOB
    else:
        winner = "bob"
        loser = ALICE
    await bot.wait_for_reply(f"acme/site is already running: {winner} resumed it", by=loser)
    assert len(bot.posts()) == 1


async def test_a_pause_by_command_is_reported_once_despite_its_log_event(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(channels=HEARING)
    await bot.pause("CI runners are down")
    await bot.resume()
    # The log is told in order: what follows the pause in it is told after the pause.
    number = bot.enqueue(hangs=True)
    await bot.wait_for_post(f"#{number}")
    notice = [re.split(r" #| ·|\n", post.line)[0] for post in bot.posts()]
    assert notice == ["acme/site was paused", "acme/site has resumed", "Queued"]
    await bot.has_posted()
    assert bot.direct_messages(by=ALICE) == [], "who resumes their own pause knows it"


async def test_in_a_private_channel_without_the_bot_the_caller_sees_the_reply(
    bot: BotTester,
) -> None:
    bot.expected_refusals = {"conversations.info channel_not_found"}
    await bot.type("/mq pause CI runners are down", channel=INCIDENTS)
    post = await bot.wait_for_post("is paused", INCIDENTS, by=BOB)
    assert "By alice" in post
    await bot.resume(channel=INCIDENTS)


async def test_a_public_channel_without_the_bot_is_joined_to_post_there(bot: BotTester) -> None:
    await bot.pause("CI runners are down", channel=RELEASES)
    assert len(bot.calls("conversations.join")) == 1


async def test_a_replacement_in_a_private_channel_without_the_bot_is_posted_there(
    bot: BotTester,
) -> None:
    bot.expected_refusals = {"conversations.info channel_not_found"}
    bot.merge_queue.pause("acme/site", "Night", by="carol")
    question = await bot.ask("/mq pause Deploying 4.2", channel=INCIDENTS)
    await bot.click(question, "Replace reason")
    await bot.wait_for_change(question, "acme/site is paused.")
    await bot.wait_for_post("changed why", INCIDENTS, by=BOB)


async def test_a_pause_that_stops_running_checks_is_confirmed_with_the_numbers(
    bot: BotTester,
) -> None:
    numbers = [bot.enqueue(title=f"Door {word}", hangs=True) for word in ("red", "green")]
    await bot.checks_run(1)
    question = await bot.ask("/mq pause 45m CI runners are down")
    assert "*Pause acme/site?* 1 running batch stops, and " in question
    assert "Reason: CI runners are down · for 45 min" in question
    assert "1 running batch stops" in question.line
    assert bot.pause_reason() is None
    await bot.click(question, "Don't pause")
    await bot.wait_until_gone(question)
    assert bot.pause_reason() is None
    question = await bot.ask("/mq pause CI runners are down")
    await bot.click(question, "Pause queue")
    card = await bot.wait_for_post("is paused")
    assert "CI runners are down" in card
    assert bot.pause_reason() == "CI runners are down (by alice via Slack)"
    assert len(numbers) == 2


async def test_the_question_before_a_pause_expects_no_merge_during_a_freeze(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(channels=f"acme/site={RELEASES}:freeze", speed=2.0)
    bot.enqueue(hangs=True)
    await bot.checks_run(1)
    question = await bot.ask("/mq pause CI runners are down")
    assert "Next merge expected" in question
    bot.merge_queue.freeze("acme/site", FreezeTerms("release week"))
    await bot.wait_for_post("is frozen*", RELEASES)
    question = await bot.ask("/mq pause CI is down again")
    assert "*Pause acme/site?* 1 running batch stops, and " in question
    assert "Next merge expected" not in question


async def test_now_and_a_personal_setting_skip_the_question(bot: BotTester) -> None:
    bot.enqueue(hangs=True)
    await bot.checks_run(1)
    await bot.pause("now CI runners are down")
    assert bot.pause_reason() == "CI runners are down (by alice via Slack)"
    await bot.resume()
    await bot.checks_run(1)
    assert "Confirmations are off." in await bot.ask("/mq me confirmations off")
    assert "down again" in await bot.pause("CI runners are down again")


async def test_an_unreadable_status_does_not_prevent_a_pause(bot: BotTester) -> None:
    bot.enqueue(hangs=True)
    await bot.checks_run(1)
    bot.break_service("error", path="/status", status=503)
    await bot.pause("CI runners are down")
