"""Many pull requests fail at once: one message counts them."""

import re

import pytest

from tests.e2e.conftest import OVER_SOCKET_MODE, StartBot
from tests.support.bot_tester import MERGE_QUEUE, RELEASES, BotTester

pytestmark = [pytest.mark.e2e, OVER_SOCKET_MODE]

UNTIL_CALM = 11 * 60
UNTIL_LAPSED = 31 * 60
FEED_TOO = f"acme/site={MERGE_QUEUE}:enter,failure;acme/site={RELEASES}:failure,style:feed"


def fail(
    bot: BotTester, number: int, check: str = "unit tests", base_ref: str | None = "main"
) -> None:
    bot.emit("action.queue.enter", number, base_ref=base_ref)
    bot.emit(
        "action.queue.leave",
        number,
        base_ref=base_ref,
        metadata={
            "merged": False,
            "dequeue_code": "CHECKS_FAILED",
            "unsuccessful_checks": [{"name": check, "state": "failure"}],
        },
    )


def numbers(bot: BotTester) -> set[str]:
    """The pull requests with a message of their own."""
    begins = [post.line for post in bot.posts() if "acme/site: " not in post.line]
    return {found for line in begins for found in re.findall(r"#(\d+)", line)}


async def test_failures_in_a_storm_are_counted_by_one_message(start_bot: StartBot) -> None:
    bot = await start_bot(channels=FEED_TOO)
    for number in range(41, 45):
        fail(bot, number)
        await bot.wait_for_post(f"*Left the queue* #{number}", RELEASES)
    fail(bot, 45, "lint")
    storm = await bot.wait_for_post("acme/site: 5 pull requests have failed since")
    for number in range(46, 53):
        fail(bot, number, "lint")
        await bot.wait_for_post(f"*Left the queue* #{number}", RELEASES)
    storm = await bot.wait_for_change(storm, "acme/site: 12 pull requests have failed since")
    assert "*Failed checks* lint (8), unit tests (4)" in storm
    assert "Don't requeue anything until pull requests merge again" in storm
    assert "Pause queue" in str(storm.blocks)
    # The fifth may have entered before it was clear that this is a storm.
    assert numbers(bot) - {"45"} == {"41", "42", "43", "44"}

    await bot.pass_time(UNTIL_CALM)
    await bot.merge()
    over = await bot.wait_for_change(storm, "acme/site: pull requests are merging again")
    assert "12 pull requests failed between" in over
    assert "Pause queue" not in str(over.blocks)
    fail(bot, 60)
    await bot.wait_for_post("*Left the queue* #60", RELEASES)
    await bot.wait_for_post("*Left the queue* #60")
    await bot.has_posted()
    bot.posts()
    bot.posts(RELEASES)


async def test_a_storm_is_of_one_branch(start_bot: StartBot) -> None:
    """What happens on another branch is no part of it, and doesn't end it."""
    bot = await start_bot(channels=FEED_TOO)
    bot.emit("action.queue.enter", 30)
    for number in range(41, 45):
        fail(bot, number, base_ref="release/1.2")
        await bot.wait_for_post(f"*Left the queue* #{number}", RELEASES)
    fail(bot, 45, base_ref="release/1.2")
    storm = await bot.wait_for_post("acme/site: 5 pull requests have failed since")
    assert "*Branch* `release/1.2`" in storm
    assert "A pause would stop the other branches too." in storm

    fail(bot, 50)
    fail(bot, 51, base_ref=None)
    for number in (50, 51):
        failed = await bot.wait_for_post(f"*Left the queue* #{number}")
        assert "Don't requeue" not in failed
        await bot.wait_for_post(f"*Left the queue* #{number}", RELEASES)
        answer = await bot.ask(f"/mq why {number}")
        assert "once failures are down" not in answer
    for number in range(61, 68):
        bot.emit("action.queue.merged", number)
    await bot.happens("action.queue.merged", 67)
    fail(bot, 46, base_ref="release/1.2")
    await bot.wait_for_change(storm, "acme/site: 6 pull requests have failed since")
    await bot.wait_for_post("*Left the queue* #46", RELEASES)
    await bot.has_posted()
    bot.posts()
    bot.posts(RELEASES)


async def test_a_storm_that_calms_without_a_merge_shows_that_it_is_over(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(channels=FEED_TOO)
    for number in range(41, 45):
        fail(bot, number)
        await bot.wait_for_post(f"*Left the queue* #{number}", RELEASES)
    fail(bot, 45, "lint")
    storm = await bot.wait_for_post("acme/site: 5 pull requests have failed since")
    await bot.pass_time(UNTIL_LAPSED)
    over = await bot.wait_for_change(storm, "*acme/site: 5 pull requests failed*\n*From* ")
    assert "Nothing failed in the 30 min after that" in over
    assert "Don't requeue" not in over
    assert "Pause queue" not in str(over.blocks)
    fail(bot, 60)
    await bot.wait_for_post("*Left the queue* #60", RELEASES)
    await bot.wait_for_post("*Left the queue* #60")
    await bot.has_posted()
    bot.posts()
    bot.posts(RELEASES)


async def test_a_storm_is_over_once_more_merge_than_fail_again(start_bot: StartBot) -> None:
    """In a busy queue some always fail, so that it never calms."""
    bot = await start_bot(channels=FEED_TOO)
    for number in range(41, 46):
        fail(bot, number)
        await bot.wait_for_post(f"*Left the queue* #{number}", RELEASES)
    storm = await bot.wait_for_post("acme/site: 5 pull requests have failed since")
    for number in range(51, 58):
        bot.emit("action.queue.merged", number)
    await bot.happens("action.queue.merged", 57)
    fail(bot, 60)
    over = await bot.wait_for_change(storm, "acme/site: pull requests are merging again")
    assert "5 pull requests failed between" in over
    await bot.wait_for_post("*Left the queue* #60")
    await bot.wait_for_post("*Left the queue* #60", RELEASES)
    await bot.has_posted()
    bot.posts()
    bot.posts(RELEASES)


async def test_what_is_no_verdict_of_checks_is_posted_in_a_storm_too(start_bot: StartBot) -> None:
    bot = await start_bot(channels=FEED_TOO)
    for number in range(41, 46):
        fail(bot, number)
        await bot.wait_for_post(f"*Left the queue* #{number}", RELEASES)
    await bot.wait_for_post("acme/site: 5 pull requests have failed since")
    conflict = {"merged": False, "dequeue_code": "CONFLICT_WITH_BASE_BRANCH"}
    bot.emit("action.queue.leave", 50, metadata=conflict)
    await bot.wait_for_post("#50")
    await bot.wait_for_post("#50", RELEASES)
    await bot.has_posted()
    bot.posts()
