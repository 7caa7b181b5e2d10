"""The answer to `/mq status`."""

from datetime import UTC, datetime, timedelta

import pytest

from bot.sandbox.merge_queue.controls import FreezeTerms
from tests.e2e.conftest import OVER_SOCKET_MODE, StartBot
from tests.support.bot_tester import BOB, GENERAL, MERGE_QUEUE, BotTester
from tests.support.waiting import until

pytestmark = [pytest.mark.e2e, OVER_SOCKET_MODE]


async def test_the_bare_command_shows_the_queue_to_the_caller_alone_until_it_is_shared(
    bot: BotTester,
) -> None:
    answer = await bot.ask("/mq", channel=GENERAL)
    assert answer.words.startswith(":arrow_forward: *acme/site* is running, the queue is empty")
    assert answer.labels == ["Pause queue…", "Refresh", "Share in channel"]
    assert bot.replies(by=BOB, channel=GENERAL) == []
    assert bot.posts(GENERAL) == []
    await bot.click(answer, "Share in channel")
    shared = await bot.wait_for_post("*acme/site* is running", GENERAL, by=BOB)
    assert not shared.ephemeral
    bot.break_service("error", path="/logs", status=403)
    assert "*acme/site* is running" in await bot.ask("/mq status")


async def test_batches_show_their_checks_and_waiting_ones_their_order(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(speed=5.0)
    for number in range(20):
        bot.enqueue(title=f"Change number {number} & more", author="carol", hangs=True)
    await bot.checks_run(batches=5)
    bot.stand_still()
    answer = await bot.ask("/mq status")
    assert "*acme/site* is running" in answer
    assert "20 queued: 15 in 5 batches, 5 waiting" in answer
    assert answer.words.count("testing · 0 of 3 checks passed") == 5
    assert "Change number 0 & more by carol" in answer
    assert "*Waiting* for room in a batch\n• " in answer
    waiting = answer.words.partition("*Waiting*")[2]
    assert waiting.count("\n• #") >= 5
    assert "Next merge expected" in answer.line


async def test_a_batch_names_the_batch_it_waits_for(bot: BotTester) -> None:
    bot.enqueue(hangs=True)
    await bot.checks_run(1)
    behind = bot.enqueue()
    await bot.happens("action.queue.checks_end", behind)
    answer = await bot.ask("/mq status")
    assert "*Batch 2 of 2* · passed, waiting for batch 1 to merge · " in answer
    reason = await bot.ask(f"/mq why {behind}")
    assert "*Waits for:* batch " in reason
    assert " to merge: its own checks passed" in reason


async def test_a_long_queue_has_pages(start_bot: StartBot) -> None:
    bot = await start_bot(speed=1.0)
    for _ in range(55):
        bot.enqueue(hangs=True)
    answer = await bot.ask("/mq status")
    assert "55 queued: 15 in 5 batches, 40 waiting" in answer
    assert "and 30 more" in answer
    await bot.click(answer, "Show more")
    page = await bot.wait_for_change(answer, "waiting 11 to 35 of 40")
    await bot.click(page, "Show more")
    page = await bot.wait_for_change(answer, "waiting 36 to 40 of 40")
    assert page.labels == ["Back"]
    await bot.click(page, "Back")
    await bot.wait_for_change(answer, "55 queued: 15 in 5 batches, 40 waiting")


async def test_the_status_says_who_paused_and_why(bot: BotTester) -> None:
    await bot.pause("CI runners are down", by=BOB)
    bot.enqueue()
    answer = await bot.ask("/mq status")
    assert "*Waiting* until the queue resumes\n• " in answer
    assert ":double_vertical_bar: *acme/site* is paused" in answer
    assert "is paused · CI runners are down\n" in answer
    assert "*By* bob · *Since* " in answer
    assert answer.labels == ["Resume queue", "Refresh", "Share in channel"]
    assert "By bob · Since " in answer.line


async def test_a_pause_made_elsewhere_has_a_reason_and_no_author(bot: BotTester) -> None:
    bot.merge_queue.pause("acme/site", "Database migration", by="carol")
    answer = await bot.ask("/mq status")
    assert "is paused · Database migration\n" in answer


async def test_a_service_with_only_the_deprecated_pause_endpoints_works(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(pause_endpoints="deprecated")
    bot.merge_queue.pause("acme/site", "Database migration", by="carol")
    answer = await bot.ask("/mq status")
    assert ":double_vertical_bar: *acme/site* is paused" in answer
    await bot.resume()
    assert bot.pause_reason() is None
    await bot.pause("CI is down")
    assert bot.pause_reason() is not None
    assert "is paused · CI is down\n" in await bot.ask("/mq status")


async def test_a_service_whose_deprecated_endpoint_only_changes_pauses_is_told(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(pause_endpoints="deprecated", deprecated_creates=False)
    refused = await bot.ask("/mq pause CI is down")
    assert "*acme/site is not paused.*" in refused
    assert "no longer offers this: 404 “The pause does not exist”" in refused
    assert "renamed" not in refused
    bot.merge_queue.pause("acme/site", "Database migration", by="carol")
    await bot.resume()
    assert bot.pause_reason() is None


async def test_a_service_without_pause_endpoints_is_not_called_running(start_bot: StartBot) -> None:
    bot = await start_bot(pause_endpoints="none", channels=f"acme/site={MERGE_QUEUE}:pause")
    answer = await bot.ask("/mq status")
    unknown = "is running or paused: the merge queue service doesn't say which"
    assert f":grey_question: *acme/site* {unknown}" in answer
    for command in ("/mq pause CI is down", "/mq resume"):
        refused = await bot.ask(command)
        assert "The merge queue service doesn't offer pausing" in refused
    bot.merge_queue.pause("acme/site", "Database migration", by="carol")
    await bot.wait_for_post("Database migration")
    answer = await bot.ask("/mq status")
    assert ":double_vertical_bar: *acme/site* is paused" in answer


async def unread_by_a_poll(bot: BotTester) -> None:
    """Wait until an event of a pause was stored whose reading failed."""
    unread = bot.logged_actions().count("pause_not_read")
    await until(lambda: bot.logged_actions().count("pause_not_read") > unread, "a failed reading")
    await bot.next_poll()


@pytest.mark.parametrize("then", ["it goes on", "it starts again"])
async def test_a_pause_whose_reading_failed_is_posted_where_only_the_log_tells_of_pauses(
    start_bot: StartBot, then: str
) -> None:
    bot = await start_bot(pause_endpoints="none", channels=f"acme/site={MERGE_QUEUE}:pause")
    first = await bot.ask("/mq status")
    assert "is running or paused" in first

    bot.break_service("error", path="pause", status=503)
    bot.merge_queue.pause("acme/site", "Database migration", by="carol")
    await unread_by_a_poll(bot)
    if then == "it starts again":
        await bot.stop_bot()
    bot.fix_service()
    if then == "it starts again":
        await bot.start_bot()
    card = await bot.wait_for_post("*acme/site is paused* · Database migration")
    assert "carol" in card
    assert ":double_vertical_bar: *acme/site* is paused" in await bot.ask("/mq status")

    bot.break_service("error", path="pause", status=503)
    bot.merge_queue.resume("acme/site", by="dave")
    await unread_by_a_poll(bot)
    bot.fix_service()
    await bot.wait_for_change(card, "*acme/site was paused*")
    assert "By dave" in await bot.wait_for_post("*acme/site has resumed*")
    assert "is running or paused" in await bot.ask("/mq status")


@pytest.mark.parametrize(
    ("pause_endpoints", "notice"),
    [
        ("deprecated", ":double_vertical_bar: *acme/site* is paused"),
        ("none", ":grey_question: *acme/site* is running or paused"),
    ],
)
async def test_a_queue_paused_before_the_start_is_never_called_running(
    start_bot: StartBot, pause_endpoints: str, notice: str
) -> None:
    bot = await start_bot(
        pause_endpoints=pause_endpoints, channels=f"acme/site={MERGE_QUEUE}:pause"
    )
    await bot.stop_bot()
    bot.merge_queue.pause("acme/site", "Database migration", by="carol")
    bot.break_service("error", path="/logs", status=503)
    await bot.start_bot()
    first = await bot.ask("/mq status")
    await bot.next_poll()
    board = await bot.publish("/mq board", "acme/site* is")
    home = await bot.see_home("*acme/site* is")
    for shown in (first, board, home):
        assert notice in shown
    if pause_endpoints == "deprecated":
        await bot.wait_for_post("is paused")


async def test_a_freeze_in_force_is_shown_with_its_window_and_reason(start_bot: StartBot) -> None:
    bot = await start_bot(channels=f"acme/site={MERGE_QUEUE}:failure")
    now = datetime.now(UTC)
    hour = timedelta(hours=1)
    terms = FreezeTerms("release week", now - hour, now + hour, matching_conditions=["base=main"])
    freeze_id = bot.merge_queue.freeze("acme/site", terms)
    bot.merge_queue.freeze("acme/site", FreezeTerms("next month", now + 24 * hour))
    answer = await bot.ask("/mq status")
    until = f"{now + hour:%Y-%m-%d %H:%M}"
    assert ":snowflake: *acme/site* is frozen" in answer
    assert "Frozen by carol: release week · from " in answer
    assert f"until {until} UTC · only branch main" in answer
    later = f"{now + 24 * hour:%Y-%m-%d %H:%M} UTC"
    assert f"Next freeze {later}: next month" in answer
    assert answer.words.count("next month") == 1
    assert "running" not in answer
    home = await bot.see_home(":snowflake: *acme/site* is frozen")
    assert "Frozen by carol: release week" in home
    await bot.publish("/mq board", ":snowflake: *acme/site* is frozen")
    await bot.click(answer, "Pause queue…")
    await bot.modal("Frozen by carol: release week")
    changed = FreezeTerms("release fortnight", now - hour)
    bot.merge_queue.change_freeze("acme/site", freeze_id, changed)
    answer = await bot.ask("/mq status")
    assert "Frozen by carol: release fortnight" in answer
    assert "release week" not in answer
    bot.merge_queue.unfreeze("acme/site", freeze_id)
    assert "*acme/site* is running" in await bot.ask("/mq status")


async def test_a_freeze_is_known_after_a_restart_without_the_log(bot: BotTester) -> None:
    bot.merge_queue.freeze("acme/site", FreezeTerms("release week"))
    await bot.wait_for_post("is frozen*", "C0RELEASE")
    await bot.next_poll()
    await bot.stop_bot()
    bot.break_service("error", path="/logs", status=403)
    await bot.start_bot()
    answer = await bot.ask("/mq status")
    assert ":snowflake: *acme/site* is frozen" in answer
    assert "Frozen by carol: release week" in answer


async def test_refresh_shows_the_current_queue_and_titles_cannot_format_mention_or_link(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(speed=1.0)
    answer = await bot.ask("/mq status")
    bot.enqueue(title="<!channel> *now* <https://evil.example|ok> \u202egnp.exe", hangs=True)
    await bot.click(answer, "Refresh")
    answer = await bot.wait_for_change(answer, "*now*")
    raw = str(answer.blocks)
    assert "&lt;!channel&gt;" in raw
    assert "<!channel>" not in raw
    assert "<https://evil.example" not in raw
    assert "\u202e" not in raw
    assert len(bot.replies()) == 1


async def test_one_branch_can_be_asked_for(start_bot: StartBot) -> None:
    bot = await start_bot(speed=1.0)
    bot.enqueue(title="On the main branch", hangs=True)
    bot.enqueue(title="On the release branch", base_ref="release/4.2", hangs=True)
    answer = await bot.ask("/mq status branch:release/4.2")
    assert "on `release/4.2` is running" in answer
    assert "On the release branch" in answer
    assert "On the main branch" not in answer
    await bot.click(answer, "Refresh")
    await bot.wait_for_change(answer, "on `release/4.2` is running")
