"""The App Home tab: all queues at a glance, and their buttons."""

import pytest

from tests.e2e.conftest import StartBot
from tests.support.bot_tester import ALICE, BOB, MERGE_QUEUE, BotTester

pytestmark = pytest.mark.e2e


async def test_the_home_tab_shows_every_queue(start_bot: StartBot) -> None:
    bot = await start_bot(repositories={"acme/site": "quiet", "acme/api": "quiet"})
    bot.merge_queue.pause("acme/api", "Database migration", by="carol")
    await bot.open_home()
    home = await bot.home("Merge queues")
    assert "*acme/site* is running, the queue is empty" in home
    assert "*acme/api* is paused" in home
    assert "*Reason:* Database migration" in home
    assert home.labels == ["Pause queue…", "Refresh", "Resume queue", "Refresh"]


async def test_pausing_from_the_home_tab_asks_for_a_reason(start_bot: StartBot) -> None:
    bot = await start_bot(channels=f"acme/site={MERGE_QUEUE}:pause")
    await bot.open_home()
    await bot.click(await bot.home("is running"), "Pause queue…")
    await bot.submit(await bot.modal("0 pull requests"), reason="CI runners are down")
    await bot.modal("acme/site is paused")
    await bot.wait_for_post("Queue paused", by=BOB)
    await bot.click(await bot.home(), "Refresh")
    home = await bot.home("*acme/site* is paused")
    assert "Paused by alice" in home


async def test_resuming_from_the_home_tab_shows_the_queue_running_again(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(channels=f"acme/site={MERGE_QUEUE}:pause")
    await bot.type("/mq pause CI runners are down", by=BOB)
    await bot.wait_for_post("Queue paused")
    await bot.open_home()
    await bot.click(await bot.home("is paused"), "Resume queue")
    await bot.home("*acme/site* is running")
    post = await bot.wait_for_post("Queue unpaused")
    assert "by alice" in post
    await bot.wait_for_direct_message("Queue unpaused")
    assert bot.pause_reason() is None


async def test_a_stale_resume_on_the_home_tab_tells_the_person_what_is_true(
    bot: BotTester,
) -> None:
    bot.merge_queue.pause("acme/site", "Night", by="carol")
    await bot.open_home()
    home = await bot.home("is paused")
    bot.merge_queue.unpause("acme/site", by="carol")
    await bot.click(home, "Resume queue")
    await bot.wait_for_direct_message("acme/site is not paused. Nothing to do.", by=ALICE)
    await bot.home("*acme/site* is running")


async def test_a_queue_that_cannot_be_read_is_never_shown_as_empty(start_bot: StartBot) -> None:
    bot = await start_bot(repositories={"acme/site": "quiet", "acme/api": "quiet"})
    bot.break_service("error", path="/acme/api/", status=503)
    await bot.open_home()
    home = await bot.home("*acme/api*: the merge queue service does not answer")
    assert "*acme/site* is running" in home
    assert home.labels == ["Pause queue…", "Refresh", "Try again"]
    bot.mend_service()
    await bot.click(home, "Try again")
    await bot.home("*acme/api* is running")


async def test_the_messages_tab_draws_nothing(bot: BotTester) -> None:
    await bot.slack.people.home(BOB, "messages")
    await bot.open_home()
    await bot.home("Merge queues")
    assert bot.slack.sight.views(BOB)["home"] is None
