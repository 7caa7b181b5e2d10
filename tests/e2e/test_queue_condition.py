"""Queue alerts in a channel: once when they begin, once when they end."""

import pytest

from bot.sandbox.merge_queue.controls import SentEvent
from tests.e2e.conftest import OVER_SOCKET_MODE, StartBot
from tests.support.bot_tester import GENERAL, MERGE_QUEUE, RELEASES, REPOSITORY, BotTester
from tests.support.waiting import until

pytestmark = [pytest.mark.e2e, OVER_SOCKET_MODE]

MINUTES = 60.0
STANDING = {"repositories": {REPOSITORY: "quiet"}, "speed": 1.0}
"""So slow a service that little happens in it in a quarter of an hour."""


async def later(bot: BotTester, seconds: float = 60) -> None:
    """After so long the bot has looked at the queue once more.

    What was seen in the channel is on record by then: no clock is moved while it is posted.
    """
    await bot.next_poll()
    looks = len(bot.requests("/status"))
    await bot.pass_time(seconds)
    await until(lambda: len(bot.requests("/status")) > looks, "another look at the queue")
    await bot.next_poll()


async def test_a_waiting_first_batch_and_its_end_are_reported_once_to_subscribers(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(
        **STANDING,
        channels=f"acme/site={RELEASES}:enter",
        environment={"MQBOT_HEALTH_HEAD_MINUTES": "10"},
    )
    await bot.type("/mq subscribe acme/site health style:feed")
    assert "health" in await bot.wait_for_post("Subscribed this channel to")
    number = bot.enqueue(title="Fix <the> search", hangs=True)
    await bot.wait_for_post(f"#{number}", RELEASES)
    await later(bot, 8 * MINUTES)
    assert len(bot.posts()) == 1

    await bot.pass_time(4 * MINUTES)

    alert = await bot.wait_for_post(":rotating_light:")
    assert "*acme/site: the first pull request has waited for 1" in alert
    assert f"*First in the queue* #{number} Fix <the> search · *Limit* 10 min" in alert
    assert "Look at its checks" in alert
    await later(bot, 4 * MINUTES)
    assert len(bot.posts()) == 2

    await bot.click(alert, "Show status")
    assert f"#{number}" in await bot.wait_for_reply("acme/site")
    await bot.click(alert, f"Log of #{number}")
    assert "Queued" in await bot.wait_for_reply(f"#{number}")
    assert len(bot.posts()) == 2

    bot.merge_queue.dequeue(REPOSITORY, number)
    await bot.pass_time(60)

    over = await bot.wait_for_post("*acme/site: the queue is moving again*")
    assert "The alert lasted " in over
    assert [len(bot.posts(each)) for each in (MERGE_QUEUE, RELEASES, GENERAL)] == [3, 1, 0]


async def test_a_waiting_batch_is_reported_where_the_service_tells_of_no_pause(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(
        **STANDING,
        pause_endpoints="none",
        channels=f"acme/site={MERGE_QUEUE}:health",
        environment={"MQBOT_HEALTH_HEAD_MINUTES": "10"},
    )
    bot.enqueue(hangs=True)
    await later(bot, 8 * MINUTES)
    await bot.pass_time(4 * MINUTES)
    alert = await bot.wait_for_post(":rotating_light:")
    assert "*acme/site: the first pull request has waited for 1" in alert


async def test_one_pull_request_that_leaves_again_and_again_is_no_row_of_failures(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(
        **STANDING,
        channels=f"acme/site={MERGE_QUEUE}:health",
        environment={"MQBOT_HEALTH_FAILURES": "3"},
    )
    for code, numbers in (
        ("CONFLICT_WITH_BASE_BRANCH", [71] * 12),
        ("CHECKS_FAILED", [72] * 4),
        ("BRANCH_UPDATE_FAILED", [73, 74, 75]),
    ):
        for number in numbers:
            bot.emit("action.queue.leave", number, metadata={"merged": False, "dequeue_code": code})
    await bot.next_poll()
    await later(bot)
    assert bot.posts() == []


async def test_failures_in_a_row_are_reported_once_and_a_merge_ends_them(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(
        **STANDING,
        channels=f"acme/site={MERGE_QUEUE}:health",
        environment={"MQBOT_HEALTH_FAILURES": "3"},
    )

    async def fail(*numbers: int) -> None:
        metadata = {"merged": False, "dequeue_code": "CHECKS_FAILED"}
        for number in numbers:
            bot.emit("action.queue.leave", number, metadata=metadata)
        await bot.next_poll()

    await fail(71, 72)
    await later(bot)
    assert bot.posts() == []
    await fail(73, 74)
    await bot.pass_time(60)
    alert = await bot.wait_for_post(":rotating_light:")
    assert "*acme/site: 4 pull requests in a row failed and left the queue*" in alert
    assert "*Latest* #74 · *Limit* 3" in alert
    assert "pause the queue until it's fixed" in alert
    await fail(75)
    await later(bot)
    assert len(bot.posts()) == 1

    bot.emit("action.queue.merged", 76)
    await bot.next_poll()
    await bot.pass_time(60)

    over = await bot.wait_for_post("*acme/site: the queue is merging again*")
    assert "The alert lasted " in over


async def test_a_long_queue_and_a_stuck_batch_are_reported_while_it_is_not_paused(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(
        **STANDING,
        channels=f"acme/site={MERGE_QUEUE}:health",
        environment={
            "MQBOT_HEALTH_DEPTH": "2",
            "MQBOT_HEALTH_HEAD_MINUTES": "0",
            "MQBOT_HEALTH_BATCH_MINUTES": "10",
            "MQBOT_REMINDER_MINUTES": "0",
        },
    )
    bot.pause_elsewhere("CI is down")
    numbers = [bot.enqueue(labels=("hotfix",), hangs=True) for _ in range(3)]
    await later(bot, 2 * MINUTES)
    assert bot.posts() == []

    bot.merge_queue.resume(REPOSITORY)
    await bot.happens("action.queue.checks_start", numbers[0])
    await bot.pass_time(60)
    long = await bot.wait_for_post(":rotating_light:")
    assert "*acme/site: 3 pull requests are in the queue*" in long
    assert "*Limit* 2" in long
    await later(bot, 15 * MINUTES)
    stuck = await bot.wait_for_post(":rotating_light:")
    assert f"*In the batch* #{numbers[0]} " in stuck
    assert "*acme/site: a batch has been running checks for 1" in stuck
    assert "*Limit* 10 min" in stuck
    for number in numbers:
        bot.merge_queue.dequeue(REPOSITORY, number)
    await later(bot)
    await bot.wait_for_post("no batch is stuck any more*\nThe alert lasted")
    await bot.wait_for_post("the queue is short again*\nThe alert lasted 1")
    marks = [post.words.partition(" ")[0] for post in bot.posts()]
    assert marks == [":rotating_light:"] * 2 + [":white_check_mark:"] * 2


async def test_a_restarted_bot_remembers_its_reports(start_bot: StartBot) -> None:
    bot = await start_bot(
        **STANDING,
        channels=f"acme/site={MERGE_QUEUE}:health",
        environment={"MQBOT_HEALTH_DEPTH": "1", "MQBOT_HEALTH_HEAD_MINUTES": "0"},
    )
    numbers = [bot.enqueue(hangs=True) for _ in range(2)]
    await bot.pass_time(60)
    await bot.wait_for_post("2 pull requests are in the queue")
    await bot.stop_bot()
    await bot.start_bot()
    await later(bot)
    assert len(bot.posts()) == 1
    await bot.stop_bot()
    for number in numbers:
        bot.merge_queue.dequeue(REPOSITORY, number)
    await bot.start_bot()
    await bot.wait_for_post("the queue is short again*\nThe alert lasted")
    assert len(bot.posts()) == 2


async def test_an_unknown_event_type_raises_no_alert(start_bot: StartBot) -> None:
    bot = await start_bot(**STANDING, channels=f"acme/site={MERGE_QUEUE}:health")
    bot.merge_queue.emit(REPOSITORY, SentEvent("action.of_tomorrow", pull_request=5))
    bot.emit("action.queue.enter", 77)
    await later(bot, 10 * MINUTES)
    assert bot.posts() == []
