"""On Monday at nine a subscribed channel sees once how last week went in its queue."""

from datetime import timedelta

import pytest

from tests.e2e.conftest import OVER_HTTP, StartBot
from tests.support.bot_tester import GENERAL, MERGE_QUEUE, REPOSITORY, BotTester
from tests.support.clock import MovedClock

pytestmark = [pytest.mark.e2e, OVER_HTTP]


def until_monday(clock: MovedClock) -> float:
    """The seconds until the next Monday, 09:00 UTC, that isn't today."""
    now = clock.now()
    monday = (now + timedelta(days=7 - now.weekday())).replace(hour=9, minute=0, second=0)
    return (monday - now).total_seconds()


async def pass_a_monday(bot: BotTester, clock: MovedClock) -> None:
    """Until nine, anywhere, what happens on a Monday is part of the week that ends then."""
    if clock.now().weekday() == 0:
        await bot.pass_time(24 * 3600)


def emit_failure(bot: BotTester, number: int) -> None:
    failed = {"dequeue_code": "CHECKS_FAILED", "unsuccessful_checks": [{"name": "unit <tests>"}]}
    bot.emit("action.queue.leave", number, metadata={"merged": False, **failed})


async def fail(bot: BotTester, *numbers: int) -> None:
    for number in numbers:
        emit_failure(bot, number)
    await bot.next_poll()


async def merge(bot: BotTester, clock: MovedClock, number: int) -> None:
    """A merge after twenty minutes, whose checks ran twice."""
    queued_at = (clock.now() - timedelta(minutes=20)).isoformat()
    stopped = {"aborted": True, "abort_status": "REEMBARKED", "abort_code": "PR_AHEAD_DEQUEUED"}
    merged = {"merged": True, "dequeue_code": "PR_MERGED", "queued_at": queued_at}
    bot.emit("action.queue.checks_end", number, metadata={"batch_id": "first", **stopped})
    bot.emit("action.queue.checks_end", number, metadata={"batch_id": "second", "aborted": False})
    bot.emit("action.queue.leave", number, metadata=merged)
    bot.emit("action.queue.merged", number, metadata=merged)
    await bot.next_poll()


async def test_the_week_is_posted_once_also_over_a_restart(
    start_bot: StartBot, clock: MovedClock
) -> None:
    bot = await start_bot(
        channels=f"{REPOSITORY}={MERGE_QUEUE}:weekly;{REPOSITORY}={GENERAL}:batch",
        environment={"MQBOT_REMINDER_MINUTES": "0"},
    )
    await pass_a_monday(bot, clock)
    await fail(bot, 71, 72)
    await merge(bot, clock, 73)
    await bot.pass_time(until_monday(clock) - 3600)
    await bot.next_poll()
    assert bot.posts() == []
    await bot.pass_time(3700)
    post = await bot.wait_for_post("Last week in")
    assert f"Last week in {REPOSITORY}: 1 merge" in post
    assert "Time in the queue: median 20 min, 90% within 20 min" in post
    assert "Runs of checks for each merge: 2.0" in post
    assert "2 pull requests left the queue unmerged" in post
    assert "Batches that started over: 1" in post
    assert "Failed checks: unit <tests> 2" in post
    assert "Reasons: its checks failed 2" in post
    await bot.stop_bot()
    await bot.start_bot()
    await bot.pass_time(3600)
    await bot.next_poll()
    assert len(bot.posts()) == 1
    assert bot.posts(GENERAL) == []


def refuse_posts(bot: BotTester, times: int) -> None:
    """Slack refuses the next messages with blocks it doesn't take, such as the chart."""
    bot.expected_errors.add("blocks_refused")
    bot.expected_refusals.add("chat.postMessage invalid_blocks")
    bot.break_slack("refuse", "chat.postMessage", code="invalid_blocks", times=times)


async def test_a_week_whose_chart_slack_refuses_is_posted_once_as_text(
    start_bot: StartBot, clock: MovedClock
) -> None:
    bot = await start_bot(channels=f"{REPOSITORY}={MERGE_QUEUE}:weekly,pause")
    await pass_a_monday(bot, clock)
    await fail(bot, 71)
    await merge(bot, clock, 73)
    refuse_posts(bot, times=1)
    await bot.pass_time(until_monday(clock))
    post = await bot.wait_for_post("Last week in")
    assert post.blocks == []
    assert f"Last week in {REPOSITORY}: 1 merge" in post
    assert "Median time in the queue:" in post
    assert "1 pull request left the queue unmerged" in post
    await bot.logged("blocks_refused")
    await bot.pause("now CI runners are down")
    await bot.stop_bot()
    await bot.start_bot()
    await bot.next_poll()
    assert ["Last week in" in each for each in bot.posts()] == [True, False]


async def test_a_week_that_slack_refuses_in_any_form_keeps_nothing_from_its_channel(
    start_bot: StartBot, clock: MovedClock
) -> None:
    bot = await start_bot(channels=f"{REPOSITORY}={MERGE_QUEUE}:weekly,pause")
    bot.expected_errors.add("post_refused")
    await pass_a_monday(bot, clock)
    await fail(bot, 71)
    refuse_posts(bot, times=2)
    await bot.pass_time(until_monday(clock))
    await bot.logged("post_refused")
    await bot.pause("now CI runners are down")
    await bot.stop_bot()
    await bot.start_bot()
    await bot.next_poll()
    assert ["is paused" in each for each in bot.posts()] == [True]


async def test_a_quiet_week_is_not_posted_and_is_no_fault(
    start_bot: StartBot, clock: MovedClock
) -> None:
    """No error is logged, and the next post of the channel doesn't wait for it."""
    bot = await start_bot(channels=f"{REPOSITORY}={MERGE_QUEUE}:weekly,pause")
    await bot.pass_time(until_monday(clock))
    await bot.logged("nothing_to_say")
    await bot.pause("now CI runners are down")
    assert ["is paused" in each for each in bot.posts()] == [True]


async def test_a_week_missed_during_downtime_is_posted_late(
    start_bot: StartBot, clock: MovedClock
) -> None:
    bot = await start_bot()
    await bot.type("/mq subscribe weekly style:feed")
    assert "weekly" in await bot.wait_for_post("Subscribed this channel")
    await pass_a_monday(bot, clock)
    await fail(bot, 71)
    await bot.stop_bot()
    emit_failure(bot, 72)
    await bot.pass_time(until_monday(clock) + 5 * 3600)
    await bot.start_bot()
    await bot.wait_for_post("2 pull requests left the queue unmerged")
    assert len(bot.posts()) == 2
