"""`/mq why` without a number: why nothing merges, with evidence and who can act."""

from dataclasses import replace

import pytest

from bot.feed.polling import HEALTH_FLOOR
from bot.sandbox.merge_queue.controls import NewPullRequest
from tests.e2e.conftest import OVER_SOCKET_MODE, StartBot
from tests.support.bot_tester import BOB, GENERAL, MERGE_QUEUE, BotTester
from tests.support.waiting import until, until_true

pytestmark = [pytest.mark.e2e, OVER_SOCKET_MODE]

MINUTES = 60
HEALTH = f"acme/site={MERGE_QUEUE}:health"
FAILURES = f"acme/site={MERGE_QUEUE}:failure"


def enqueue_for_ever(bot: BotTester) -> int:
    """A pull request with a check that hangs and never times out."""
    queues = bot.merge_queue.repository("acme/site")
    queues.rules = tuple(replace(rule, checks_timeout=10**9) for rule in queues.rules)
    return bot.merge_queue.enqueue("acme/site", NewPullRequest(hangs=True))


async def log_is_read(bot: BotTester) -> None:
    """The bot has stored that it has just read the log."""

    async def is_read() -> bool:
        return "Service and log answer normally" in await bot.ask("/mq why")

    await until_true(is_read, "a log that has just been read")


async def test_an_empty_queue_is_nobodys_fault(bot: BotTester) -> None:
    answer = await bot.ask("/mq why", channel=GENERAL)
    assert answer.words.startswith(":mag_right: *Nothing is queued in acme/site*")
    assert "Who can act" not in answer
    assert answer.labels == ["Refresh", "Share in channel"]
    assert bot.posts(GENERAL) == []
    await bot.click(answer, "Share in channel")
    await bot.wait_for_post("*Nothing is queued in acme/site*", GENERAL, by=BOB)


async def test_a_pause_is_the_cause_and_ends_from_there(bot: BotTester) -> None:
    await bot.pause("CI runners are down", by=BOB)
    bot.enqueue()
    answer = await bot.ask("/mq why is nothing merging?")
    assert "*acme/site is paused: CI runners are down" in answer
    assert "It was paused by bob" in answer
    assert "*Who can act:* anyone who may resume this queue." in answer
    assert "1 is queued." in answer
    await bot.click(answer, "Resume queue")
    await bot.wait_for_post("*acme/site has resumed*")
    await bot.wait_for_direct_message("alice resumed acme/site", by=BOB)
    assert bot.pause_reason() is None


async def test_a_check_that_fails_in_every_batch_is_named_with_its_count(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(channels=HEALTH)
    for _ in range(4):
        number = bot.enqueue(labels=("hotfix",), broken_check="lint")
        await bot.happens("action.queue.leave", number)
    await bot.next_poll()
    answer = await bot.ask("/mq why")
    assert "*Nothing is queued in acme/site*" in answer
    assert "*Also:* the same check fails in every batch. `lint` failed in 4 of 4 batches" in answer
    assert "with 4 different pull requests" in answer
    assert "*Who can act:* the owners of `lint`." in answer
    assert "Pause queue…" in answer.labels


async def test_a_check_that_hangs_is_named_and_the_details_are_read_once_a_minute(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(channels=FAILURES)
    number = enqueue_for_ever(bot)
    await bot.checks_run(1)
    await bot.pass_time(100 * MINUTES)
    await bot.next_poll()

    details = f"/merge-queue/pull/{number}"
    answer = await bot.ask("/mq why acme/site")
    assert f"the checks of #{number} take far longer than usual*" in answer
    assert "No result yet: `" in answer
    assert (
        "I've seen too few runs to know what is usual, so more than 1 h counts as long." in answer
    )
    await bot.ask("/mq why acme/site", by=BOB)
    assert len(bot.requests(details)) == 1
    await bot.pass_time(2 * MINUTES)
    await bot.ask("/mq why acme/site")
    assert len(bot.requests(details)) == 2

    await bot.click(answer, "For the service's support")
    copied = await bot.wait_for_reply("copy this for the service's support")
    assert "\nBatch " in copied.words
    assert "\nEvent " in copied.words


async def test_an_invalid_configuration_is_said_and_asked_for_once_a_minute(bot: BotTester) -> None:
    bot.merge_queue.break_configuration("acme/site", "queue_rules: extra keys not allowed")
    answer = await bot.ask("/mq why")
    assert "*acme/site: the configuration is invalid*" in answer
    assert "queue_rules: extra keys not allowed" in answer
    assert "*Who can act:* an administrator of the repository." in answer
    await bot.ask("/mq why", by=BOB)
    assert len(bot.requests("/queues/configuration")) == 1
    bot.merge_queue.break_configuration("acme/site", None)
    await bot.pass_time(2 * MINUTES)
    assert "*Nothing is queued in acme/site*" in await bot.ask("/mq why")
    assert len(bot.requests("/queues/configuration")) == 2


async def test_home_says_it_in_the_same_words_without_a_request_of_its_own(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(channels=HEALTH)
    for _ in range(4):
        number = bot.enqueue(labels=("hotfix",), broken_check="lint")
        await bot.happens("action.queue.leave", number)
    number = bot.enqueue(hangs=True)
    await bot.checks_run(1)
    await bot.next_poll()
    answer = await bot.ask("/mq why")
    said = "the same check fails in every batch"
    assert f"{said}*" in answer
    details = len(bot.requests(f"/merge-queue/pull/{number}"))
    home = await bot.see_home(said)
    assert ":mag_right: *acme/site" in home
    assert len(bot.requests(f"/merge-queue/pull/{number}")) == details


async def test_home_puts_a_queue_that_stands_still_above_those_that_are_busy(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(
        channels=FAILURES, repositories={"acme/api": "quiet", "acme/site": "quiet"}
    )
    enqueue_for_ever(bot)
    await bot.checks_run(1)
    await bot.pass_time(100 * MINUTES)
    await bot.next_poll()
    bot.merge_queue.enqueue("acme/api", NewPullRequest(hangs=True))
    await bot.checks_run(1, "acme/api")
    home = await bot.see_home("take far longer than usual*")
    assert home.words.index("*acme/site has merged nothing") < home.words.index("*acme/api* is")


async def test_home_lists_a_queue_that_stands_still_though_nobody_can_tell_why(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(channels=FAILURES)
    bot.break_service("error", path="/merge-queue/pull", status=404)
    enqueue_for_ever(bot)
    await bot.checks_run(1)
    assert "I can't tell why" not in await bot.see_home("acme/site")
    await bot.pass_time(150 * MINUTES)
    await log_is_read(bot)
    assert "*acme/site has merged nothing for 2 h 3" in await bot.ask("/mq why")
    home = await bot.see_home("I can't tell why")
    assert ":mag_right: *acme/site has merged nothing for 2 h 3" in home


async def test_home_asks_for_what_why_would_ask_for_at_most_once_a_minute(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(channels=FAILURES)
    number = enqueue_for_ever(bot)
    await bot.checks_run(1)
    await bot.pass_time(100 * MINUTES)
    await bot.next_poll()
    said = f"the checks of #{number} take far longer than usual*"
    await bot.see_home(said)
    await bot.see_home(said)
    assert said in await bot.ask("/mq why")
    assert len(bot.requests(f"/merge-queue/pull/{number}")) == 1


async def test_a_service_that_fails_is_said_to_fail(bot: BotTester) -> None:
    bot.break_service("error", path="/status", status=503)
    answer = await bot.ask("/mq why")
    assert "*I can't see acme/site: the merge queue service has a problem*" in answer
    assert "So nobody can tell from here whether pull requests merge." in answer


async def test_a_queue_that_merges_is_said_to_merge(start_bot: StartBot) -> None:
    bot = await start_bot(channels=HEALTH, speed=10.0)
    await bot.merge()
    bot.enqueue(hangs=True)
    await bot.checks_run(1)
    bot.stand_still()
    await bot.next_poll()
    answer = await bot.ask("/mq why")
    assert "*acme/site is merging normally*" in answer
    assert "1 is queued. At the head: #" in answer
    assert "The last merge was #" in answer


async def test_an_alert_begins_with_the_cause(start_bot: StartBot) -> None:
    bot = await start_bot(channels=HEALTH, environment={"MQBOT_HEALTH_FAILURES": "4"})
    for _ in range(4):
        number = bot.enqueue(labels=("hotfix",), broken_check="lint")
        await bot.happens("action.queue.leave", number)
    await bot.pass_time(MINUTES)
    alert = await bot.wait_for_post(":rotating_light: *acme/site: ")
    assert "*acme/site: the same check fails in every batch*" in alert
    assert "`lint` failed in 4 of 4 batches since" in alert
    assert "*Measured* 4 pull requests in a row failed" in alert
    await bot.click(alert, "Why?")
    await bot.wait_for_reply("*Also:* the same check fails in every batch.")


async def looked_at(bot: BotTester, minutes: int) -> None:
    """So much later, and the bot has looked at the queue once more."""
    await bot.pass_time(minutes * MINUTES)
    looks = len(bot.requests("/status"))
    await until(lambda: len(bot.requests("/status")) > looks, "a look at the queue")
    # That look may have begun before the time passed; the next one is due so much after it.
    await bot.pass_time(HEALTH_FLOOR.total_seconds())
    await until(lambda: len(bot.requests("/status")) > looks + 1, "another look at the queue")


async def test_an_alert_is_edited_when_its_cause_changes_and_its_thread_says_so(
    start_bot: StartBot,
) -> None:
    only_failures = {
        "MQBOT_HEALTH_FAILURES": "4",
        "MQBOT_HEALTH_HEAD_MINUTES": "0",
        "MQBOT_HEALTH_BATCH_MINUTES": "0",
    }
    bot = await start_bot(channels=HEALTH, environment=only_failures)
    for _ in range(4):
        number = bot.enqueue(labels=("hotfix",), broken_check="lint")
        await bot.happens("action.queue.leave", number)
    await bot.pass_time(MINUTES)
    alert = await bot.wait_for_post("*acme/site: the same check fails in every batch*")

    number = enqueue_for_ever(bot)
    await bot.checks_run(1)
    await looked_at(bot, 150)
    await looked_at(bot, 3)
    await looked_at(bot, 3)
    hangs = f"the checks of #{number} take far longer than usual"
    edited = await bot.wait_for_change(alert, f"*acme/site: {hangs}*")
    assert "*Measured* 4 pull requests in a row failed" in edited
    await bot.wait_in_thread(alert, f"*acme/site* · The cause now: {hangs}.")
    assert len(bot.posts()) == 1


async def test_a_cause_that_lasts_begins_an_alert(start_bot: StartBot) -> None:
    bot = await start_bot(channels=HEALTH)
    for _ in range(3):
        number = bot.enqueue(labels=("hotfix",), broken_check="lint")
        await bot.happens("action.queue.leave", number)
    for _ in range(7):
        await looked_at(bot, 2)
    alert = await bot.wait_for_post(":rotating_light: *acme/site: ")
    assert "*acme/site: the same check fails in every batch*" in alert
    assert "*Measured* the queue has been stuck for 1" in alert
    assert "*Limit* 10 min" in alert
    assert alert.labels == ["Why?", "Show status", "Pause queue…"]


async def test_status_and_board_lead_to_it(start_bot: StartBot) -> None:
    bot = await start_bot(channels=FAILURES)
    number = enqueue_for_ever(bot)
    await bot.checks_run(1)
    status = await bot.ask("/mq status")
    assert status.labels == ["Pause queue…", "Why?", "Refresh", "Share in channel"]
    await bot.click(status, "Why?")
    await bot.wait_for_reply(f"At the head: #{number}")
    board = await bot.publish("/mq board", "*acme/site* is running")
    assert "Why?" in board.labels
    await bot.click(board, "Why?", by=BOB)
    await bot.wait_for_reply(f"At the head: #{number}", by=BOB)
