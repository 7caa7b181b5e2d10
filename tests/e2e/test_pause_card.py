"""The life of a pause's card, seen from the channel."""

import pytest

from tests.e2e.conftest import LIMITED, OVER_HTTP, StartBot
from tests.support.bot_tester import ALICE, BOB, GENERAL, MERGE_QUEUE, RELEASES, BotTester
from tests.support.waiting import until

pytestmark = [pytest.mark.e2e, OVER_HTTP, LIMITED]

HEARING = f"acme/site={MERGE_QUEUE}:pause"


def resume_elsewhere(bot: BotTester, by: str) -> None:
    assert bot.merge_queue.resume("acme/site", by=by)


async def test_a_pause_on_the_dashboard_has_a_card_until_it_is_resumed_there(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(channels=HEARING)
    bot.merge_queue.pause("acme/site", "Database migration", by="carol")
    card = await bot.wait_for_post("is paused")
    card = await bot.wait_for_change(card, "By carol · Since")
    card = await bot.wait_for_change(card, "0 queued")
    assert card.labels == ["Resume queue", "Set an end…", "More actions"]

    bot.enqueue()
    card = await bot.wait_for_change(card, "1 queued (+1 since the pause)")
    question = card.element("Resume queue").question
    assert question is not None
    assert "Checks start over. 1 queued." in question

    resume_elsewhere(bot, "dave")
    line = await bot.wait_for_post("has resumed")
    assert "By dave · Paused for " in line
    assert "Reason was: Database migration" in line
    record = await bot.wait_for_change(card, "*acme/site was paused* · Database migration")
    record = await bot.wait_for_change(record, "Resumed by dave")
    assert "By carol · Lasted " in record
    assert "1 pull request was added during the pause" in record
    assert record.labels == []
    assert len(bot.posts()) == 2


async def test_a_card_counts_the_batches_that_the_pause_stopped(start_bot: StartBot) -> None:
    bot = await start_bot(channels=HEARING, speed=20.0)
    for _ in range(6):
        bot.enqueue(hangs=True)
    await bot.checks_run(batches=2)
    bot.pause_elsewhere("Database migration")
    card = await bot.wait_for_post("is paused")
    card = await bot.wait_for_change(card, "2 batches stopped")
    resume_elsewhere(bot, "dave")
    await bot.wait_for_post("has resumed")
    record = await bot.wait_for_change(card, "Resumed by dave")
    assert "2 batches stopped" in record


async def test_a_pause_typed_in_one_channel_closes_in_all_that_show_it(start_bot: StartBot) -> None:
    bot = await start_bot(channels=HEARING)
    here = await bot.pause("CI runners are down", channel=GENERAL)
    there = await bot.wait_for_post("is paused", MERGE_QUEUE)
    await bot.click(there, "Resume queue", by=BOB)
    for card, channel in ((here, GENERAL), (there, MERGE_QUEUE)):
        record = await bot.wait_for_change(card, "*acme/site was paused* · CI runners are down")
        assert "By alice · Lasted " in record
        assert "Resumed by bob" in record
        await bot.wait_for_post("has resumed", channel)
    await bot.wait_for_direct_message("bob resumed acme/site")


async def test_a_deleted_card_is_posted_again_at_its_next_change(start_bot: StartBot) -> None:
    bot = await start_bot(channels=HEARING)
    bot.expected_refusals = {"chat.update message_not_found"}
    card = await bot.pause("CI runners are down")
    card = await bot.wait_for_change(card, "0 queued")
    bot.delete(card)
    bot.enqueue()
    again = await bot.wait_for_post("1 queued (+1 since the pause)")
    await bot.type("/mq resume")
    await bot.wait_for_change(again, "*acme/site was paused*")
    await bot.wait_for_post("has resumed")


async def test_a_card_that_can_no_longer_be_edited_is_posted_as_a_record(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(channels=HEARING)
    bot.expected_refusals = {"chat.update refuse", "chat.update edit_window_closed"}
    card = await bot.pause("CI runners are down")
    await bot.wait_for_change(card, "0 queued")
    bot.break_slack("refuse", "chat.update", code="edit_window_closed")
    await bot.resume(by=BOB)
    await bot.wait_for_direct_message("bob resumed acme/site")
    record = await bot.wait_for_post("*acme/site was paused* · CI runners are down")
    assert "Resumed by bob" in record
    stale = bot.now(card)
    assert stale is not None
    assert "is paused" in stale


async def test_the_bot_waits_for_slacks_edit_limit(start_bot: StartBot) -> None:
    bot = await start_bot(channels=HEARING)
    bot.expected_refusals = {"chat.update rate_limit", "chat.update ratelimited"}
    card = await bot.pause("CI runners are down")
    await bot.wait_for_change(card, "0 queued")
    bot.break_slack("rate_limit", "chat.update", retry_after=2)
    await bot.resume()
    await bot.wait_for_change(card, "*acme/site was paused*")


async def test_a_watcher_gets_one_direct_message_when_anybody_resumes(bot: BotTester) -> None:
    card = await bot.pause("CI runners are down")
    await bot.choose(card, "Notify me when it resumes", menu="More actions", by=BOB)
    answer = await bot.wait_for_reply(by=BOB)
    assert answer.words == "You'll get a direct message when acme/site resumes."
    await bot.choose(card, "Notify me when it resumes", menu="More actions", by=BOB)
    answer = await bot.wait_for_reply(by=BOB)
    assert answer.words.startswith("You've already asked")

    resume_elsewhere(bot, "carol")
    notice = await bot.wait_for_direct_message("resumed acme/site", by=BOB)
    await bot.wait_for_post("has resumed")
    await bot.wait_for_change(card, "Resumed by carol")
    await bot.wait_for_direct_message("carol resumed acme/site outside Slack after")
    assert len(bot.posts(notice.channel, by=BOB)) == 1


async def test_replacing_a_pause_does_not_notify_watchers(bot: BotTester) -> None:
    card = await bot.pause("CI runners are down")
    await bot.choose(card, "Notify me when it resumes", menu="More actions")
    await bot.wait_for_reply("You'll get a direct message")
    question = await bot.ask("/mq pause Deploying 4.2", by=BOB)
    await bot.click(question, "Replace reason", by=BOB)
    await bot.wait_for_change(card, "*acme/site is paused* · Deploying 4.2")
    replaced = await bot.wait_for_direct_message("bob replaced your pause", by=ALICE)
    await bot.type("/mq resume", by=BOB)
    await bot.wait_for_direct_message("bob resumed acme/site", by=ALICE)
    await bot.wait_for_post("has resumed")
    assert len(bot.posts(replaced.channel)) == 2


async def test_pausing_over_a_pause_from_elsewhere_names_it(start_bot: StartBot) -> None:
    bot = await start_bot(channels=HEARING)
    bot.merge_queue.pause("acme/site", "Database migration", by="carol")
    await bot.wait_for_change(await bot.wait_for_post("is paused"), "By carol")
    answer = await bot.ask("/mq pause Deploying 4.2")
    assert "acme/site is already paused by carol: Database migration" in answer


def _hide_pause(bot: BotTester) -> None:
    bot.break_service("error", path="/merge-queue/pause", method="GET", status=404)


async def _reads(bot: BotTester, times: int) -> None:
    """Wait for so many more reads of the pause."""
    wanted = len(bot.requests("/merge-queue/pause")) + times
    await until(lambda: len(bot.requests("/merge-queue/pause")) >= wanted, "more looks")


@pytest.mark.parametrize("dialect", ["document", "live"])
async def test_a_pause_that_the_service_omits_for_a_while_is_not_over(
    start_bot: StartBot, dialect: str
) -> None:
    """Whether or not its status tells."""
    bot = await start_bot(dialect=dialect)
    card = await bot.pause("CI runners are down")
    await bot.wait_for_change(card, "0 queued")
    _hide_pause(bot)
    await _reads(bot, 4)
    bot.fix_service()
    await _reads(bot, 2)
    now = bot.now(card)
    assert now is not None
    assert "is paused*" in now
    await bot.resume()
    await bot.wait_for_change(card, "was paused*")
    assert len(bot.posts()) == 2


async def test_a_timed_pause_wrongly_reported_as_over_is_corrected_and_ends_on_time(
    bot: BotTester,
) -> None:
    card = await bot.pause("45m CI runners are down")
    await bot.wait_for_change(card, "0 queued")
    _hide_pause(bot)
    await _reads(bot, 2)
    await bot.pass_time(31)
    await bot.wait_for_change(card, "was paused*")
    await bot.pass_time(31)
    await bot.wait_for_direct_message("acme/site resumed after")
    await bot.wait_for_post("has resumed")
    bot.fix_service()

    await bot.wait_for_post("is still paused")
    await bot.wait_for_direct_message("is still paused")
    again = await bot.wait_for_change(card, "is paused*")
    assert "By alice" in again
    assert "Until 20" in again
    assert bot.pause_reason() is not None

    await bot.pass_time(45 * 60)
    await bot.wait_for_post("By the timer set by alice")
    await bot.wait_for_change(again, "was paused*")
    assert bot.pause_reason() is None


async def test_a_timer_due_while_the_service_omits_the_pause_resumes_later(bot: BotTester) -> None:
    card = await bot.pause("45m CI runners are down")
    await bot.wait_for_change(card, "0 queued")
    await bot.pass_time(45 * 60 - 40)
    _hide_pause(bot)
    looks = len(bot.requests("/merge-queue/pause"))
    await bot.pass_time(41)
    await until(lambda: len(bot.requests("/merge-queue/pause")) > looks + 2, "the timer's look")
    bot.fix_service()
    await bot.pass_time(16)
    await bot.wait_for_post("By the timer set by alice")
    assert bot.pause_reason() is None


@pytest.mark.parametrize("is_seen", [True, False])
async def test_a_dashboard_resume_right_after_one_by_the_bot_shows_its_name(
    start_bot: StartBot, *, is_seen: bool
) -> None:
    """Whether the bot has heard of the pause between the two, or reads of both at once."""
    bot = await start_bot(channels=HEARING)
    await bot.pause("CI runners are down")
    await bot.resume()
    await bot.next_poll()
    bot.pause_elsewhere("Database migration")
    if is_seen:
        await bot.wait_for_post("is paused")
    resume_elsewhere(bot, "dave")

    notice = await bot.wait_for_post("has resumed", seconds=15)
    assert "By dave" in notice
    assert "Database migration" in notice
    if not is_seen:
        await bot.wait_for_post("Database migration")
    assert bot.posts()[-1].line.startswith("acme/site has resumed")


async def test_what_replaces_a_pause_while_the_log_is_down_is_told_once_in_its_thread(
    start_bot: StartBot,
) -> None:
    """No reading shows the gap between the two, so for the bot the queue stayed paused."""
    bot = await start_bot(channels=HEARING)
    card = await bot.pause("CI runners are down")
    await bot.wait_for_change(card, "0 queued")
    bot.break_service("error", status=503, path="/logs")
    resume_elsewhere(bot, "dave")
    bot.pause_elsewhere("Database migration", seconds_from_now=1)
    await bot.wait_in_thread(card, "Database migration")
    await bot.wait_for_direct_message("changed your pause of acme/site")
    bot.fix_service()

    shown = await bot.wait_for_change(card, "With carol")

    assert "*acme/site is paused* · Database migration" in shown
    assert "Previous reason: CI runners are down" in shown
    await bot.has_posted()
    await bot.next_poll()
    await bot.has_posted()
    assert len(bot.thread(card)) == 1
    assert not any(post.line.startswith("acme/site has resumed") for post in bot.posts())


async def test_after_an_outage_each_channel_ends_with_the_pause_in_force(
    start_bot: StartBot,
) -> None:
    channels = (MERGE_QUEUE, GENERAL, RELEASES)
    bot = await start_bot(channels=";".join(f"acme/site={one}:pause" for one in channels))
    await bot.type("/mq pause CI runners are down")
    cards = [await bot.wait_for_post("is paused", channel) for channel in channels]
    bot.break_service("drop_before")
    missed = bot.merge_queue.request_count
    await until(lambda: bot.merge_queue.request_count > missed, "a first look that fails")
    resume_elsewhere(bot, "dave")
    bot.pause_elsewhere("Database migration")
    await until(lambda: bot.merge_queue.request_count >= missed + 3, "looks that fail")
    bot.fix_service()
    # A log that is read before the pause tells of a resume and of another pause.
    bot.break_service("drop_before", path="/logs")

    for card in cards:
        await bot.wait_in_thread(card, "Database migration")
        await bot.wait_for_change(card, "*acme/site is paused* · Database migration")
    bot.fix_service()
    await bot.wait_for_direct_message("acme/site")
    await bot.next_poll()
    await bot.has_posted()
    for channel in channels:
        last = bot.posts(channel)[-1].line
        assert last.startswith("acme/site is paused")
        assert "Database migration" in last
