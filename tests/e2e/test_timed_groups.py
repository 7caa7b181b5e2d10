"""Groups that are paused for a while: extended and watched together, resumed in one post."""

from collections.abc import Sequence
from datetime import timedelta

import pytest

from bot.kernel.repository import RepositoryName
from bot.pauses.pause import Timer
from bot.pauses.rows import Pauses
from bot.sandbox.merge_queue.controls import FreezeTerms
from bot.store.engines import create_engine
from bot.store.transactions import Store
from tests.e2e.conftest import OVER_HTTP, StartBot
from tests.e2e.test_groups import paused, reasons
from tests.support.bot_tester import ALICE, BOB, BotTester
from tests.support.transactions import begin
from tests.support.waiting import until_true

pytestmark = [pytest.mark.e2e, OVER_HTTP]

FREEZE = "freeze (by alice via Slack)"


async def test_a_group_paused_for_a_while_resumes_by_itself(three: BotTester) -> None:
    question = await three.ask("/mq pause @release 30m freeze")
    assert "Reason: freeze" in question
    assert "They resume automatically " in question
    post = await paused(three, "30m freeze")
    assert "Until 20" in post
    assert reasons(three)[0] == FREEZE

    await three.pass_time(45 * 60)

    resumed = await three.wait_for_post("@release: 2 of 2 queues resumed")
    assert "By the timer set by alice" in resumed
    assert "15 min late" in resumed
    await three.wait_for_change(post, "*@release was paused*")
    assert reasons(three) == [None, None, None]
    assert len(three.posts()) == 2


async def test_a_slowly_paused_group_resumes_at_one_moment_with_one_post(
    start_bot: StartBot,
) -> None:
    names = [f"acme/repo-{number:02}" for number in range(24)]
    bot = await start_bot(
        repositories=dict.fromkeys(names, "quiet"),
        channels=f"{names[0]}=C0RELEASE:freeze",
        environment={"MQBOT_POLL_SECONDS": "3600"},
    )
    bot.break_service("slow", path="/merge-queue/pause", method="PUT", seconds=0.5)
    question = await bot.ask("/mq pause all 30m freeze")
    await bot.click(question, "Pause 24 queues")
    await bot.wait_for_post("all: 24 of 24 queues paused")
    bot.fix_service()
    (end,) = {timer.resumes_at for timer in await running_timers(bot)}

    await bot.pass_time((end - bot.clock.now()).total_seconds())

    await bot.wait_for_post("all: 24 of 24 queues resumed")
    assert len(bot.posts()) == 2
    assert not any(bot.pause_reason(name) for name in names)


async def test_a_group_timer_leaves_other_peoples_pauses_alone(three: BotTester) -> None:
    await paused(three, "30m freeze")
    three.merge_queue.resume("acme/api", by="carol")
    await three.wait_for_post("acme/api has resumed*")
    await three.wait_for_direct_message("carol resumed acme/api outside Slack")
    three.pause_elsewhere("Night", repository="acme/api", seconds_from_now=5)

    await three.pass_time(31 * 60)

    resumed = await three.wait_for_post("acme/site has resumed*")
    assert "By the timer set by alice" in resumed
    assert reasons(three) == [None, "Night", None]


async def test_a_timer_that_failed_to_resume_a_queue_retries(three: BotTester) -> None:
    await paused(three, "30m freeze")
    three.break_service("error", path="/acme/api/merge-queue/pause", method="DELETE", status=503)

    await three.pass_time(31 * 60)

    resumed = await three.wait_for_post("@release: 1 of 2 queues resumed")
    assert "the bot retries" in resumed
    assert resumed.labels == []
    three.fix_service()
    await three.pass_time(61)
    await three.wait_for_post("acme/api has resumed*")
    assert reasons(three) == [None, None, None]


@pytest.mark.usefixtures("hurried_reminders")
async def test_a_group_that_cannot_be_resumed_says_so(three: BotTester) -> None:
    post = await paused(three, "30m freeze")
    three.break_service("error", path="/merge-queue/pause", method="DELETE", status=503)

    await three.pass_time(30 * 60 + 1)

    await three.wait_for_change(post, "overdue, still trying")
    await three.pass_time(301)
    notice = await three.wait_for_post("2 queues of @release")
    assert "overdue, still trying" in notice
    assert "still trying" in notice
    await until_true(lambda: _both_wait(three), "neither is being tried")
    three.fix_service()
    await three.pass_time(61)
    await three.wait_for_change(post, "*@release was paused*")
    await three.wait_for_post("2 of 2 queues resumed")


async def running_timers(bot: BotTester) -> Sequence[Timer]:
    store = Store(create_engine(bot.database_url))
    with begin(store) as transaction:
        pauses = Pauses(transaction).open(
            [RepositoryName(repository) for repository in bot.repositories]
        )
    await store.close()
    return [pause.timer for pause in pauses if pause.timer is not None]


async def _both_wait(bot: BotTester) -> bool:
    """Otherwise a repaired service might resume one queue after failing the other."""
    timers = await running_timers(bot)
    soon = bot.clock.now() + timedelta(seconds=3)
    return len(timers) == 2 and all(timer.due_at and timer.due_at > soon for timer in timers)


async def test_extending_a_group_moves_all_its_ends_together(three: BotTester) -> None:
    post = await paused(three, "30m freeze")
    assert "Until 20" in post

    await three.choose(post, "1 h more", menu="Extend…", by=BOB)

    notice = await three.wait_in_thread(post, "@release: the pauses of 2 of 2 queues extended")
    assert notice.words.startswith(":alarm_clock: ")
    assert "By bob · Until 20" in notice
    assert "*2 extended:* acme/site, acme/api" in notice
    await three.wait_for_direct_message("the pauses of 2 of 2 queues extended")
    await three.wait_for_change(post, "Until 20")
    await three.pass_time(31 * 60)
    await three.ask("/mq status @release")
    assert reasons(three) == [FREEZE, FREEZE, None]
    await three.pass_time(60 * 60)
    resumed = await three.wait_for_post("@release: 2 of 2 queues resumed")
    assert "By the timer set by bob" in resumed
    assert len(three.posts()) == 2


@pytest.mark.usefixtures("hurried_reminders")
async def test_a_reminder_can_give_a_group_an_end(three: BotTester) -> None:
    post = await paused(three)
    await three.pass_time(1801)
    mine = await three.wait_for_direct_message("2 queues of @release are still paused", by=ALICE)

    assert "resumes automatically" in str(mine.element("Set an end…").question)
    await three.choose(mine, "Another time…", menu="Set an end…")

    form = await three.modal("Until when")
    assert "*@release*" in form
    answer = await three.submit(form, end="soon")
    assert "Write it like 45m" in answer["errors"]["end"]
    await three.submit(form, end="30m")
    await three.modal("the pauses of 2 of 2 queues extended")
    await three.wait_for_change(post, "Until 20")
    await three.wait_in_thread(post, "the pauses of 2 of 2 queues extended")
    await three.pass_time(31 * 60)
    await three.wait_for_post("@release: 2 of 2 queues resumed")
    # The channel in which the end was set gets the end and the result.
    await three.wait_for_direct_message("the pauses of 2 of 2 queues extended")
    await three.wait_for_direct_message("@release: 2 of 2 queues resumed")
    assert reasons(three) == [None, None, None]


async def test_pauses_that_could_not_be_extended_are_named_and_retried_with_the_same_end(
    three: BotTester,
) -> None:
    post = await paused(three, "30m freeze")
    three.break_service("error", path="/acme/api/merge-queue/pause", method="GET", status=409)

    await three.choose(post, "1 h more", menu="Extend…")

    notice = await three.wait_in_thread(post, "the pauses of 1 of 2 queues extended")
    assert "acme/api: 409 conflict" in notice
    await three.wait_for_change(post, " between ")
    three.fix_service()
    await three.click(notice, "Retry the rest", by=BOB)
    await three.wait_in_thread(post, "the pauses of 1 of 1 queue extended")
    await three.wait_for_direct_message("the pauses of 1 of 1 queue extended")
    await three.pass_time(31 * 60)
    await three.ask("/mq status @release")
    assert reasons(three) == [FREEZE, FREEZE, None]
    await three.pass_time(60 * 60)
    await three.wait_for_post("acme/site")
    await three.wait_for_post("acme/api")
    assert reasons(three) == [None, None, None]


async def test_only_pauses_that_still_belong_to_the_group_are_extended(three: BotTester) -> None:
    post = await paused(three, "30m freeze")
    three.merge_queue.resume("acme/api", by="carol")
    await three.wait_for_post("acme/api has resumed*")
    await three.wait_for_direct_message("carol resumed acme/api outside Slack")
    card = await three.wait_for_change(post, "*1 still paused:* acme/site")

    await three.choose(card, "15 min more", menu="Extend…", by=BOB)

    notice = await three.wait_in_thread(post, "the pauses of 1 of 1 queue extended")
    assert "By bob · Until 20" in notice
    await three.wait_for_direct_message("the pauses of 1 of 1 queue extended")


@pytest.mark.usefixtures("hurried_reminders")
async def test_extending_an_ended_group_pause_changes_nothing_and_says_so(three: BotTester) -> None:
    post = await paused(three)
    await three.pass_time(1801)
    mine = await three.wait_for_direct_message("2 queues of @release are still paused", by=ALICE)
    for name in ("acme/site", "acme/api"):
        three.merge_queue.resume(name, by="carol")
        await three.next_poll(name)
    # The log, by a clock that was not moved, is too far back to say who it was.
    await three.pass_time(70)
    await three.wait_for_post("acme/site has resumed*")
    await three.wait_for_post("acme/api has resumed*")
    await three.wait_for_direct_message("outside Slack")
    await three.wait_for_direct_message("outside Slack")
    await three.wait_for_change(post, "*@release was paused*")

    await three.choose(mine, "in 15 min", menu="Set an end…")

    await three.wait_for_reply(
        "No pause of @release is in force. Nothing was changed.", channel=mine.channel
    )
    # What was left for a moment had been reminded of with the rest.
    assert sum("still paused" in message.line for message in three.direct_messages(by=ALICE)) == 1
    assert reasons(three) == [None, None, None]


async def test_a_watcher_is_notified_once_when_the_whole_group_resumes(three: BotTester) -> None:
    post = await paused(three, "30m freeze")
    await three.choose(post, "Notify me when it resumes", menu="More actions", by=BOB)
    await three.wait_for_reply("You'll get a direct message when everything paused", by=BOB)
    await three.choose(post, "Notify me when it resumes", menu="More actions", by=BOB)
    await three.wait_for_reply("You've already asked", by=BOB)

    three.merge_queue.resume("acme/site", by="carol")
    await three.wait_for_post("acme/site has resumed*")
    await three.wait_for_direct_message("carol resumed acme/site outside Slack")
    assert three.direct_messages(by=BOB) == []
    await three.type("/mq resume @release")

    await three.wait_for_post("@release: 1 of 2 queues resumed")
    notice = await three.wait_for_direct_message(
        "Everything paused for @release has resumed", by=BOB
    )
    assert "The last: alice resumed acme/api" in notice
    assert len(three.direct_messages(by=BOB)) == 1


async def test_a_watcher_is_notified_once_when_both_pauses_end_together(three: BotTester) -> None:
    post = await paused(three, "30m freeze")
    await three.choose(post, "Notify me when it resumes", menu="More actions", by=BOB)
    await three.wait_for_reply("You'll get a direct message", by=BOB)
    await three.click(post, "Resume @release")
    await three.wait_for_post("@release: 2 of 2 queues resumed")
    await three.wait_for_direct_message("Everything paused for @release has resumed", by=BOB)
    assert len(three.direct_messages(by=BOB)) == 1


async def test_a_retry_after_the_end_has_passed_resumes_nothing(three: BotTester) -> None:
    post = await paused(three)
    three.break_service("error", path="/acme/api/merge-queue/pause", method="GET", status=409)
    await three.choose(post, "in 15 min", menu="Set an end…")
    notice = await three.wait_in_thread(post, "the pauses of 1 of 2 queues extended")
    three.fix_service()
    await three.pass_time(16 * 60)
    await three.wait_for_post("acme/site has resumed*")

    await three.click(notice, "Retry the rest", by=BOB)

    await three.wait_in_thread(post, "the pauses of 1 of 1 queue extended")
    await three.wait_for_direct_message("the pauses of 1 of 1 queue extended")
    await three.next_poll("acme/api")
    assert reasons(three) == [None, FREEZE, None]
    await three.pass_time(16 * 60)
    await three.wait_for_post("acme/api has resumed*")


async def test_a_duration_at_the_end_of_a_groups_reason_asks_for_its_meaning(
    three: BotTester,
) -> None:
    question = await three.ask("/mq pause @release freeze 30m")
    assert "Pause @release until when?" in question
    assert question.labels == [
        "Resume in 30 min",
        "Another time…",
        "No end; the reason is “freeze 30m”",
    ]
    await three.click(question, "Resume in 30 min")
    post = await three.wait_for_post("@release: 2 of 2 queues paused")
    assert "Until 20" in post
    await three.wait_until_gone(question)
    assert reasons(three) == [FREEZE, FREEZE, None]


async def test_a_lone_number_for_a_group_asks_whether_it_is_a_duration(three: BotTester) -> None:
    question = await three.ask("/mq pause @release 30")
    await three.click(question, "Resume in 30 min")
    await three.wait_until_gone(question)
    await three.submit(await three.modal("2 queues of @release"), reason="freeze")
    assert "Until 20" in await three.wait_for_post("@release: 2 of 2 queues paused")
    await three.modal("2 of 2 queues paused")


async def test_a_groups_end_that_is_far_away_is_shown_with_its_date_first(three: BotTester) -> None:
    day = three.clock.now() + timedelta(days=3)
    typed = f"until {day:%b} {day.day} 9:00 UTC"
    question = await three.ask(f"/mq pause now @release {typed} release 4.2")
    assert f"Pause @release until {day:%Y-%m-%d} 09:00 UTC?" in question
    assert question.labels[1:] == ["Another time…", "Don't pause"]
    assert reasons(three) == [None, None, None]
    await three.click(question, question.labels[0])
    post = await three.wait_for_post("@release: 2 of 2 queues paused")
    assert f"Until {day:%Y-%m-%d} 09:00" in post


async def test_a_groups_freeze_that_is_far_away_is_shown_with_its_date_first(
    three: BotTester,
) -> None:
    day = three.clock.now() + timedelta(days=3)
    question = await three.ask(f"/mq freeze now @release until {day:%A} 9:00 UTC release 4.2")
    assert f"Freeze @release until {day:%Y-%m-%d} 09:00 UTC?" in question
    frozen = [three.merge_queue.repository(name).freezes for name in ("acme/site", "acme/api")]
    assert frozen == [[], []]
    await three.click(question, question.labels[0])
    await three.wait_for_post("@release: 2 of 2 queues frozen")


async def test_a_groups_planned_freeze_is_not_called_frozen(three: BotTester) -> None:
    begins = three.clock.now() + timedelta(hours=2)
    times = f"from {begins:%H:%M} UTC until {begins + timedelta(hours=2):%H:%M} UTC"
    question = await three.ask(f"/mq freeze @release {times} release 4.2")
    await three.click(question, "Freeze")
    post = await three.wait_for_post("@release: a freeze of 2 of 2 queues is planned")
    assert "frozen" not in post
    again = await three.ask(f"/mq freeze now @release {times} release 4.2")
    assert "already frozen" not in again.words.lower()


async def test_a_group_that_is_frozen_already_is_not_asked_about(three: BotTester) -> None:
    day = three.clock.now() + timedelta(days=3)
    for name in ("acme/site", "acme/api"):
        three.merge_queue.freeze(name, FreezeTerms("night"))
    answer = await three.ask(f"/mq freeze now @release until {day:%A} 9:00 UTC release 4.2")
    assert "Already frozen" in answer
    assert "Nothing was changed" in answer
    assert answer.labels == []


async def test_a_group_that_is_paused_already_is_not_asked_about(three: BotTester) -> None:
    for name in ("acme/site", "acme/api"):
        await three.publish(f"/mq pause now {name} CI is down", f"*{name} is paused*", by=BOB)
    day = three.clock.now() + timedelta(days=3)
    for end in ("45m", f"until {day:%A} 9:00 UTC"):
        answer = await three.ask(f"/mq pause @release {end} release 4.2")
        assert "All 2 queues are already paused: acme/site by bob, acme/api by bob" in answer
        assert answer.labels == []


async def test_what_somebody_planned_alone_is_not_called_frozen_when_a_group_is_unfrozen(
    three: BotTester,
) -> None:
    begins = three.clock.now() + timedelta(hours=2)
    three.merge_queue.freeze("acme/site", FreezeTerms("night", start=begins))
    answer = await three.ask("/mq unfreeze @release 4.2 is out")
    assert "1 only planned (left alone):* acme/site" in answer
    assert "1 not frozen:* acme/api" in answer
    assert len(three.merge_queue.repository("acme/site").freezes) == 1
