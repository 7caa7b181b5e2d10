"""Buttons act on the current state, whatever they were drawn for."""

import asyncio
import re

import pytest

from tests.e2e.conftest import StartBot
from tests.support.bot_tester import ALICE, BOB, CAROL, GENERAL, MERGE_QUEUE, BotTester
from tests.support.waiting import until

pytestmark = pytest.mark.e2e


async def test_resume_asks_first_then_ends_the_pause_and_closes_its_card(bot: BotTester) -> None:
    post = await bot.pause("CI runners are down")
    # The card says how many are queued as soon as the bot has looked, which may be now.
    question = str(post.element("Resume queue").question).removesuffix(" 0 queued.")
    assert re.fullmatch(
        r"acme/site was paused by alice: CI runners are down\. "
        r"Checks start over\.",
        question,
    )
    await bot.click(post, "Resume queue", by=BOB)
    closed = await bot.wait_for_change(post, "*acme/site was paused* · CI runners are down")
    assert "By alice · Lasted " in closed
    assert "Resumed by bob" in closed
    assert closed.labels == []
    await bot.wait_for_post("has resumed")
    await bot.wait_for_direct_message("bob resumed acme/site")
    assert bot.pause_reason() is None

    await bot.click(post, "Resume queue")
    await bot.wait_for_reply("acme/site is already running: bob resumed it")
    assert bot.now(post) == closed


async def test_a_stale_resume_button_changes_nothing_and_shows_the_current_state(
    bot: BotTester,
) -> None:
    bot.pause_elsewhere("First reason", seconds_from_now=-60)
    stale = await bot.ask("/mq")
    bot.merge_queue.resume("acme/site", by="carol")
    bot.pause_elsewhere("Second reason", seconds_from_now=5)
    await bot.click(stale, "Resume queue")
    answer = await bot.wait_for_reply("That pause is over")
    assert "acme/site is now paused" in answer
    assert "Second reason" in answer
    assert bot.pause_reason() == "Second reason"
    await bot.click(answer, "Resume queue")
    await bot.wait_for_post("has resumed")
    assert bot.pause_reason() is None
    await bot.wait_for_change(answer, "is running")


async def test_the_status_of_a_pause_whose_reason_was_changed_resumes_it(bot: BotTester) -> None:
    card = await bot.pause("First reason")
    bot.merge_queue.pause("acme/site", "Second reason", by="carol")
    await bot.wait_for_change(card, "Second reason")
    await bot.wait_in_thread(card, "changed why acme/site is paused")
    await bot.wait_for_direct_message("changed your pause of acme/site")
    status = await bot.ask("/mq")
    assert "Second reason" in status
    await bot.click(status, "Resume queue")
    await bot.wait_for_post("has resumed")
    await bot.wait_for_change(status, "*acme/site* is running")


async def test_a_resume_button_of_an_ended_pause_says_that_it_is_not_paused(
    start_bot: StartBot,
) -> None:
    # Without events of pauses, the bot can't know who resumed it.
    bot = await start_bot(logs_pauses=False)
    bot.merge_queue.pause("acme/site", "First reason", by="carol")
    status = await bot.ask("/mq")
    bot.merge_queue.resume("acme/site", by="carol")
    await bot.click(status, "Resume queue")
    answer = await bot.wait_for_reply("is not paused")
    assert answer.words == "acme/site is not paused. Nothing to do."
    await bot.wait_for_change(status, "*acme/site* is running")


async def test_a_double_click_resumes_once_and_both_answers_are_true(bot: BotTester) -> None:
    post = await bot.pause("CI runners are down")
    await asyncio.gather(bot.click(post, "Resume queue"), bot.click(post, "Resume queue"))
    await bot.wait_for_post("has resumed")
    answer = await bot.wait_for_reply("acme/site is already running: alice resumed it")
    assert answer.labels == []
    assert len(bot.posts()) == 2
    resumes = [event for event in bot.events() if event.type == "queue.pause.delete"]
    assert len(resumes) == 1


async def test_two_people_who_resume_together_see_who_did_it(bot: BotTester) -> None:
    post = await bot.pause("CI runners are down", by=CAROL)
    await asyncio.gather(bot.click(post, "Resume queue"), bot.click(post, "Resume queue", by=BOB))
    ended = await bot.wait_for_post("has resumed")
    if "By alice" in ended:
        first = ALICE
        second = BOB
        name = "alice"
    else:
        first = BOB
        second = ALICE
        name = "bob"
    await bot.wait_for_reply(f"acme/site is already running: {name} resumed it", by=second)
    await bot.has_posted()
    closed = await bot.wait_for_change(post, "*acme/site was paused* · CI runners are down")
    assert f"Resumed by {name}" in closed
    await bot.wait_for_direct_message(f"{name} resumed acme/site", by=CAROL)
    assert bot.replies(by=first) == []


async def test_a_double_click_on_replace_changes_the_reason_once(bot: BotTester) -> None:
    bot.merge_queue.pause("acme/site", "Night", by="carol")
    answer = await bot.ask("/mq pause Deploying 4.2")
    await asyncio.gather(bot.click(answer, "Replace reason"), bot.click(answer, "Replace reason"))
    await bot.wait_for_post("is paused")
    await bot.wait_for_change(answer, "paused")
    assert bot.pause_reason() == "Deploying 4.2 (by alice via Slack)"
    updates = [event for event in bot.events() if event.type == "queue.pause.update"]
    assert len(updates) == 1


async def test_pause_on_the_status_opens_the_form_and_resume_turns_it_back(bot: BotTester) -> None:
    status = await bot.ask("/mq")
    await bot.click(status, "Pause queue…")
    await bot.submit(await bot.modal("0 queued"), reason="CI runners are down")
    await bot.modal("is paused")
    await bot.wait_for_post("is paused")
    await bot.click(status, "Refresh")
    paused = await bot.wait_for_change(status, "*acme/site* is paused")
    await bot.click(paused, "Resume queue")
    await bot.wait_for_change(status, "*acme/site* is running")
    await bot.wait_for_post("has resumed")


async def test_a_person_of_another_organisation_is_refused(start_bot: StartBot) -> None:
    bot = await start_bot()
    guest = bot.slack.arrangement.add_user("eve", "external", "T0OTHER")["user"]
    post = await bot.pause("CI runners are down")
    post = await bot.wait_for_change(post, "0 queued")
    bot.slack.arrangement.change_channel(MERGE_QUEUE, {"is_ext_shared": True})
    bot.slack.arrangement.set_member(MERGE_QUEUE, guest, is_member=True)
    await bot.click(post, "Resume queue", by=guest)
    answer = await bot.wait_for_reply(by=guest)
    assert "you belong to another organisation" in answer
    assert bot.pause_reason() == "CI runners are down (by alice via Slack)"

    def is_without_buttons() -> bool:
        now = bot.now(post)
        return now is not None and "CI runners are down" in now and now.labels == []

    await until(is_without_buttons, "the card without buttons")


async def test_buttons_work_where_the_bot_is_not_a_member(bot: BotTester) -> None:
    status = await bot.ask("/mq", channel=GENERAL, by=BOB)
    await bot.click(status, "Pause queue…", by=BOB)
    await bot.submit(await bot.modal("0 queued", by=BOB), reason="CI runners are down", by=BOB)
    await bot.wait_for_post("is paused", GENERAL, by=ALICE)
    await bot.modal("is paused", by=BOB)


async def test_answering_an_expired_question_changes_nothing_and_says_so(bot: BotTester) -> None:
    bot.enqueue(hangs=True)
    await bot.checks_run(1)
    question = await bot.ask("/mq pause CI runners are down")
    bot.slack.installation.workspace.move_clock(14 * 60)
    in_time = await bot.ask("/mq pause 45")
    bot.slack.installation.workspace.move_clock(16 * 60)
    await bot.click(question, "Pause queue")
    gone = await bot.wait_for_change(question, "This question has expired.")
    assert gone.words.endswith("Nothing was changed: type `/mq pause …` again.")
    assert gone.labels == []
    assert bot.pause_reason() is None
    await bot.click(in_time, "Resume in 45 min")
    await bot.modal()
    await bot.wait_until_gone(in_time)


async def test_the_question_which_queue_is_meant_expires_too(start_bot: StartBot) -> None:
    bot = await start_bot(repositories={"acme/site": "quiet", "acme/api": "quiet"}, channels="")
    question = await bot.ask("/mq pause Deploying 4.2")
    bot.slack.installation.workspace.move_clock(16 * 60)
    await bot.click(question, "acme/api")
    await bot.wait_for_change(question, "type `/mq pause Deploying 4.2` again")
    assert bot.pause_reason("acme/api") is None
    again = await bot.ask("/mq pause Deploying 4.2")
    await bot.click(again, "acme/api")
    await bot.wait_for_post("*acme/api is paused*")
    await bot.wait_until_gone(again)
