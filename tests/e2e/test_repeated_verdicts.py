"""One pull request with the same verdict again and again: one message counts it."""

from typing import Any

import pytest

from bot.feed.repeats import COUNTED_WITHIN
from tests.e2e.conftest import OVER_SOCKET_MODE, StartBot
from tests.e2e.test_mentions import mention
from tests.support.bot_tester import MERGE_QUEUE, RELEASES, BotTester
from tests.support.shown import Shown

pytestmark = [pytest.mark.e2e, OVER_SOCKET_MODE]

UNTIL_KNOWN = 11
CONFLICT = {"dequeue_code": "CONFLICT_WITH_BASE_BRANCH", "merged": False}
FAILED = {"dequeue_code": "CHECKS_FAILED", "merged": False}
FEED = f"acme/site={MERGE_QUEUE}:failure,dequeue,checks,style:feed"
THREADS = f"acme/site={MERGE_QUEUE}:failure,enter"


def leave(bot: BotTester, number: int, metadata: dict[str, Any]) -> None:
    bot.emit("action.queue.leave", number, metadata=metadata)


async def of_carol(bot: BotTester) -> int:
    """A pull request in the queue, whose author gets direct messages."""
    await bot.ask("/mq link carol")
    await bot.pass_time(UNTIL_KNOWN)
    number = bot.enqueue(author="carol", hangs=True)
    await bot.happens("action.queue.enter", number)
    await bot.next_poll()
    return number


def left(posts: list[Shown]) -> list[Shown]:
    return [post for post in posts if "*Left the queue*" in post]


async def test_twelve_conflicts_of_one_pull_request_are_one_direct_message(
    start_bot: StartBot,
) -> None:
    bot = await start_bot()
    number = await of_carol(bot)
    leave(bot, number, CONFLICT)
    told = await bot.wait_for_direct_message("*Left the queue*")
    assert "times" not in told
    for _ in range(11):
        leave(bot, number, CONFLICT)
    counted = await bot.wait_for_change(told, "*12 times* since")
    assert "it conflicts with its base branch" in counted
    assert "\n12 times since 20" in counted.line
    await bot.has_posted()
    assert len(left(bot.direct_messages(by="U0ALICE"))) == 1


async def test_twelve_in_one_poll_are_one_post_that_says_so_at_once(start_bot: StartBot) -> None:
    bot = await start_bot(channels=FEED)
    for _ in range(12):
        leave(bot, 41, CONFLICT)
    counted = await bot.wait_for_post("*Left the queue*")
    await bot.wait_for_change(counted, "*12 times* since")
    leave(bot, 41, CONFLICT)
    await bot.wait_for_change(counted, "*13 times* since")
    assert len(bot.posts()) == 1


async def test_another_verdict_is_another_message(start_bot: StartBot) -> None:
    bot = await start_bot(channels=FEED)
    for verdict in (CONFLICT, CONFLICT, FAILED, CONFLICT, CONFLICT, CONFLICT):
        leave(bot, 41, verdict)
    leave(bot, 42, CONFLICT)
    first = await bot.wait_for_post("#41: it conflicts")
    failed = await bot.wait_for_post("#41: its checks failed")
    again = await bot.wait_for_post("#41: it conflicts")
    other = await bot.wait_for_post("#42: it conflicts")
    await bot.wait_for_change(first, "*2 times* since")
    await bot.wait_for_change(again, "*3 times* since")
    assert "times" not in failed
    assert "times" not in other
    assert len(bot.posts()) == 4


async def test_a_thread_is_told_once_of_equal_failures(start_bot: StartBot) -> None:
    bot = await start_bot(channels=THREADS)
    number = bot.enqueue(hangs=True)
    root = await bot.wait_for_post(f"*Queued* #{number}")
    leave(bot, number, CONFLICT)
    told = await bot.wait_in_thread(root, "*Left the queue*")
    for _ in range(4):
        bot.emit("action.queue.enter", number)
        leave(bot, number, CONFLICT)
    await bot.wait_for_change(told, "*5 times* since")
    again = await bot.wait_in_thread(root, "*4 times* since")
    assert "*Queued*" in again
    await bot.has_posted()
    assert len(bot.thread(root)) == 2
    assert len(bot.posts()) == 2


async def test_cycles_while_the_bot_was_down_are_one_thread(start_bot: StartBot) -> None:
    bot = await start_bot(channels=THREADS)
    await bot.stop_bot()
    for _ in range(8):
        bot.emit("action.queue.enter", 41)
        leave(bot, 41, CONFLICT)
    await bot.start_bot()
    root = await bot.wait_for_post("*Left the queue* #41")
    told = await bot.wait_in_thread(root, "*8 times* since")
    again = await bot.wait_in_thread(root, "*7 times* since")
    assert ["*Left the queue*" in told, "*Queued*" in again] == [True, True]
    await bot.has_posted()
    assert len(bot.posts()) == 2


async def test_a_question_in_the_thread_of_a_counted_message_means_its_pull_request(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(channels=FEED)
    for _ in range(2):
        leave(bot, 41, CONFLICT)
    counted = await bot.wait_for_post("*Left the queue*")
    await bot.wait_for_change(counted, "*2 times* since")
    mention(bot, "why", beneath=counted)
    assert "conflicts" in await bot.wait_in_thread(counted, "#41")


async def test_put_back_and_not_started_count_too(start_bot: StartBot) -> None:
    bot = await start_bot(channels=FEED)
    back = {
        "dequeue_code": "PR_AHEAD_DEQUEUED",
        "merged": False,
    }
    for _ in range(3):
        leave(bot, 41, back)
        bot.emit("action.queue.checks_not_started", 41, metadata={"reason": "the branch is locked"})
    put_back = await bot.wait_for_post("*Put back* #41")
    not_started = await bot.wait_for_post("*Checks couldn't start* #41")
    await bot.wait_for_change(put_back, "*3 times* since")
    await bot.wait_for_change(not_started, "*3 times* since")
    assert len(bot.posts()) == 2


async def test_after_a_while_it_is_news_again(start_bot: StartBot) -> None:
    bot = await start_bot(channels=FEED)
    leave(bot, 41, CONFLICT)
    first = await bot.wait_for_post("#41")
    await bot.pass_time(COUNTED_WITHIN.total_seconds() + 1)
    leave(bot, 41, CONFLICT)
    again = await bot.wait_for_post("#41")
    assert "times" not in first
    assert "times" not in again


async def test_what_a_restarted_bot_counts_is_neither_lost_nor_doubled(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(channels=f"{FEED};acme/site={RELEASES}:failure,style:feed")
    leave(bot, 41, CONFLICT)
    told = await bot.wait_for_post("*Left the queue*")
    other = await bot.wait_for_post("*Left the queue*", RELEASES)
    await bot.stop_bot()
    for _ in range(5):
        leave(bot, 41, CONFLICT)
    await bot.start_bot()
    await bot.wait_for_change(told, "*6 times* since")
    await bot.wait_for_change(other, "*6 times* since")
    bot.delete(told)
    leave(bot, 41, CONFLICT)
    await bot.wait_for_change(other, "*7 times* since")
    bot.expected_refusals |= {"chat.update message_not_found"}
    await bot.wait_for_post("*7 times* since")
