"""Groups of repositories: confirmed, paused together, restored exactly, shown in one post."""

import asyncio
import re

import pytest

from tests.e2e.conftest import LIMITED, NAMES, OVER_HTTP, TWO_GROUPS, StartBot
from tests.e2e.test_mentions import mention
from tests.support.bot_tester import (
    ALICE,
    BOB,
    CAROL,
    GENERAL,
    INCIDENTS,
    MERGE_QUEUE,
    RELEASES,
    BotTester,
)
from tests.support.shown import Shown
from tests.support.waiting import until

pytestmark = [pytest.mark.e2e, OVER_HTTP, LIMITED]

CONTROLS = ["Resume @release", "Set an end…", "More actions"]


def reasons(bot: BotTester) -> list[str | None]:
    return [bot.pause_reason(name) for name in NAMES]


def answers(bot: BotTester, by: str = ALICE) -> list[Shown]:
    """The person's private replies, without progress lines, which only slow machines show."""
    return [reply for reply in bot.replies(by=by) if ":hourglass_flowing_sand:" not in reply]


async def paused(bot: BotTester, asked: str = "freeze", count: int = 2) -> Shown:
    """The post about the group, once `count` of its two queues are paused."""
    question = await bot.ask(f"/mq pause @release {asked}")
    await bot.click(question, "Pause 2 queues")
    post = await bot.wait_for_post(f"@release: {count} of 2 queues paused")
    await bot.wait_until_gone(question)
    return post


async def test_in_a_groups_thread_a_question_which_queue_names_the_group(
    three: BotTester,
) -> None:
    card = await paused(three, "CI is down")
    await three.has_posted()
    mention(three, "resume only acme/site", beneath=card)
    question = await three.wait_in_thread(card, "Resume acme/site or @release?")
    await three.click(question, "Resume acme/site: only acme/site")
    await three.wait_for_post("acme/site has resumed")
    assert three.pause_reason("acme/site") is None
    assert three.pause_reason("acme/api") is not None


async def test_one_command_subscribes_a_channel_to_a_whole_group(three: BotTester) -> None:
    await three.type("/mq subscribe @release enter")
    notice = await three.wait_for_post("Subscribed this channel to the 2 repositories of @release")
    assert "• *everything in @release: acme/site, acme/api*: enter · in threads" in notice
    listed = await three.ask("/mq subscriptions")
    assert "• *everything in @release: acme/api, acme/site*: enter · in threads" in listed
    for name in NAMES[:2]:
        number = three.enqueue(name)
        await three.wait_for_post(f"#{number}")

    answer = await three.ask("/mq subscribe @release enter")
    assert "is already subscribed to the 2 repositories of @release. Nothing to do." in answer
    await three.type("/mq unsubscribe @all")
    await three.wait_for_post("Unsubscribed this channel from acme/site, acme/api.")
    answer = await three.ask("/mq unsubscribe @release")
    assert answer.words == "This channel wasn't subscribed to any of them. Nothing to do."


async def test_a_group_that_is_configured_stays_and_is_named(three: BotTester) -> None:
    answer = await three.ask("/mq unsubscribe @all", channel=RELEASES)
    assert "This channel's subscription to acme/docs comes from the bot's configuration" in answer
    await three.type("/mq subscribe @papers merge", channel=RELEASES)
    notice = await three.wait_for_post("the 1 repository of @papers", RELEASES)
    assert "From the configuration: acme/docs" in notice


async def test_the_post_that_a_group_has_resumed_is_in_the_thread_of_its_card(
    three: BotTester,
) -> None:
    post = await paused(three)
    await three.has_posted()
    await three.type("/mq resume @release")
    resumed = await three.wait_for_post("@release: 2 of 2 queues resumed")
    assert [reply.ts for reply in three.thread(post)] == [resumed.ts]


async def test_the_rest_of_a_group_is_reported_in_the_thread_of_its_card_too(
    three: BotTester,
) -> None:
    card = await paused(three)
    await three.has_posted()
    three.break_service("error", path="acme/api/merge-queue/pause", method="DELETE", status=403)
    await three.type("/mq resume @release")
    first = await three.wait_for_post("@release: 1 of 2 queues resumed")
    three.fix_service()
    await three.click(first, "Retry the rest")
    rest = await three.wait_for_post("@release: 1 of 1 queue resumed")
    assert [reply.ts for reply in three.thread(card)] == [first.ts, rest.ts]


async def test_in_the_thread_of_a_groups_earlier_pause_todays_is_not_meant(
    three: BotTester,
) -> None:
    card = await paused(three)
    await three.has_posted()
    await three.type("/mq resume @release")
    await three.wait_for_post("@release: 2 of 2 queues resumed")
    again = await paused(three, "incident")
    mention(three, "resume", beneath=card)
    offer = await three.wait_in_thread(card, "The pause that this thread is about is over.")
    assert offer.labels == ["Run /mq resume @release"]
    assert three.pause_reason("acme/api") is not None
    mention(three, "resume", beneath=again)
    await three.wait_for_post("@release: 2 of 2 queues resumed")
    assert three.pause_reason("acme/api") is None


async def test_two_people_who_take_over_a_group_at_once_each_see_from_whom(
    three: BotTester,
) -> None:
    post = await paused(three)
    people = {"bob": BOB, "carol": CAROL}
    await asyncio.gather(
        *(three.choose(post, "Take over", menu="More actions", by=who) for who in people.values())
    )
    replies = {name: await three.wait_for_reply(by=who) for name, who in people.items()}
    await until(lambda: len(three.thread(post)) == 2, "both entries in the thread")
    entry, last_entry = (reply.line for reply in three.thread(post))
    first = entry.partition(" ")[0]
    last = last_entry.partition(" ")[0]
    assert {first, last} == {*people}

    assert "You took over the pause of @release from alice." in replies[first]
    assert f"You took over the pause of @release from {first}." in replies[last]
    assert entry == f"{first} took over the pause of @release."
    await three.wait_for_change(post, f"By alice · With {last} since ")
    told = await three.wait_for_direct_message(
        f"{last} took over your pause of @release.", by=people[first]
    )
    assert len(three.posts(told.channel, by=people[first])) == 1
    told = await three.wait_for_direct_message(f"{first} took over your pause of @release.")
    assert len(three.posts(told.channel)) == 1


async def test_a_group_pause_is_confirmed_and_shown_in_one_post(three: BotTester) -> None:
    question = await three.ask("/mq pause @release freeze for 4.2")
    assert "*Pause 2 queues of @release?* Reason: freeze for 4.2" in question
    assert "0 queued, no batch is running." in question
    assert question.labels == ["Pause 2 queues", "Leave it"]
    await three.click(question, "Leave it")
    await three.wait_until_gone(question)
    assert reasons(three) == [None, None, None]

    post = await paused(three, "freeze for 4.2")

    assert post.words.startswith(
        ":double_vertical_bar: *@release: 2 of 2 queues paused* · freeze for 4.2\n"
        "*By* alice · *Since* "
    )
    assert "*2 paused:* acme/site, acme/api" in post
    assert post.labels == CONTROLS
    signed = "freeze for 4.2 (by alice via Slack)"
    assert reasons(three) == [signed, signed, None]
    assert len(three.posts()) == 1


async def test_the_post_about_a_group_counts_the_batches_that_its_pauses_stopped(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(
        repositories=dict.fromkeys(NAMES, "quiet"), environment=TWO_GROUPS, speed=20.0
    )
    for name in NAMES[:2]:
        bot.enqueue(name, hangs=True)
        await bot.checks_run(1, name)
    await bot.wait_for_change(await paused(bot), "2 batches stopped")


async def test_resuming_restores_the_group_and_names_queues_left_alone(three: BotTester) -> None:
    three.merge_queue.pause("acme/api", "Night", by="carol")
    post = await paused(three, count=1)
    assert "*1 already paused:* acme/api" in post

    await three.type("/mq resume @release", by=BOB)

    post = await three.wait_for_post("@release: 1 of 2 queues resumed")
    assert "*1 resumed:* acme/site" in post
    assert "*1 still paused:* acme/api" in post
    assert reasons(three) == [None, "Night", None]
    await three.wait_for_direct_message("bob resumed acme/site")
    # The post is the result, for those who acted as well.
    assert answers(three) == []
    assert answers(three, BOB) == []


async def test_a_second_click_on_the_restore_button_reports_the_true_state(
    three: BotTester,
) -> None:
    post = await paused(three)
    await three.click(post, "Resume @release", by=BOB)
    await three.wait_for_post("2 of 2 queues resumed")
    notice = await three.wait_for_direct_message("Everything paused for @release has resumed")
    assert "bob resumed" in notice
    assert "You had paused it: freeze" in notice
    over = await three.wait_for_change(post, "*@release was paused*")
    assert over.labels == []

    await three.type("/mq resume @release", by=BOB)

    answer = await three.wait_for_reply("None of the 2 queues of @release is paused", by=BOB)
    assert "Nothing to do." in answer
    assert "*2 not paused:* acme/site, acme/api" in answer
    await three.type("/mq resume all", by=BOB)
    await three.wait_for_reply("*None of the 3 queues is paused. Nothing to do.*", by=BOB)
    assert len(three.posts()) == 2
    assert answers(three) == []


async def test_all_means_every_repository(three: BotTester) -> None:
    question = await three.ask("/mq pause all CI runners are down")
    assert "*Pause all 3 queues?* Reason: CI runners are down" in question
    await three.click(question, "Pause 3 queues")
    await three.wait_for_post("all: 3 of 3 queues paused")
    await three.wait_until_gone(question)

    await three.type("/mq resume all")

    await three.wait_for_post("all: 3 of 3 queues resumed")
    assert reasons(three) == [None, None, None]


async def test_a_group_of_which_all_is_paused_is_not_asked_about(three: BotTester) -> None:
    for name in NAMES[:2]:
        three.merge_queue.pause(name, "Night", by="carol")
    answer = await three.ask("/mq pause @release CI is down")
    assert "*@release*: All 2 queues are already paused: acme/site" in answer
    assert "Nothing was changed." in answer
    assert answer.labels == []
    answer = await three.ask("/mq pause now @release CI is down")
    assert "*@release: nothing was changed*" in answer
    # By whom is known once the log was read.
    assert re.search(r"\*2 already paused:\* acme/site( by carol)?, acme/api", answer.words)
    assert "since" not in answer
    assert reasons(three) == ["Night", "Night", None]


async def test_failed_parts_are_named_and_only_they_are_retried(three: BotTester) -> None:
    three.break_service("error", path="/acme/api/merge-queue/pause", method="PUT", status=409)
    post = await paused(three, count=1)
    assert "acme/api: 409 conflict" in post
    assert post.labels == [*CONTROLS, "Retry the rest"]
    three.fix_service()

    await three.click(post, "Retry the rest", by=BOB)

    again = await three.wait_for_post("@release: 1 of 1 queue paused")
    assert "*1 paused:* acme/api" in again
    signed = ["freeze (by alice via Slack)", "freeze (by bob via Slack)", None]
    assert reasons(three) == signed

    await three.click(post, "Retry the rest")

    stale = await three.wait_for_reply("Nothing was changed")
    assert "bob paused @release last" in stale
    assert reasons(three) == signed
    assert len(three.replies()) == 1


async def test_a_channel_subscribed_to_several_queues_gets_one_post(three: BotTester) -> None:
    for name in ("acme/site", "acme/api"):
        await three.type(f"/mq subscribe {name} pause", channel=RELEASES)
        await three.wait_for_post(f"Subscribed this channel to {name}", RELEASES)
    await three.type("/mq subscribe acme/api pause", channel=GENERAL)
    await three.wait_for_post("Subscribed this channel to acme/api", GENERAL)

    await paused(three)
    await three.wait_for_post("@release: 2 of 2 queues paused", RELEASES)
    await three.wait_for_post("acme/api is paused* · freeze", GENERAL)
    # The service's log tells of both pauses as well, and adds nothing.
    for name in ("acme/site", "acme/api"):
        await three.happens("queue.pause.create", repository=name)
        await three.next_poll(name)
    assert [len(three.posts(each)) for each in (MERGE_QUEUE, RELEASES, GENERAL)] == [1, 3, 2]
    assert answers(three) == []


async def test_an_unknown_group_is_refused_with_the_nearest_name(three: BotTester) -> None:
    answer = await three.ask("/mq pause @relaese freeze")
    assert answer.words == (
        ":warning: There is no group `@relaese`. Did you mean `/mq pause @release freeze`?"
    )
    assert answer.labels == ["Run /mq pause @release freeze"]
    answer = await three.ask("/mq pause @xyzzy freeze")
    assert answer.words == (
        ":warning: There is no group `@xyzzy`. Available: @release, @papers, @all."
    )


async def test_pausing_without_a_reason_opens_a_form_that_shows_the_impact(
    three: BotTester,
) -> None:
    three.merge_queue.pause("acme/api", "Night", by="carol")
    await three.type("/mq pause @release 30m")
    form = await three.modal("no batch is running")
    assert "*2 queues of @release*" in form
    assert "1 queue is already paused and stays as it is: acme/api" in form
    answer = await three.submit(form, reason=" ")
    assert answer["errors"]["reason"]
    answer = await three.submit(form, reason="99999h freeze", end="")
    assert "up to 30 days" in answer["errors"]["reason"]
    assert reasons(three) == [None, "Night", None]

    await three.submit(form, reason="freeze", end="30m")

    post = await three.wait_for_post("@release: 1 of 2 queues paused")
    assert "Until 20" in post
    await three.modal("@release: 1 of 2 queues paused")
    assert reasons(three)[0] == "freeze (by alice via Slack)"


async def test_the_group_post_stays_up_to_date_when_anyone_resumes_its_queues(
    three: BotTester,
) -> None:
    post = await paused(three)

    three.merge_queue.resume("acme/site", by="carol")

    await three.wait_for_post("acme/site has resumed*")
    await three.wait_for_direct_message("carol resumed acme/site outside Slack")
    edited = await three.wait_for_change(post, "*1 still paused:* acme/api")
    assert edited.labels == CONTROLS

    await three.type("/mq resume @release", by=BOB)

    closed = await three.wait_for_change(post, "*@release was paused*")
    assert closed.labels == []
    await three.wait_for_post("@release: 1 of 2 queues resumed")
    await three.wait_for_direct_message("Everything paused for @release has resumed")
    assert len(three.posts()) == 3


async def test_the_group_post_names_queues_paused_again(three: BotTester) -> None:
    post = await paused(three)

    three.merge_queue.resume("acme/site", by="carol")

    edited = await three.wait_for_change(post, "*@release: 1 of 2 queues still paused*")
    assert "*1 still paused:* acme/api" in edited
    assert "*1 resumed:* acme/site" in edited
    await three.wait_for_post("acme/site has resumed*")
    await three.wait_for_direct_message("carol resumed acme/site")

    three.pause_elsewhere("Night", by="carol", repository="acme/api")

    # A look at the queue may come before the event that names who has paused it.
    closed = await three.wait_for_change(post, "*1 paused again since:* acme/api by carol")
    assert "*@release was paused*" in closed
    await three.wait_for_post("Night")
    await three.wait_for_direct_message("Night")


async def test_the_channel_of_a_group_pause_gets_one_post_about_its_end(three: BotTester) -> None:
    post = await paused(three)
    await three.publish("/mq resume @release", "@release: 2 of 2 queues resumed", channel=GENERAL)
    await three.wait_for_post("@release: 2 of 2 queues resumed")
    await three.wait_for_change(post, "*@release was paused*")
    assert len(three.posts()) == 2


@pytest.mark.usefixtures("hurried_reminders")
async def test_a_group_gets_one_reminder_and_not_one_per_queue(three: BotTester) -> None:
    await paused(three)
    await three.pass_time(1801)
    mine = await three.wait_for_direct_message("2 queues of @release are still paused", by=ALICE)
    assert mine.labels == ["Resume @release", "Snooze 2 h", "Set an end…"]
    await three.pass_time(3601)
    notice = await three.wait_for_post("*2 queues of @release are still paused* after 1 h 30 min")
    assert "acme/site, acme/api" in notice
    await three.click(notice, "Resume @release", by=BOB)
    await three.wait_for_post("@release: 2 of 2 queues resumed")
    await three.wait_for_direct_message("Everything paused for @release has resumed")
    await three.wait_for_change(notice, "Everything paused for @release has resumed.")
    assert not [post for post in three.posts() if "till paused" in post]


@pytest.mark.usefixtures("hurried_reminders")
async def test_a_group_reminder_can_be_snoozed_after_its_first_queue_resumed(
    three: BotTester,
) -> None:
    card = await paused(three)
    await three.pass_time(1801)
    mine = await three.wait_for_direct_message("2 queues of @release are still paused", by=ALICE)
    await three.click(mine, "Snooze 2 h", by=ALICE)
    await three.wait_for_reply("No reminders about @release before", channel=mine.channel)
    await three.publish("/mq resume acme/site", "has resumed", by=BOB)
    await three.wait_for_direct_message("bob resumed acme/site")
    await three.wait_for_change(card, "*1 still paused:* acme/api")
    await three.click(mine, "Snooze 2 h", by=ALICE)
    await three.wait_for_reply("No reminders about acme/api before", channel=mine.channel)


async def test_the_status_of_a_group_has_a_line_for_each_queue(three: BotTester) -> None:
    three.merge_queue.pause("acme/api", "Night", by="carol")
    answer = await three.ask("/mq status @release")
    # Who paused is in the log, which may have been read already.
    assert answer.words.replace("paused by carol:", "paused:") == (
        "*@release: 1 of 2 queues paused*\n"
        "• *acme/site* running · 0 queued\n"
        "• *acme/api* paused: Night · 0 queued"
    )


async def test_people_without_the_right_are_refused_at_the_question_and_its_button(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(
        repositories=dict.fromkeys(NAMES, "quiet"),
        channels="acme/docs=C0RELEASE:freeze",
        environment={**TWO_GROUPS, "MQBOT_WHO_MAY_PAUSE": "U0ALICE"},
    )
    refused = await bot.ask("/mq pause @release freeze", by=BOB)
    assert "can pause a queue" in refused
    post = await paused(bot)

    await bot.click(post, "Resume @release", by=BOB)

    answer = await bot.wait_for_reply("can resume a queue", by=BOB)
    assert "alice" in answer
    assert reasons(bot)[0] == "freeze (by alice via Slack)"


async def test_the_audit_is_shown_page_by_page(bot: BotTester) -> None:
    for number in range(6):
        await bot.pause(f"reason {number}")
        await bot.resume(by=BOB)
        await bot.wait_for_direct_message("bob resumed acme/site")

    shown = await bot.ask("/mq audit acme/site since:1h", by=BOB)

    assert shown.words.count(":white_check_mark: ") == 10
    assert "reason 5" in shown
    assert "reason 0" not in shown
    assert "· by command ·" in shown
    assert "service" not in shown.words
    assert shown.labels == ["Older"]
    await bot.click(shown, "Older", by=BOB)
    older = await bot.wait_for_change(shown, "reason 0", by=BOB)
    assert older.words.count(":white_check_mark: ") == 2
    assert older.labels == ["Newer"]
    await bot.click(older, "Newer", by=BOB)
    newer = await bot.wait_for_change(older, "reason 5", by=BOB)
    assert newer.labels == ["Older"]


async def test_the_audit_has_subscriptions_and_refusals(start_bot: StartBot) -> None:
    bot = await start_bot(environment={"MQBOT_WHO_MAY_PAUSE": "U0ALICE"})
    await bot.publish("/mq subscribe merge", "Subscribed this channel to acme/site")
    await bot.ask("/mq pause CI is down", by=BOB)
    answer = await bot.ask("/mq audit")
    assert "*alice* subscribed a channel to acme/site" in answer
    assert "before: none, now: merge" in answer
    assert ":no_entry: *bob* tried to pause acme/site: CI is down. That was refused." in answer


async def test_a_group_action_interrupted_by_a_restart_is_retried_and_restored_exactly(
    three: BotTester,
) -> None:
    """The bot is stopped while the service has paused one of two queues."""
    three.break_service("slow", path="/acme/api/merge-queue/pause", method="PUT", seconds=3600)
    question = await three.ask("/mq pause @release freeze")
    await three.click(question, "Pause 2 queues")
    await until(lambda: three.pause_reason("acme/site") is not None, "the first of the pauses")
    await three.wait_for_change(question, "Pausing @release")
    await three.stop_bot()
    await three.wait_for_reply("I'm restarting before this has finished")
    three.fix_service()
    await three.pass_time(11)
    await three.start_bot()

    card = await three.wait_for_post("@release: 1 of 2 queues paused")
    assert "1 where I can't tell yet:" in card
    assert "acme/api: interrupted by a restart of the bot" in card
    await three.pass_time(60)
    notice = await three.wait_for_direct_message("@release: 1 of 2 queues paused")
    assert "1 failed" in notice
    assert reasons(three) == ["freeze (by alice via Slack)", None, None]
    await three.click(notice, "Retry the rest")
    await three.wait_for_post("@release: 1 of 1 queue paused")
    assert reasons(three) == ["freeze (by alice via Slack)"] * 2 + [None]

    await three.click(card, "Resume @release", by=BOB)
    await three.wait_for_post("@release: 2 of 2 queues resumed")
    await three.wait_for_direct_message("bob resumed acme/site")
    await three.wait_for_direct_message("bob resumed acme/api")
    assert reasons(three) == [None, None, None]
    await three.stop_bot()
    three.posts()
    three.posts(RELEASES)
    three.direct_messages(by=ALICE)


async def test_the_channel_sees_the_progress_of_a_long_action(three: BotTester) -> None:
    three.break_service("slow", path="/acme/api/merge-queue/pause", method="PUT", seconds=4)
    await three.click(await three.ask("/mq pause @release freeze"), "Pause 2 queues")

    post = await three.wait_for_post("Pausing @release: 1 of 2 queues so far")

    assert "1 paused" in post
    assert post.labels == []
    ended = await three.wait_for_change(post, "@release: 2 of 2 queues paused")
    assert ended.labels == CONTROLS
    assert len(three.posts()) == 1


async def test_the_result_of_a_long_act_appears_only_in_the_channel(three: BotTester) -> None:
    await paused(three)
    for name, seconds in (("site", 1.5), ("api", 2.5)):
        path = f"/acme/{name}/merge-queue/pause"
        three.break_service("slow", path=path, method="DELETE", seconds=seconds)

    await three.type("/mq resume @release", by=BOB)

    await three.wait_for_post("@release: 2 of 2 queues resumed")
    await three.wait_for_direct_message("Everything paused for @release has resumed")
    await three.stop_bot()
    assert [reply for reply in three.replies(by=BOB) if "2 of 2 queues" in reply] == []


async def test_forty_five_queues_fit_into_slacks_limits(start_bot: StartBot) -> None:
    names = [f"acme/a-rather-long-name-of-a-repository-{number:02}" for number in range(45)]
    bot = await start_bot(
        repositories=dict.fromkeys(names, "quiet"),
        channels=f"{names[0]}=C0RELEASE:freeze",
        environment={"MQBOT_POLL_SECONDS": "3600"},
    )
    question = await bot.ask("/mq pause all CI runners are down")
    assert "Pause all 45 queues?" in question

    await bot.click(question, "Pause 45 queues")

    post = await bot.wait_for_post("all: 45 of 45 queues paused")
    assert names[0] in post
    assert "and " in post
    assert "more" in post
    await bot.wait_until_gone(question)
    assert all(bot.pause_reason(name) for name in names)
    assert (await bot.ask("/mq status all")).words.count("paused by alice") == 45


async def test_a_channel_without_the_bot_is_still_notified(three: BotTester) -> None:
    three.expected_refusals = {"conversations.info channel_not_found"}
    question = await three.ask("/mq pause @release freeze", channel=INCIDENTS)
    await three.click(question, "Pause 2 queues")
    notice = await three.wait_for_post("@release: 2 of 2 queues paused", INCIDENTS, by=BOB)
    # It may be shared with others, for all the bot knows: nothing to press there.
    assert notice.labels == []
    await three.wait_until_gone(question)

    await three.type("/mq resume @release", channel=INCIDENTS, by=BOB)

    await three.wait_for_post("@release: 2 of 2 queues resumed", INCIDENTS, by=BOB)
    await three.wait_for_direct_message("Everything paused for @release has resumed")
    # The log names the ends by now, which is no reason to post to the channel again.
    for name in NAMES[:2]:
        await three.next_poll(name)
        await three.next_poll(name)
    await three.has_posted()
    assert len(three.posts(INCIDENTS)) == 2


async def test_a_form_for_a_removed_group_shows_an_error_at_its_field(three: BotTester) -> None:
    await three.type("/mq pause @release")
    form = await three.modal("2 queues of @release")
    await three.stop_bot()
    three.environment = {"MQBOT_GROUPS": "papers=acme/docs"}
    await three.start_bot()

    answer = await three.submit(form, reason="freeze")

    assert "This isn't available any more" in answer["errors"]["target"]
    assert reasons(three) == [None, None, None]


async def test_a_form_to_extend_a_removed_group_shows_an_error_at_its_field(
    three: BotTester,
) -> None:
    post = await paused(three, "30m freeze")
    await three.choose(post, "Another time…", menu="Extend…")
    form = await three.modal("Until when")
    await three.stop_bot()
    three.environment = {"MQBOT_GROUPS": "papers=acme/docs"}
    await three.start_bot()

    answer = await three.submit(form, end="45m")

    assert "This isn't available any more" in answer["errors"]["end"]


async def test_an_owners_queues_are_paused_and_resumed_like_a_groups(three: BotTester) -> None:
    question = await three.ask("/mq pause `acme/*` freeze")
    await three.click(question, "Pause 3 queues")
    await three.wait_for_post("all of acme: 3 of 3 queues paused")
    await three.wait_until_gone(question)
    assert all("freeze" in str(reason) for reason in reasons(three))
    await three.type("/mq resume acme/*")
    await three.wait_for_post("all of acme: 3 of 3 queues resumed")
    assert reasons(three) == [None] * 3
    refused = await three.ask("/mq pause nobody/* freeze")
    assert "don't manage" in refused
