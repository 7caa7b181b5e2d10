"""Timed pauses: resumed, extended, replaced, and late after an outage."""

import re
from datetime import timedelta

import pytest

from tests.e2e.conftest import OVER_SOCKET_MODE, StartBot
from tests.support.bot_tester import BOB, MERGE_QUEUE, RELEASES, BotTester
from tests.support.waiting import until

pytestmark = [pytest.mark.e2e, OVER_SOCKET_MODE]

UNTIL = r"\*Until\* \d{4}-\d\d-\d\d \d\d:\d\d UTC"
OVERDUE = rf"{UNTIL}: overdue, still trying"


async def test_a_timed_pause_resumes_and_names_its_author(bot: BotTester) -> None:
    post = await bot.pause("45m CI runners are down")
    assert "Until 20" in post
    assert bot.pause_reason() == "CI runners are down (by alice via Slack)"

    await bot.pass_time(44 * 60)
    assert bot.pause_reason() is not None
    await bot.pass_time(61)
    resumed = await bot.wait_for_post("has resumed")
    assert "By the timer set by alice" in resumed
    assert "late" not in resumed
    assert bot.pause_reason() is None


async def test_a_timer_missed_during_downtime_resumes_late_and_says_so(bot: BotTester) -> None:
    await bot.pause("15m deploying 4.2")
    await bot.stop_bot()
    await bot.pass_time(40 * 60)
    await bot.start_bot()
    assert "25 min late" in await bot.wait_for_post("has resumed")


TWO = {"acme/site": "quiet", "acme/api": "quiet"}


async def test_a_timer_ends_with_its_pause_when_another_pause_follows(
    start_bot: StartBot,
) -> None:
    # The channel gets every pause, whether or not the bot first sees the end of the one before.
    bot = await start_bot(repositories=TWO, channels=f"acme/site={MERGE_QUEUE}:pause")
    await bot.publish("/mq pause acme/site 15m deploying 4.2", "acme/site is paused*")
    await bot.publish("/mq pause acme/api 15m deploying 4.2", "acme/api is paused*")
    bot.merge_queue.resume("acme/site", by="carol")
    bot.pause_elsewhere("Database migration", seconds_from_now=5)

    def is_notice() -> bool:
        lines = [post.line for post in bot.posts() if "Database migration" in post]
        return any(line.startswith("acme/site is paused") for line in lines)

    await until(is_notice, "the pause of somebody else")
    await bot.pass_time(16 * 60)

    # The other timer was due at the same moment.
    await bot.wait_for_post("acme/api has resumed*")
    assert bot.pause_reason() == "Database migration"
    assert not [post.line for post in bot.posts() if "did nothing" in post]
    # Whichever the bot saw first: that her pause ended, or that another stood in its place.
    notice = await bot.wait_for_direct_message("acme/site")
    assert (
        "carol resumed acme/site outside Slack" in notice
        or "changed your pause of acme/site outside Slack" in notice
    )
    assert "alice tried" not in await bot.ask("/mq audit acme/site")


async def test_a_timer_without_its_pause_does_nothing(start_bot: StartBot) -> None:
    bot = await start_bot(repositories=TWO, channels=f"acme/api={MERGE_QUEUE}:pause")
    await bot.publish("/mq pause acme/site 15m deploying 4.2", "acme/site is paused*")
    await bot.publish("/mq pause acme/api 15m deploying 4.2", "acme/api is paused*")
    await bot.publish("/mq resume acme/site", "acme/site has resumed*", by=BOB)
    await bot.wait_for_direct_message("bob resumed acme/site")
    await bot.pass_time(16 * 60)
    await bot.wait_for_post("acme/api has resumed*")
    assert "by the timer" not in (await bot.ask("/mq audit acme/site")).words
    assert "tried" not in (await bot.ask("/mq audit acme/site")).words


async def test_an_unavailable_service_is_retried(bot: BotTester) -> None:
    await bot.pause("15m deploying 4.2")
    bot.break_service("error", path="/merge-queue/pause", status=503)
    await bot.pass_time(16 * 60)
    await bot.logged("timer_postponed")
    bot.fix_service()
    await bot.pass_time(60)
    await bot.wait_for_post("has resumed")


@pytest.mark.usefixtures("hurried_reminders")
async def test_a_failed_automatic_resume_is_shown_and_reminded_of(start_bot: StartBot) -> None:
    bot = await start_bot(environment={"MQBOT_REMINDER_MINUTES": "600"})
    card = await bot.pause("15m deploying 4.2")
    board = await bot.publish("/mq board", "is paused")
    bot.break_service("error", path="/merge-queue/pause", method="DELETE", status=403)

    await bot.pass_time(15 * 60 + 1)

    overdue = await bot.wait_for_change(card, "still trying")
    await bot.wait_for_direct_message("couldn't resume acme/site")
    assert "still trying" in overdue
    assert "overdue, still trying" in overdue
    await bot.wait_for_change(board, ": overdue, still trying")
    status = await bot.ask("/mq status", by=BOB)
    assert re.search(OVERDUE, status.words)
    assert "should have resumed" in await bot.ask("/mq pause night", by=BOB)
    assert len(bot.posts()) == 2

    await bot.pass_time(301)

    reminder = await bot.wait_for_post("is still paused* after 20 min")
    assert "overdue, still trying" in reminder
    await bot.choose(reminder, "15 min more", menu="Extend…", by=BOB)
    await bot.wait_in_thread(card, "changed the end")
    await bot.wait_for_direct_message("bob changed the end of your pause")
    await bot.wait_for_change(card, "Until 20")
    bot.fix_service()
    await bot.pass_time(15 * 60 + 1)
    await bot.wait_for_post("has resumed")
    assert len(bot.posts()) == 4


async def test_the_status_and_the_question_before_replacing_a_pause_show_the_end(
    bot: BotTester,
) -> None:
    await bot.pause("45m CI runners are down")
    status = await bot.ask("/mq status", by=BOB)
    assert re.search(UNTIL, status.words)
    assert "resumes" in await bot.ask("/mq status all", by=BOB)
    notice = await bot.ask("/mq pause deploying", by=BOB)
    assert "your reason: deploying · still resumes" in notice
    assert notice.labels == ["Replace reason, keep end", "Leave it"]
    notice = await bot.ask("/mq pause 2h deploying", by=BOB)
    assert "your reason: deploying · for 2h" in notice
    assert notice.labels == ["Replace reason and end", "Leave it"]


async def test_replacing_the_reason_keeps_the_end_and_says_so_to_everybody(bot: BotTester) -> None:
    first = await bot.pause("45m CI runners are down")
    question = await bot.ask("/mq pause deploying", by=BOB)
    await bot.click(question, "Replace reason, keep end", by=BOB)
    card = await bot.wait_for_change(first, "*acme/site is paused* · deploying")
    assert "Until 20" in card
    assert "resumes" in await bot.wait_in_thread(card, "changed why")
    assert "resumes" in await bot.wait_for_direct_message("bob replaced your pause")
    await bot.wait_for_change(question, "acme/site is paused, resumes", by=BOB)
    await bot.pass_time(46 * 60)
    await bot.wait_for_post("has resumed")
    assert bot.pause_reason() is None


async def test_an_end_is_not_kept_of_a_pause_that_is_over(bot: BotTester) -> None:
    await bot.pause("45m CI runners are down")
    question = await bot.ask("/mq pause deploying", by=BOB)
    await bot.resume()
    await bot.click(question, "Replace reason, keep end", by=BOB)
    await bot.wait_for_change(question, "acme/site is no longer paused", by=BOB)
    assert bot.pause_reason() is None


async def test_the_same_reason_with_another_duration_changes_the_end(bot: BotTester) -> None:
    card = await bot.pause("15m deploying 4.2")
    question = await bot.ask("/mq pause 2h deploying 4.2")
    await bot.click(question, "Replace end")
    await bot.wait_for_change(question, "acme/site is paused, resumes")
    line = await bot.wait_in_thread(card, "replaced the pause of acme/site* · deploying 4.2")
    assert "resumes" in line
    assert "before" not in line
    await bot.pass_time(16 * 60)
    await bot.ask("/mq status")
    assert bot.pause_reason() is not None
    await bot.pass_time(2 * 3600)
    await bot.wait_for_post("has resumed")


async def test_repeating_the_same_reason_asks_nothing(bot: BotTester) -> None:
    await bot.pause("deploying 4.2")
    answer = await bot.ask("/mq pause deploying 4.2")
    assert "This is your own pause." in answer
    assert answer.labels == []


async def test_a_menu_from_before_the_pause_had_an_end_changes_nothing(bot: BotTester) -> None:
    post = await bot.pause("deploying 4.2")
    question = (
        "acme/site stays paused until someone resumes it. With an end, it resumes automatically."
    )
    assert post.element("Set an end…").question == question
    await bot.choose(post, "in 1 h", menu="Set an end…", by=BOB)
    await bot.wait_in_thread(post, "changed the end")
    await bot.wait_for_direct_message("bob changed the end of your pause")
    await bot.wait_for_change(post, "Until 20")
    await bot.choose(post, "in 15 min", menu="Set an end…")
    notice = await bot.wait_for_reply(
        "Nothing was changed: the pause of acme/site already has an end"
    )
    assert "It resumes" in notice
    await bot.pass_time(20 * 60)
    await bot.ask("/mq status")
    assert bot.pause_reason() is not None
    await bot.pass_time(41 * 60)
    await bot.wait_for_post("has resumed")


async def test_extending_moves_the_end_and_notifies_the_channel(bot: BotTester) -> None:
    post = await bot.pause("15m deploying 4.2")
    await bot.choose(post, "1 h more", menu="Extend…", by=BOB)
    assert "resumes" in await bot.wait_in_thread(post, "bob changed the end")
    await bot.wait_for_direct_message("bob changed the end of your pause of acme/site to")

    await bot.pass_time(16 * 60)
    await bot.ask("/mq status")
    assert bot.pause_reason() is not None
    await bot.pass_time(60 * 60)
    assert "By the timer set by bob" in await bot.wait_for_post("has resumed")


async def test_the_form_can_give_a_pause_an_end(bot: BotTester) -> None:
    post = await bot.pause("deploying 4.2")
    await bot.choose(post, "Another time…", menu="Set an end…")
    form = await bot.modal("Until when")
    answer = await bot.submit(form, end="soon")
    assert "Write it like 45m" in answer["errors"]["end"]
    await bot.submit(form, end="30m")
    assert (await bot.modal("resumes")).title == "Merge queue"
    await bot.wait_in_thread(post, "changed the end")
    await bot.pass_time(31 * 60)
    await bot.wait_for_post("has resumed")


async def test_extending_an_ended_pause_changes_nothing_and_shows_the_current_state(
    bot: BotTester,
) -> None:
    post = await bot.pause("deploying 4.2")
    bot.merge_queue.resume("acme/site", by="carol")
    await bot.choose(post, "in 15 min", menu="Set an end…", by=BOB)
    assert "not paused. Nothing to do." in await bot.wait_for_reply(by=BOB)
    await bot.wait_for_post("has resumed")
    await bot.wait_for_direct_message("carol resumed acme/site outside Slack")


async def test_a_duration_typed_without_a_reason_is_preselected_in_the_form(bot: BotTester) -> None:
    await bot.type("/mq pause 45m")
    form = await bot.modal("0 queued")
    await bot.submit(form, reason="deploying 4.2")
    await bot.modal("is paused")
    assert "Until 20" in await bot.wait_for_post("is paused")
    await bot.pass_time(46 * 60)
    await bot.wait_for_post("has resumed")


async def test_a_time_of_day_is_the_persons_own_and_may_be_tomorrows(bot: BotTester) -> None:
    soon = bot.clock.now() + timedelta(hours=9)
    assert "Until 20" in await bot.pause(f"until {soon:%H:%M} UTC night shift")
    assert bot.pause_reason() == "night shift (by alice via Slack)"


async def test_an_impossible_duration_is_refused_with_a_fix(bot: BotTester) -> None:
    for typed, notice in (
        ("0m too short", "at least one minute"),
        ("-5m negative", "Write it like 45m"),
        ("99999999h overflow", "up to 30 days"),
        ("until 25:00 nonsense", "time doesn't exist"),
        ("until 2020-01-01 09:00 past", "That time is in the past"),
    ):
        assert notice in await bot.ask(f"/mq pause {typed}")
    assert bot.pause_reason() is None


async def test_a_channel_subscribed_to_pauses_is_notified_of_the_timer_too(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(channels=f"acme/site={RELEASES}:pause")
    await bot.pause("15m deploying 4.2")
    await bot.wait_for_post("is paused", RELEASES)
    # The service's clock is 16 minutes behind now, which several of its answers have to say.
    bot.break_service("error", path="/merge-queue/pause", method="DELETE", status=503)
    await bot.pass_time(16 * 60)
    await bot.logged("timer_postponed")
    await bot.next_poll()
    await bot.next_poll()
    bot.fix_service()
    for _ in range(3):
        await bot.pass_time(25)
        await bot.next_poll()
    await bot.wait_for_post("has resumed")
    await bot.wait_for_post("has resumed", RELEASES)
    # Its record of our act is no second one.
    bot.pause_elsewhere("Database migration", by="carol")
    card = await bot.wait_for_post("Database migration", RELEASES)
    await bot.wait_for_change(card, "By carol")


async def test_the_same_choice_of_a_menu_works_again_once_the_card_has_changed(
    bot: BotTester,
) -> None:
    card = await bot.pause("1h database migration")
    await bot.choose(card, "15 min more", menu="Extend…")
    longer = await bot.wait_for_other(card)
    await bot.choose(longer, "15 min more", menu="Extend…")
    longest = await bot.wait_for_other(longer)
    assert len({card.words, longer.words, longest.words}) == 3
