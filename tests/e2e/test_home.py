"""The App Home tab: all queues at a glance, and their buttons."""

import pytest

from tests.e2e.conftest import OVER_HTTP, StartBot
from tests.support.bot_tester import ALICE, BOB, CAROL, MERGE_QUEUE, RELEASES, BotTester
from tests.support.waiting import until, until_true

pytestmark = [pytest.mark.e2e, OVER_HTTP]

MENU = "Choose notifications"
SET_UP = ["Link my login…", "Add a channel…", "Plan a freeze…", "Who may pause"]
BELOW = [MENU, "Open calendar", "All subscriptions"]


async def test_the_home_tab_shows_every_queue(start_bot: StartBot) -> None:
    bot = await start_bot(repositories={"acme/site": "quiet", "acme/api": "quiet"})
    bot.merge_queue.pause("acme/api", "Database migration", by="carol")
    await bot.slack.people.home(BOB, "messages")
    home = await bot.see_home_with_freezes("Merge queues")
    assert bot.slack.sight.views(BOB)["home"] is None
    assert "*acme/site* is running, the queue is empty" in home
    assert "*acme/api* is paused" in home
    assert "is paused · Database migration" in home
    paused = ["Resume queue", "Freeze…", "Refresh"]
    running = ["Pause queue…", "Freeze…", "Refresh"]
    assert home.labels == [*paused, *running, *SET_UP, *BELOW]


async def test_a_queue_is_resumed_and_paused_from_the_home_tab(start_bot: StartBot) -> None:
    bot = await start_bot(channels=f"acme/site={MERGE_QUEUE}:pause")
    await bot.pause("CI runners are down", by=BOB)
    await bot.open_home()
    await bot.click(await bot.home("is paused"), "Resume queue")
    home = await bot.home("*acme/site* is running")
    post = await bot.wait_for_post("has resumed")
    assert "By alice" in post
    await bot.wait_for_direct_message("has resumed")
    await bot.wait_for_direct_message("alice resumed acme/site", by=BOB)
    assert bot.pause_reason() is None

    await bot.click(home, "Pause queue…")
    await bot.submit(await bot.modal("0 queued"), reason="CI runners are down")
    await bot.modal("acme/site is paused")
    await bot.wait_for_post("is paused", by=BOB)
    await bot.click(await bot.home(), "Refresh")
    home = await bot.home("*acme/site* is paused")
    assert "*By* alice" in home


async def test_the_home_tab_shows_only_timers_that_will_end_a_pause(bot: BotTester) -> None:
    await bot.pause("45m CI runners are down")
    home = await bot.see_home("is paused")
    assert "*Pauses that resume automatically*" in home
    assert "acme/site resumes" in home
    await bot.click(home, "Resume queue")
    await bot.wait_for_post("has resumed")
    await bot.wait_for_direct_message("has resumed")
    assert "Pauses that resume automatically" not in await bot.home("*acme/site* is running")


async def test_a_stale_resume_on_the_home_tab_shows_the_current_state(bot: BotTester) -> None:
    bot.merge_queue.pause("acme/site", "Night", by="carol")
    home = await bot.see_home("is paused")
    bot.merge_queue.resume("acme/site", by="carol")
    await bot.click(home, "Resume queue")
    # Once the event log is read, the bot knows who resumed it.
    said = await bot.wait_for_direct_message("acme/site is", by=ALICE)
    assert "not paused. Nothing to do." in said or "already running: carol resumed it" in said
    await bot.home("*acme/site* is running")


async def test_a_queue_that_cannot_be_read_is_never_shown_as_empty(start_bot: StartBot) -> None:
    bot = await start_bot(repositories={"acme/site": "quiet", "acme/api": "quiet"})
    bot.break_service("error", path="/acme/api/", status=503)
    home = await bot.see_home_with_freezes("*acme/api*: the merge queue service isn't responding")
    assert "*acme/site* is running" in home
    running = ["Pause queue…", "Freeze…", "Refresh"]
    assert home.labels == ["Try again", *running, *SET_UP, *BELOW]
    bot.fix_service()
    await bot.click(home, "Try again")
    await bot.home("*acme/api* is running")


async def test_the_home_tab_shows_subscriptions_and_the_bot_status(start_bot: StartBot) -> None:
    bot = await start_bot(channels=f"acme/site={MERGE_QUEUE}:pause")
    await bot.type("/mq subscribe all failure", channel=RELEASES)
    await bot.wait_for_post(channel=RELEASES)
    home = await bot.see_home("Subscriptions")
    assert f"• #{MERGE_QUEUE} · *acme/site* · pause · in threads (from the configuration)" in home
    assert f"• #{RELEASES} · *all repositories (1 repository)* · failure · in threads" in home
    assert "*Bot status:* OK" in home
    assert "waiting" not in home.words.partition("*Bot status:* OK")[2]


async def test_the_home_tab_shows_my_pull_requests_once_my_login_is_linked(bot: BotTester) -> None:
    bot.merge_queue.pause("acme/site", "Night", by="carol")
    bot.enqueue(title="Add search", author="ada")
    bot.enqueue(title="Drop the old parser", author="zoe")
    await bot.open_home()
    assert "Link your code host username" in await bot.home("My pull requests")

    assert "Linked to the code host user *Ada*" in await bot.ask("/mq link @Ada")
    assert "Linked to the code host user *Ada*" in await bot.ask("/mq me")
    home = await bot.see_home("Add search")
    assert "Drop the old parser" not in home

    assert "no longer linked" in await bot.ask("/mq link off")
    assert "I don't know your code host username" in await bot.ask("/mq me")
    assert "Nothing to do" in await bot.ask("/mq link off")


async def test_a_login_of_another_person_is_refused_and_both_are_notified(bot: BotTester) -> None:
    await bot.ask("/mq link ada")
    refused = await bot.ask("/mq link ADA", by=BOB)
    assert "ADA is linked to another person. Nothing was changed, and I've let them know" in refused
    notice = await bot.wait_for_direct_message("tried to link ADA, which is linked to you")
    assert BOB in str(notice.blocks)
    # The bot is strict about messages that nobody reads: these would be.
    for again in ("ada", "Ada", "ADA"):
        refused = await bot.ask(f"/mq link {again}", by=BOB)
        assert "is linked to another person. Nothing was changed." in refused
    assert "I don't know your code host username" in await bot.ask("/mq me", by=BOB)
    assert "Linked to the code host user *ada*" in await bot.ask("/mq me")
    assert "A login has letters" in await bot.ask("/mq link <!channel>")
    assert "one word" in await bot.ask("/mq link")


async def test_the_owner_of_a_login_is_told_even_if_slack_fails_or_it_was_anothers_before(
    bot: BotTester,
) -> None:
    await bot.ask("/mq link ada")
    bot.expected_refusals.add("chat.postMessage account_inactive")
    bot.break_slack("refuse", "chat.postMessage", code="account_inactive")
    refused = await bot.ask("/mq link ada", by=BOB)
    assert "ada is linked to another person. Nothing was changed. If" in refused
    assert "I've let them know" in await bot.ask("/mq link ada", by=BOB)
    await bot.wait_for_direct_message("tried to link ada, which is linked to you")

    await bot.ask("/mq link off")
    await bot.ask("/mq link ada", by=CAROL)
    assert "I've let them know" in await bot.ask("/mq link ada", by=BOB)
    await bot.wait_for_direct_message("tried to link ada, which is linked to you", by=CAROL)


async def test_the_operator_can_assign_a_login(bot: BotTester) -> None:
    await bot.ask("/mq link ada")
    await bot.stop_bot()
    bot.environment = {"MQBOT_LOGINS": f"{BOB}=ada"}
    await bot.start_bot()
    assert "Linked to the code host user *ada*" in await bot.ask("/mq me", by=BOB)
    assert "I don't know your code host username" in await bot.ask("/mq me")

    assert "Linked to the code host user *bob-m*" in await bot.ask("/mq link bob-m", by=BOB)
    assert "ada is assigned to another person" in await bot.ask("/mq link ada")
    await bot.stop_bot()
    await bot.start_bot()
    assert "Linked to the code host user *bob-m*" in await bot.ask("/mq me", by=BOB)


async def test_the_age_of_a_home_tab_is_that_of_its_data(bot: BotTester) -> None:
    bot.break_slack("slow", "views.publish", seconds=3.0)
    await bot.open_home()
    await bot.struck("slow")
    await bot.pass_time(61)
    await bot.home("is running, the queue is empty")
    bot.merge_queue.pause("acme/site", "Night", by="carol")
    await bot.home("*acme/site* is paused")


async def test_an_open_home_tab_updates_by_itself_though_slack_rejected_it_once(
    bot: BotTester,
) -> None:
    bot.expected_refusals = {"views.publish internal_error"}
    await bot.see_home("is running, the queue is empty")
    bot.break_slack("internal_error", "views.publish")
    bot.merge_queue.pause("acme/site", "Night", by="carol")
    await bot.pass_time(61)
    await bot.struck("internal_error")
    await bot.pass_time(61)
    await bot.home("*acme/site* is paused")


async def test_a_home_tab_updates_again_after_slack_could_not_identify_the_person(
    bot: BotTester,
) -> None:
    bot.expected_refusals = {"users.info internal_error"}
    await bot.see_home("is running, the queue is empty")
    bot.break_slack("internal_error", "users.info", times=1)
    await bot.pass_time(600)
    await bot.struck("internal_error")
    bot.merge_queue.pause("acme/site", "Night", by="carol")

    async def is_shown() -> bool:
        # When the bot hears the refusal, and so when the tab is due again, is not seen from here.
        await bot.pass_time(1)
        return "*acme/site* is paused" in await bot.home()

    await until_true(is_shown, "the paused queue in the tab")


async def test_a_home_tab_where_nothing_has_changed_is_not_drawn_again(bot: BotTester) -> None:
    await bot.see_home(by=ALICE)
    await bot.see_home(by=BOB)
    before = len(bot.calls("views.publish"))
    reads = len(bot.requests("/merge-queue/status"))
    await bot.pass_time(61)
    await until(lambda: len(bot.requests("/merge-queue/status")) > reads, "a new look")
    await bot.open_home(by=BOB)
    await until(lambda: len(bot.calls("views.publish")) > before, "the tab that was opened")
    assert len(bot.calls("views.publish")) == before + 1


async def test_tabs_opened_long_ago_are_not_looked_up(bot: BotTester) -> None:
    home = await bot.see_home("is running")
    await bot.pass_time(2 * 3600)
    bot.merge_queue.pause("acme/site", "Night", by="carol")
    await bot.happens("queue.pause.create")
    assert await bot.home() == home
