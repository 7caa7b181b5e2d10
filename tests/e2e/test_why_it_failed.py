"""Why a pull request left: the same verdict in the post, its thread, `why` and a direct message."""

import re
from typing import Any

import pytest

from tests.e2e.conftest import OVER_SOCKET_MODE, StartBot
from tests.support.bot_tester import ALICE, BOB, GENERAL, MERGE_QUEUE, RELEASES, BotTester
from tests.support.shown import Shown

pytestmark = [pytest.mark.e2e, OVER_SOCKET_MODE]

UNTIL_KNOWN = 11
SLOW = 10.0
"""So that a pull request is seen in the queue, with its author, before it leaves."""

MUTE = "Mute this pull request"
FEED = f"acme/site={MERGE_QUEUE}:failure,style:feed"
EVERYWHERE = f"{FEED};acme/site={RELEASES}:failure,enter"


async def of_carol(bot: BotTester, **pull_request: Any) -> int:
    """A pull request whose author, alice in Slack, gets direct messages."""
    await bot.ask("/mq link carol")
    await bot.pass_time(UNTIL_KNOWN)
    return bot.enqueue(author="carol", **pull_request)


async def everywhere(bot: BotTester, number: int, root: Shown) -> dict[str, Shown]:
    """The messages that say why it left; `root` begins its thread."""
    post = await bot.wait_for_post(f"*Left the queue* #{number}")
    reply = await bot.wait_for_post(f"*Left the queue* #{number}", RELEASES)
    return {
        "post": post,
        "broadcast": reply,
        "first message of the thread": await bot.wait_for_change(root, "*Left the queue*"),
        "direct message": await bot.wait_for_direct_message(f"*Left the queue* #{number}"),
        "why": await bot.ask(f"/mq why {number}", channel=GENERAL),
    }


def cause_in(shown: Shown) -> str:
    """What stands behind the pull request in the first line."""
    found = re.search(r"\*Left the queue\* (?:acme/site )?#\d+[^:]*: (.+)", shown.words)
    assert found, shown.words
    return found[1]


def step_in(shown: Shown) -> str:
    found = re.search(r"^\*Next step[^:]*:\* (.+)$", shown.words, re.MULTILINE)
    assert found, shown.words
    return found[1]


async def test_all_say_the_same(start_bot: StartBot) -> None:
    bot = await start_bot(channels=EVERYWHERE, speed=SLOW)
    number = await of_carol(bot, title="Door", broken_check="lint", optional_check="docs preview")
    root = await bot.wait_for_post(f"*Queued* #{number} Door", RELEASES)

    told = await everywhere(bot, number, root)

    assert {cause_in(shown) for shown in told.values()} == {"lint failed · open the run"}
    assert {step_in(shown) for shown in told.values()} == {
        "fix it, then comment `@mergifyio queue`"
    }
    assert "*Next step for you:*" in told["direct message"]
    assert "*Next step for carol:*" in told["why"]
    for name, shown in told.items():
        assert "https://ci.example.com/" in str(shown.blocks), name
        # The thread's first message has what the broadcast leaves out.
        assert ("Failed too, not required: docs preview" in shown) == (name != "broadcast"), name


@pytest.mark.parametrize("dialect", ["document", "live"])
async def test_a_check_that_fails_for_others_too_says_how_often(
    start_bot: StartBot, dialect: str
) -> None:
    bot = await start_bot(channels=FEED, dialect=dialect, speed=SLOW)
    other = bot.enqueue(title="Gate", broken_check="lint")
    await bot.wait_for_post(f"*Left the queue* #{other}")
    number = await of_carol(bot, title="Door", broken_check="lint")

    post = await bot.wait_for_post(f"*Left the queue* #{number}")
    notice = await bot.wait_for_direct_message(f"*Left the queue* #{number}")
    answer = await bot.ask(f"/mq why {number}", channel=GENERAL)

    for shown in (post, notice, answer):
        assert cause_in(shown) == "lint failed · open the run"
        assert step_in(shown) == "look at the run, then comment `@mergifyio queue`"
        assert "lint also failed for 1 of 1 other pull request on `main` within a day" in shown


async def test_the_pull_request_that_broke_the_batch_is_named(start_bot: StartBot) -> None:
    bot = await start_bot(channels=FEED)
    number = await of_carol(bot, title="Door", hangs=True)
    await bot.happens("action.queue.enter", number)
    await bot.next_poll()
    bot.emit(
        "action.queue.batch_bisection_end",
        number,
        metadata={"original_batch_pr_numbers": [number, 7], "culprit_pr_numbers": [7]},
    )
    failed = [{"name": "lint", "state": "failure", "url": "https://ci.example.com/1"}]
    bot.emit(
        "action.queue.leave",
        number,
        metadata={"merged": False, "dequeue_code": "CHECKS_FAILED", "unsuccessful_checks": failed},
    )

    post = await bot.wait_for_post(f"*Left the queue* #{number}")
    notice = await bot.wait_for_direct_message(f"*Left the queue* #{number}")

    for shown in (post, notice):
        assert cause_in(shown) == "#7 broke its batch · open the run"
        assert step_in(shown) == "comment `@mergifyio queue`"
        assert "The bisection found #7; this one was only in its batch." in shown


async def test_what_the_log_tells_late_of_an_earlier_stay_explains_no_later_one(
    start_bot: StartBot,
) -> None:
    """It left, was queued again, and only then came the rest of what had happened before."""
    bot = await start_bot(channels=FEED)
    number = 41
    first = {"session_id": "11111111-1111-4111-8111-111111111111"}
    second = {"session_id": "22222222-2222-4222-8222-222222222222"}
    failed = {"merged": False, "dequeue_code": "CHECKS_FAILED"}
    bot.emit("action.queue.enter", number, metadata=first)
    bot.emit("action.queue.enter", number, metadata=second)
    ended = {"aborted": True, "abort_code": "CHECKS_TIMEOUT", "abort_status": "DEFINITIVE"}
    bot.emit("action.queue.checks_end", number, metadata={**second, **ended})
    problem = {"reason": "The branch could not be created"}
    bot.emit("action.queue.checks_not_started", number, metadata={**first, **problem})
    bot.emit("action.queue.leave", number, metadata={**first, **failed})
    await bot.wait_for_post(f"*Left the queue* #{number}")
    bot.emit("action.queue.checks_not_started", number, metadata={**first, **problem})
    bot.emit("action.queue.leave", number, metadata={**second, "merged": False})

    post = await bot.wait_for_post(f"*Left the queue* #{number}")
    answer = await bot.ask(f"/mq why {number}", channel=GENERAL)
    for shown in (post, answer):
        assert cause_in(shown) == "its checks took too long"


async def test_one_that_the_service_puts_back_by_itself_has_not_failed(start_bot: StartBot) -> None:
    bot = await start_bot(channels=f"acme/site={RELEASES}:dequeue,style:feed")
    bot.emit("action.queue.enter", 41)
    metadata = {"merged": False, "dequeue_code": "BATCH_AHEAD_FAILED"}
    bot.emit("action.queue.leave", 41, metadata=metadata)

    await bot.wait_for_post("*Put back* #41: a batch ahead failed. No action needed.", RELEASES)
    answer = await bot.ask("/mq why 41", channel=GENERAL)
    assert "*Out of the queue* acme/site #41: a batch ahead failed" in answer
    assert "The service puts it back by itself, but hasn't yet." in answer
    assert MUTE not in answer.labels


async def test_checks_that_never_started_say_so(start_bot: StartBot) -> None:
    bot = await start_bot(channels=FEED)
    bot.emit("action.queue.enter", 41)
    bot.emit("action.queue.checks_not_started", 41, metadata={"reason": "No runner is free."})
    bot.emit("action.queue.leave", 41, metadata={"merged": False})

    post = await bot.wait_for_post("*Left the queue* #41")
    answer = await bot.ask("/mq why 41", channel=GENERAL)

    for shown in (post, answer):
        assert cause_in(shown) == "its checks never started"
        assert "The service says: No runner is free. There is no run to open." in shown


async def test_nobody_is_asked_to_queue_it_again_while_many_fail(start_bot: StartBot) -> None:
    bot = await start_bot(channels=FEED)
    for number in range(41, 46):
        check = {"name": f"check {number}", "state": "failure"}
        metadata = {"merged": False, "dequeue_code": "CHECKS_FAILED"}
        bot.emit(
            "action.queue.leave", number, metadata={**metadata, "unsuccessful_checks": [check]}
        )

    posts = [await bot.wait_for_post(f"*Left the queue* #{number}") for number in range(41, 46)]
    answer = await bot.ask("/mq why 45", channel=GENERAL)

    for shown in (posts[-1], answer):
        assert cause_in(shown) == "checks failed for many pull requests"
        assert "4 other pull requests failed within 30 minutes of it" in shown
        assert "don't queue it again yet" in step_in(shown)
        assert "@mergifyio" not in shown


async def test_a_pull_request_is_muted_for_one_person_and_unmuted(start_bot: StartBot) -> None:
    bot = await start_bot(channels=FEED, speed=SLOW)
    await bot.ask("/mq link zoe", by=BOB)
    number = await of_carol(bot, broken_check="lint")
    notice = await bot.wait_for_direct_message("*Left the queue*")
    assert MUTE in notice.labels

    await bot.click(notice, MUTE)
    muted = await bot.wait_for_reply(
        f"Muted #{number} of acme/site for you", channel=notice.channel
    )
    bot.emit("action.queue.leave", number, metadata={"dequeue_code": "CHECKS_TIMEOUT"})
    other = bot.enqueue(author="zoe", broken_check="unit tests")
    await bot.wait_for_direct_message(f"*Left the queue* #{other}", by=BOB)
    await bot.wait_for_post(f"*Left the queue* #{number}")
    timed_out = await bot.wait_for_post("its checks took too long")
    await bot.wait_for_post(f"*Left the queue* #{other}")
    assert "<@" not in str(timed_out.blocks)
    await bot.has_posted()
    assert len(left(bot, number)) == 1

    await bot.click(muted, "Unmute")
    await bot.wait_for_change(muted, f"#{number} of acme/site is no longer muted")
    bot.emit("action.queue.leave", number, metadata={"dequeue_code": "BASE_BRANCH_MISSING"})
    await bot.wait_for_direct_message("its base branch no longer exists")
    await bot.wait_for_post("its base branch no longer exists")
    assert len(left(bot, number)) == 2


def left(bot: BotTester, number: int) -> list[Shown]:
    told = bot.direct_messages(by=ALICE)
    return [shown for shown in told if f"*Left the queue* #{number}" in shown]
