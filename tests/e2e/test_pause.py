"""Pausing and resuming by typed commands: what the person and the channel see."""

import asyncio
import re

import pytest

from tests.e2e.conftest import StartBot
from tests.support.bot_tester import (
    ALICE,
    BOB,
    GENERAL,
    INCIDENTS,
    MERGE_QUEUE,
    RELEASES,
    BotTester,
)

pytestmark = pytest.mark.e2e

HEARING = f"acme/site={MERGE_QUEUE}:enter,pause"


async def test_a_pause_with_a_reason_is_reported_to_the_channel(bot: BotTester) -> None:
    await bot.type("/mq pause CI runners are down")
    post = await bot.wait_for_post("Queue paused", by=BOB)
    assert post.words.startswith(
        ":double_vertical_bar: *Queue paused* acme/site: CI runners are down\nby alice · since"
    )
    assert post.labels == ["Resume queue", "Notify me when it resumes", "Set an end…"]
    assert "by alice" in post.line
    assert bot.pause_reason() == "CI runners are down (by alice via Slack)"
    assert bot.replies() == []


async def test_resuming_shows_who_resumed_and_how_long_it_was_paused(bot: BotTester) -> None:
    await bot.type("/mq pause CI runners are down")
    await bot.wait_for_post("Queue paused")
    await bot.type("/mq resume", by=BOB)
    post = await bot.wait_for_post("Queue resumed")
    assert "by bob · after " in post
    assert "it was paused for: CI runners are down" in post
    assert bot.pause_reason() is None
    await bot.wait_for_direct_message("bob resumed acme/site")


async def test_unpause_is_another_word_for_resume(bot: BotTester) -> None:
    bot.merge_queue.pause("acme/site", "Night", by="carol")
    await bot.type("/mq unpause")
    await bot.wait_for_post("Queue resumed")
    assert bot.pause_reason() is None


async def test_resuming_a_running_queue_tells_only_the_caller(bot: BotTester) -> None:
    answer = await bot.ask("/mq resume")
    assert answer.words == "acme/site is not paused. Nothing to do."
    assert bot.posts() == []


async def test_a_second_pause_shows_who_paused_since_when_and_why(bot: BotTester) -> None:
    await bot.type("/mq pause CI runners are down")
    await bot.wait_for_post("Queue paused")
    answer = await bot.ask("/mq pause Deploying 4.2", by=BOB)
    assert "acme/site is already paused by alice: CI runners are down" in answer
    assert "since " in answer
    assert "your reason: Deploying 4.2" in answer
    assert answer.labels == ["Replace reason", "Leave it"]
    assert bot.pause_reason() == "CI runners are down (by alice via Slack)"


async def test_replacing_the_reason_notifies_the_channel_and_the_first_pauser(
    bot: BotTester,
) -> None:
    await bot.type("/mq pause CI runners are down")
    card = await bot.wait_for_post("Queue paused")
    answer = await bot.ask("/mq pause Deploying 4.2", by=BOB)
    await bot.click(answer, "Replace reason", by=BOB)
    changed = await bot.wait_for_change(card, "*Queue paused* acme/site: Deploying 4.2")
    assert "by bob" in changed
    assert "previous reason: CI runners are down" in changed
    assert changed.labels == card.labels
    line = await bot.wait_in_thread(card, "*Pause reason changed* acme/site: Deploying 4.2")
    assert "by bob" in line
    await bot.wait_for_change(answer, "acme/site is paused", by=BOB)
    notice = await bot.wait_for_direct_message("bob replaced your pause of acme/site")
    assert "It now says: Deploying 4.2 (previous reason: CI runners are down)" in notice
    assert bot.pause_reason() == "Deploying 4.2 (by bob via Slack)"


async def test_cancelling_removes_the_question_and_changes_nothing(bot: BotTester) -> None:
    await bot.type("/mq pause CI runners are down")
    await bot.wait_for_post("Queue paused")
    answer = await bot.ask("/mq pause Deploying 4.2", by=BOB)
    await bot.click(answer, "Leave it", by=BOB)
    await bot.wait_until_gone(answer, by=BOB)
    assert bot.pause_reason() == "CI runners are down (by alice via Slack)"


async def test_replacing_a_pause_that_has_ended_asks_again(bot: BotTester) -> None:
    bot.pause_elsewhere("First", seconds_from_now=-60)
    answer = await bot.ask("/mq pause Mine")
    bot.merge_queue.resume("acme/site", by="carol")
    bot.pause_elsewhere("Second")
    await bot.click(answer, "Replace reason")
    again = await bot.wait_for_change(answer, "acme/site is already paused: Second")
    assert again.labels == ["Replace reason", "Leave it"]
    assert bot.pause_reason() == "Second"


async def test_two_people_who_pause_at_once_both_see_the_true_state(
    bot: BotTester,
) -> None:
    await asyncio.gather(
        bot.type("/mq pause Alice has a reason"),
        bot.type("/mq pause Bob has one too", by=BOB),
    )
    post = await bot.wait_for_post("Queue paused")
    winner, loser = ("alice", BOB) if "by alice" in post else ("bob", "U0ALICE")
    reason = "Alice has a reason" if winner == "alice" else "Bob has one too"
    answer = await bot.wait_for_reply(by=loser)
    assert f"acme/site is already paused by {winner}: {reason}" in answer
    assert bot.pause_reason() == f"{reason} (by {winner} via Slack)"
    assert len(bot.posts()) == 1


async def test_two_people_who_resume_at_once_both_see_the_true_state(bot: BotTester) -> None:
    bot.merge_queue.pause("acme/site", "Night", by="carol")
    await asyncio.gather(bot.type("/mq resume"), bot.type("/mq resume", by=BOB))
    post = await bot.wait_for_post("Queue resumed")
    winner, loser = ("alice", BOB) if "by alice" in post else ("bob", ALICE)
    await bot.wait_for_reply(f"acme/site is already running: {winner} resumed it", by=loser)
    assert len(bot.posts()) == 1


async def test_a_reason_of_256_characters_is_refused_with_its_length(bot: BotTester) -> None:
    answer = await bot.ask(f"/mq pause {'x' * 256}")
    assert "A reason has at most 255 characters; yours has 256." in answer
    assert bot.pause_reason() is None


async def test_a_reason_of_255_characters_is_signed_within_the_limit(bot: BotTester) -> None:
    await bot.type(f"/mq pause {'é' * 255}")
    await bot.wait_for_post("é" * 255)
    stored = bot.pause_reason()
    assert stored is not None
    assert len(stored) == 255
    assert stored.endswith("… (by alice via Slack)")


async def test_control_and_bidirectional_characters_are_removed(bot: BotTester) -> None:
    await bot.type("/mq pause deploy\x07ing \u202e4.2\u200b now")
    await bot.wait_for_post("*Queue paused* acme/site: deploying 4.2 now")
    assert bot.pause_reason() == "deploying 4.2 now (by alice via Slack)"


async def test_markup_channels_and_addresses_in_a_reason_appear_as_typed(
    bot: BotTester,
) -> None:
    await bot.type("/mq pause <b> & *see* #general or https://ci.example/1?a=1&b=2 <!here>")
    typed = "<b> & *see* #general or https://ci.example/1?a=1&b=2 <!here>"
    post = await bot.wait_for_post(typed)
    assert "<!here>" not in str(post.blocks)
    assert bot.pause_reason() == f"{typed} (by alice via Slack)"


async def test_a_pause_by_command_is_reported_once_despite_its_log_event(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(channels=HEARING)
    await bot.type("/mq pause CI runners are down")
    await bot.wait_for_post("Queue paused")
    await bot.type("/mq resume")
    await bot.wait_for_post("Queue resumed")
    # The log is told in order: what follows the pause in it is told after the pause.
    number = bot.enqueue(hangs=True)
    await bot.wait_for_post(f"#{number}")
    notice = [re.split(" (?:acme|#)", post.line)[0] for post in bot.posts()]
    assert notice == ["Was paused", "Queue resumed", "Queued"]


async def test_a_pause_typed_elsewhere_is_posted_there_and_in_subscribed_channels(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(channels=HEARING)
    await bot.type("/mq pause CI runners are down", channel=GENERAL)
    await bot.wait_for_post("Queue paused", GENERAL)
    await bot.wait_for_post("Queue paused", MERGE_QUEUE)


async def test_a_dashboard_pause_shows_its_person_and_appears_once(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(channels=HEARING)
    bot.merge_queue.pause("acme/site", "Database migration", by="carol")
    post = await bot.wait_for_post("Queue paused")
    assert "Database migration" in post
    # Whichever tells of it first: the service's status knows no person, the event log does.
    await bot.wait_for_change(post, "by carol")
    bot.merge_queue.resume("acme/site", by="dave")
    post = await bot.wait_for_post("Queue resumed")
    assert "by dave" in post
    number = bot.enqueue()
    await bot.wait_for_post(f"#{number}")
    assert len(bot.posts()) == 3


async def test_in_a_private_channel_without_the_bot_the_caller_sees_the_reply(
    bot: BotTester,
) -> None:
    bot.expected_refusals = {"conversations.info channel_not_found"}
    await bot.type("/mq pause CI runners are down", channel=INCIDENTS)
    post = await bot.wait_for_post("Queue paused", INCIDENTS, by=BOB)
    assert "by alice" in post
    await bot.type("/mq resume", channel=INCIDENTS)
    await bot.wait_for_post("Queue resumed", INCIDENTS)


async def test_a_public_channel_without_the_bot_is_joined_to_post_there(bot: BotTester) -> None:
    await bot.type("/mq pause CI runners are down", channel=RELEASES)
    await bot.wait_for_post("Queue paused", RELEASES)
    assert len(bot.calls("conversations.join")) == 1


async def test_among_several_repositories_the_bot_asks_and_continues_with_the_chosen_one(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(repositories={"acme/site": "quiet", "acme/api": "quiet"}, channels="")
    question = await bot.ask("/mq pause Deploying 4.2")
    assert "Which repository?" in question
    assert bot.pause_reason("acme/api") is None
    await bot.choose(question, "acme/api", menu="Choose a repository")
    await bot.wait_for_post("*Queue paused* acme/api: Deploying 4.2")
    assert bot.pause_reason("acme/site") is None
    assert bot.pause_reason("acme/api") == "Deploying 4.2 (by alice via Slack)"


async def test_a_channel_subscribed_to_one_repository_defaults_to_it(start_bot: StartBot) -> None:
    bot = await start_bot(
        repositories={"acme/site": "quiet", "acme/api": "quiet"},
        channels=f"acme/api={MERGE_QUEUE}:failure",
    )
    await bot.type("/mq pause Deploying 4.2")
    await bot.wait_for_post("*Queue paused* acme/api: Deploying 4.2")
    await bot.type("/mq resume acme/api")
    await bot.wait_for_post("*Queue resumed* acme/api")


async def test_a_repository_is_found_by_its_name_alone_when_there_is_one_owner(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(repositories={"acme/site": "quiet", "acme/api": "quiet"}, channels="")
    await bot.type("/mq pause api Deploying 4.2")
    await bot.wait_for_post("*Queue paused* acme/api: Deploying 4.2")


async def test_a_replacement_in_a_private_channel_without_the_bot_is_posted_there(
    bot: BotTester,
) -> None:
    bot.expected_refusals = {"conversations.info channel_not_found"}
    bot.merge_queue.pause("acme/site", "Night", by="carol")
    question = await bot.ask("/mq pause Deploying 4.2", channel=INCIDENTS)
    await bot.click(question, "Replace reason")
    await bot.wait_for_change(question, "acme/site is paused.")
    await bot.wait_for_post("Pause reason changed", INCIDENTS, by=BOB)


async def test_the_person_who_paused_gets_a_message_when_somebody_else_resumes(
    bot: BotTester,
) -> None:
    await bot.type("/mq pause CI runners are down")
    await bot.wait_for_post("Queue paused")
    await bot.type("/mq resume", by=BOB)
    await bot.wait_for_post("Queue resumed")
    notice = await bot.wait_for_direct_message("bob resumed acme/site after")
    assert "You had paused it: CI runners are down" in notice


async def test_a_person_who_resumes_their_own_pause_gets_no_message(bot: BotTester) -> None:
    await bot.type("/mq pause CI runners are down")
    await bot.wait_for_post("Queue paused")
    await bot.type("/mq resume")
    await bot.wait_for_post("Queue resumed")
    await bot.has_posted()
    assert bot.direct_messages(by=ALICE) == []


async def test_a_resume_on_the_dashboard_reaches_the_person_who_paused(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(channels=HEARING)
    await bot.type("/mq pause CI runners are down")
    await bot.wait_for_post("Queue paused")
    bot.merge_queue.resume("acme/site", by="dave")
    await bot.wait_for_post("Queue resumed")
    await bot.wait_for_direct_message("dave resumed acme/site outside Slack after")


async def test_resuming_without_a_name_takes_the_only_queue_that_is_paused(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(
        repositories=dict.fromkeys(("acme/site", "acme/api", "acme/docs"), "quiet"), channels=""
    )
    await bot.type("/mq pause acme/api Deploying 4.2")
    await bot.wait_for_post("Queue paused")
    await bot.type("/mq resume")
    await bot.wait_for_post("*Queue resumed* acme/api")
    assert "Which repository?" in await bot.ask("/mq resume")


async def test_the_channels_own_queue_runs_and_the_only_paused_one_is_asked_about(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(repositories={"acme/site": "quiet", "acme/api": "quiet"}, channels="")
    await bot.type("/mq default acme/site")
    await bot.wait_for_post("Default repository in this channel")
    await bot.type("/mq pause acme/api Deploying 4.2", by=BOB)
    await bot.wait_for_post("Queue paused")
    question = await bot.ask("/mq resume")
    asked = "acme/site is running. acme/api is paused by bob: Deploying 4.2. Resume it?"
    assert question.line.startswith(f"{asked}\nsince ")
    assert bot.pause_reason("acme/api") is not None
    await bot.click(question, "Resume queue")
    await bot.wait_for_post("*Queue resumed* acme/api")
    await bot.wait_for_change(question, "*acme/api* is running")
    await bot.wait_for_direct_message("alice resumed acme/api", by=BOB)


async def test_the_channels_own_queue_is_resumed_before_other_paused_ones(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(repositories={"acme/site": "quiet", "acme/api": "quiet"}, channels="")
    await bot.type("/mq default acme/site")
    await bot.wait_for_post("Default repository in this channel")
    await bot.type("/mq pause acme/api Deploying 4.2")
    await bot.wait_for_post("Queue paused")
    bot.merge_queue.pause("acme/site", "Night", by="carol")
    await bot.type("/mq resume")
    await bot.wait_for_post("*Queue resumed* acme/site")
    assert bot.pause_reason("acme/api") is not None


async def test_of_several_paused_queues_the_menu_offers_no_other(start_bot: StartBot) -> None:
    names = ("acme/site", "acme/api", "acme/docs", "acme/web")
    bot = await start_bot(repositories=dict.fromkeys(names, "quiet"), channels="")
    for name in ("acme/web", "acme/api"):
        await bot.type(f"/mq pause {name} Deploying 4.2")
        await bot.wait_for_post(f"*Queue paused* {name}")
    question = await bot.ask("/mq resume")
    assert question.options("Choose a repository") == ["acme/api", "acme/web"]
    await bot.type("/mq default acme/site")
    await bot.wait_for_post("Default repository in this channel")
    again = await bot.ask("/mq resume")
    assert again.words == "acme/site is running. Which paused queue do you want to resume?"
    await bot.choose(again, "acme/web", menu="Choose a repository")
    await bot.wait_for_post("*Queue resumed* acme/web")
    assert bot.pause_reason("acme/api") is not None


async def test_resuming_without_a_name_takes_the_queue_paused_on_the_dashboard(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(repositories={"acme/site": "quiet", "acme/api": "quiet"}, channels="")
    bot.merge_queue.pause("acme/api", "Night", by="carol")
    await bot.next_poll("acme/api")
    await bot.type("/mq resume")
    await bot.wait_for_post("*Queue resumed* acme/api")


async def test_a_lone_number_asks_whether_it_is_a_duration(bot: BotTester) -> None:
    question = await bot.ask("/mq pause 45")
    assert "Pause acme/site for 45 min?" in question
    assert bot.pause_reason() is None
    await bot.click(question, "Yes, pause for 45 min")
    await bot.wait_until_gone(question)
    await bot.submit(await bot.modal("0 pull requests"), reason="CI runners are down")
    await bot.modal("is paused, resumes")
    await bot.wait_for_post("resumes")
    assert bot.pause_reason() == "CI runners are down (by alice via Slack)"


async def test_a_lone_number_may_be_the_reason(bot: BotTester) -> None:
    question = await bot.ask("/mq pause 45")
    await bot.click(question, "No, pause without an end")
    card = await bot.wait_for_post("*Queue paused* acme/site: 45")
    assert "resumes" not in card
    await bot.wait_for_change(question, "acme/site is paused.")


async def test_a_duration_at_the_end_of_a_reason_asks_for_its_meaning(bot: BotTester) -> None:
    question = await bot.ask("/mq pause CI down 45m")
    assert "Pause acme/site for 45 min?" in question
    assert "“CI down 45m”" in question
    await bot.click(question, "Yes, pause for 45 min")
    card = await bot.wait_for_post("*Queue paused* acme/site: CI down\n")
    await bot.wait_for_change(card, "resumes")
    await bot.wait_for_change(question, "acme/site is paused, resumes")
    assert bot.pause_reason() == "CI down (by alice via Slack)"


async def test_a_duration_at_the_end_may_belong_to_the_reason(bot: BotTester) -> None:
    question = await bot.ask("/mq pause checks take until 15:00")
    await bot.click(question, "No, pause without an end")
    card = await bot.wait_for_post("*Queue paused* acme/site: checks take until 15:00")
    assert "resumes" not in card
    await bot.wait_for_change(question, "acme/site is paused.")


async def test_a_reason_that_begins_with_a_number_is_a_reason(bot: BotTester) -> None:
    await bot.type("/mq pause 45 tests fail")
    await bot.wait_for_post("*Queue paused* acme/site: 45 tests fail")


async def test_a_pause_that_stops_running_checks_is_confirmed_with_the_numbers(
    bot: BotTester,
) -> None:
    numbers = [bot.enqueue(title=f"Door {one}", hangs=True) for one in ("red", "green")]
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
    card = await bot.wait_for_post("Queue paused")
    assert "CI runners are down" in card
    assert bot.pause_reason() == "CI runners are down (by alice via Slack)"
    assert len(numbers) == 2


async def test_now_and_a_personal_setting_skip_the_question(bot: BotTester) -> None:
    bot.enqueue(hangs=True)
    await bot.checks_run(1)
    await bot.type("/mq pause now CI runners are down")
    await bot.wait_for_post("Queue paused")
    assert bot.pause_reason() == "CI runners are down (by alice via Slack)"
    await bot.type("/mq resume")
    await bot.wait_for_post("Queue resumed")
    await bot.checks_run(1)
    assert "Confirmations: off now." in await bot.ask("/mq me confirmations off")
    await bot.type("/mq pause CI runners are down again")
    assert "down again" in await bot.wait_for_post("Queue paused")


async def test_an_unreadable_status_does_not_prevent_a_pause(
    bot: BotTester,
) -> None:
    bot.enqueue(hangs=True)
    await bot.checks_run(1)
    bot.break_service("error", path="/status", status=503)
    await bot.type("/mq pause CI runners are down")
    await bot.wait_for_post("Queue paused")


async def test_resuming_by_button_asks_with_who_paused_when_and_why(bot: BotTester) -> None:
    await bot.type("/mq pause CI runners are down")
    card = await bot.wait_for_post("Queue paused")
    question = card.element("Resume queue").question
    assert question is not None
    assert re.fullmatch(
        r"acme/site was paused by alice on \d{4}-\d\d-\d\d \d\d:\d\d UTC: CI runners are down\. "
        r"Checks start over\..*",
        question,
    )
