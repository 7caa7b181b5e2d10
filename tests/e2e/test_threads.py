"""A thread for each pull request: its first message says how it is, replies say what it doesn't."""

import re

import pytest

from tests.e2e.conftest import OVER_SOCKET_MODE, StartBot
from tests.support.bot_tester import ALICE, BOB, GENERAL, MERGE_QUEUE, RELEASES
from tests.support.waiting import until

pytestmark = [pytest.mark.e2e, OVER_SOCKET_MODE]

HEARING = f"acme/site={MERGE_QUEUE}:enter,merge,failure,dequeue"


async def test_one_queue_entry_is_one_message_kept_up_to_date(start_bot: StartBot) -> None:
    bot = await start_bot(channels=HEARING, speed=20.0)
    bot.stand_still()
    number = bot.enqueue(title="Rename the door", author="carol")
    root = await bot.wait_for_post(f"*Queued* #{number} Rename the door")

    bot.go_on()
    merged = await bot.wait_for_change(root, f":white_check_mark: *Merged* #{number}")

    assert merged.words.endswith(" s in the queue")
    # What follows in the channel is posted after everything about the merge.
    later = bot.enqueue(hangs=True)
    await bot.wait_for_post(f"*Queued* #{later}")
    assert bot.thread(root) == []
    assert len(bot.posts()) == 2


async def test_an_entry_merged_by_its_leave_event_is_not_called_queued(start_bot: StartBot) -> None:
    bot = await start_bot(channels=HEARING)
    bot.emit("action.queue.enter", 41)
    root = await bot.wait_for_post("*Queued* #41")

    bot.emit("action.queue.leave", 41, metadata={"merged": True})

    now = await bot.wait_for_change(root, ":white_check_mark: *Merged* #41")
    assert "by hand" not in now.words


async def test_a_failure_is_shown_in_the_channel_too(start_bot: StartBot) -> None:
    bot = await start_bot(channels=HEARING)
    number = bot.enqueue(broken_check="lint")
    root = await bot.wait_for_post(f"#{number}")
    failed = await bot.wait_for_post(f":x: *Left the queue* #{number}")
    assert re.search(r"\*Next step\b.*:\* fix it, then comment `@mergifyio queue`", failed.words)
    assert [message.ts for message in bot.thread(root)] == [failed.ts]
    now = await bot.wait_for_change(root, "Left the queue")
    assert len(bot.posts()) == 2
    # The root has the details, so the broadcast is short.
    assert ": lint failed" in now, now.words
    assert ": lint failed" in failed
    assert "*Time in queue*" in now
    assert "*Time in queue*" not in failed
    assert len(failed.blocks) == 1


async def test_the_author_is_mentioned_once_in_the_channel(start_bot: StartBot) -> None:
    bot = await start_bot(channels=HEARING, speed=20.0)
    await bot.ask("/mq link carol")
    await bot.ask("/mq me failures off")
    number = bot.enqueue(author="carol", broken_check="lint")
    root = await bot.wait_for_post(f"#{number}")
    failed = await bot.wait_for_post(f":x: *Left the queue* #{number}")
    assert f"Next step for <@{ALICE}>:* fix it, then comment `@mergifyio queue`" in str(
        failed.blocks
    )
    now = await bot.wait_for_change(root, "Left the queue")
    assert "<@" not in str(now.blocks)


async def test_a_removal_edits_the_message_and_a_new_entry_continues_in_its_thread(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(channels=HEARING)
    number = bot.enqueue(hangs=True)
    first = await bot.wait_for_post(f"*Queued* #{number}")
    bot.merge_queue.dequeue("acme/site", number, by="bob")
    assert "*Removed by* @bob" in await bot.wait_for_change(first, "*Removed from the queue*")

    bot.emit("action.queue.enter", number)

    reply = await bot.wait_in_thread(first, "*Queued*")
    assert [message.ts for message in bot.thread(first)] == [reply.ts]
    await bot.wait_for_change(first, f"*Queued* #{number}")
    bot.emit("action.queue.merged", number)
    await bot.wait_for_change(first, f"*Merged* #{number}")
    assert len(bot.posts()) == 1


async def test_arrivals_during_a_pause_are_counted_on_its_card(start_bot: StartBot) -> None:
    bot = await start_bot(channels=f"acme/site={MERGE_QUEUE}:enter,merge,failure,pause")
    bot.merge_queue.pause("acme/site", "CI is down", by="carol")
    card = await bot.wait_for_post("is paused*")
    numbers = [bot.enqueue() for _ in range(3)]

    await bot.wait_for_change(card, "3 queued")

    broken = bot.enqueue()
    bot.emit("action.queue.leave", broken, metadata={"dequeue_code": "CONFLICT_WITH_BASE_BRANCH"})
    failed = await bot.wait_for_post(f"#{broken}")
    assert "*Left the queue*" in failed
    assert not any(f"#{number}" in post for post in bot.posts() for number in numbers)
    assert len(bot.posts()) == 2


async def test_without_the_enter_topic_a_thread_begins_at_a_later_event(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(channels=f"acme/site={MERGE_QUEUE}:merge")
    number = await bot.merge()
    root = await bot.wait_for_post(f"*Merged* #{number}")
    assert bot.thread(root) == []
    assert len(bot.posts()) == 1


async def test_the_first_message_shows_events_without_posts_of_their_own(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(channels=f"acme/site={MERGE_QUEUE}:enter")
    number = bot.enqueue(hangs=True)
    root = await bot.wait_for_post(f"*Queued* #{number}")
    bot.merge_queue.dequeue("acme/site", number, by="bob")
    await bot.wait_for_change(root, "*Removed from the queue*")
    assert bot.thread(root) == []


async def test_a_thread_survives_a_restart(start_bot: StartBot) -> None:
    bot = await start_bot(channels=HEARING, speed=10.0)
    number = bot.enqueue(hangs=True)
    root = await bot.wait_for_post(f"*Queued* #{number}")
    await bot.stop_bot()
    bot.merge_queue.dequeue("acme/site", number, by="bob")
    await bot.start_bot()
    await bot.wait_for_change(root, "*Removed from the queue*")
    assert bot.thread(root) == []
    assert len(bot.posts()) == 1


async def test_a_first_message_posted_long_after_its_event_says_when(
    start_bot: StartBot,
) -> None:
    """An edit doesn't: it looks new to nobody, and may come hours after one that was in time."""
    bot = await start_bot(channels=HEARING)
    bot.emit("action.queue.enter", 41)
    root = await bot.wait_for_post("*Queued* #41")
    assert "Happened" not in root
    await bot.stop_bot()
    bot.emit("action.queue.merged", 41)
    bot.emit("action.queue.enter", 42)
    bot.emit("action.queue.merged", 42)
    bot.emit("action.queue.enter", 43)
    await bot.pass_time(20 * 60)
    await bot.start_bot()

    merged = await bot.wait_for_change(root, "*Merged* #41")
    assert "Happened" not in merged
    assert "Happened" in await bot.wait_for_post("*Merged* #42")
    waiting = await bot.wait_for_post("*Queued* #43")
    assert "Happened" in waiting
    bot.emit("action.queue.merged", 43)
    assert "Happened" not in await bot.wait_for_change(waiting, "*Merged* #43")


async def test_people_are_notified_when_the_first_message_is_deleted(start_bot: StartBot) -> None:
    bot = await start_bot(channels=HEARING)
    bot.expected_refusals = {
        "chat.postMessage thread_not_found",
        "chat.update message_not_found",
    }
    number = bot.enqueue(hangs=True)
    root = await bot.wait_for_post(f"*Queued* #{number}")
    bot.delete(root)
    bot.merge_queue.dequeue("acme/site", number, by="bob")
    notice = await bot.wait_for_post(f"*Removed from the queue* #{number}")
    assert "by @bob" in notice


async def test_a_failure_whose_first_message_was_deleted_has_the_details_itself(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(
        repositories={"acme/site": "quiet", "acme/api": "quiet"},
        channels=f"{HEARING};acme/api={MERGE_QUEUE}:enter,failure",
    )
    bot.expected_refusals = {"chat.update message_not_found"}
    number = bot.enqueue(hangs=True)
    root = await bot.wait_for_post(f"*Queued* #{number}")
    bot.delete(root)
    left = {"dequeue_code": "CHECKS_FAILED", "merged": False}
    bot.emit("action.queue.leave", number, metadata=left)
    failure = await bot.wait_for_post(f"#{number}")

    def labels() -> list[str]:
        shown = bot.now(failure)
        return shown.labels if shown is not None else []

    # It may have been posted before the bot learned that the first message is gone.
    assert await until(labels, "buttons of the details") == [
        "Why?",
        "Log",
        "Mute this pull request",
    ]
    shown = bot.now(failure)
    assert shown is not None
    assert "acme/site" in shown
    await bot.has_posted()
    assert len(bot.posts()) == 1


async def test_an_event_seen_before_its_enter_event_belongs_to_the_same_entry(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(channels=f"{HEARING},command")
    event = bot.emit("command.queue", 77)
    root = await bot.wait_for_post("*Queueing requested* #77")
    bot.emit("action.queue.enter", 77)
    await bot.wait_for_change(root, "*Queued* #77")
    await bot.wait_in_thread(root, "Queued")
    assert event
    assert len(bot.posts()) == 1


async def test_feed_and_threads_coexist(start_bot: StartBot) -> None:
    bot = await start_bot(channels=f"{HEARING};acme/site={RELEASES}:enter merge style:feed")
    number = await bot.merge()
    root = await bot.wait_for_post(f"#{number}")
    await bot.wait_for_change(root, "*Merged*")
    await bot.wait_for_post(f"*Queued* #{number}", RELEASES, by=BOB)
    await bot.wait_for_post(f"*Merged* #{number}", RELEASES, by=BOB)
    assert [len(bot.posts(channel)) for channel in (MERGE_QUEUE, RELEASES)] == [1, 2]


async def test_a_bisection_is_one_message_with_its_history_and_names_the_culprit(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(channels=f"acme/site={MERGE_QUEUE}:batch")
    batch = {"original_batch_pr_numbers": [41, 42, 43], "batch_id": "b-1"}
    bot.emit("action.queue.batch_bisection_start", 41, metadata=batch)
    root = await bot.wait_for_post("*Bisecting a batch*")
    assert "*Bisecting a batch* #41, #42, #43, to find what broke it" in root
    bot.emit("action.queue.batch_bisection_start", 41, metadata=batch)
    await bot.wait_in_thread(root, "*Bisecting a batch*")

    found = {"culprit_found": True, "culprit_pr_numbers": [42], "remaining_pr_numbers": [41, 43]}
    bot.emit("action.queue.batch_bisection_end", 41, metadata={**batch, **found})

    ended = await bot.wait_for_change(root, "#42 broke the batch; #41, #43 continue")
    assert "*Bisection ended*" in ended
    await bot.wait_in_thread(root, "#42 broke the batch")
    assert len(bot.posts()) == 1


async def test_bisections_of_two_batches_have_separate_threads(start_bot: StartBot) -> None:
    bot = await start_bot(channels=f"acme/site={MERGE_QUEUE}:batch", speed=40.0)
    numbers = [bot.enqueue(broken_check="lint" if number == 1 else None) for number in range(3)]
    await bot.happens("action.queue.batch_bisection_start")
    bot.stand_still()
    root = await bot.wait_for_post("*Bisecting a batch*")
    bot.go_on()
    ended = await bot.wait_for_change(root, "*Bisection ended*")
    assert f"#{numbers[1]} broke the batch" in ended
    bot.emit(
        "action.queue.batch_bisection_start", 7, metadata={"original_batch_pr_numbers": [7, 8]}
    )
    other = await bot.wait_for_post("#7, #8, to find")
    assert other.ts != root.ts
    assert len(bot.posts()) == 2


async def test_pull_requests_held_by_a_pause_say_so_until_the_queue_resumes(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(channels=f"{HEARING};acme/site={RELEASES}:enter style:feed")
    running = bot.enqueue(hangs=True)
    root = await bot.wait_for_post(f"*Queued* #{running}")
    await bot.wait_for_post(f"*Queued* #{running}", RELEASES, by=BOB)
    bot.emit("action.queue.checks_start", running)
    # A pause stops what the bot has seen running.
    await bot.next_poll()
    bot.merge_queue.pause("acme/site", "CI is down", by="carol")
    late = bot.enqueue()
    other = await bot.wait_for_post(f"*Queued* #{late}")
    assert "the queue is paused" in await bot.wait_for_post(f"#{late}", RELEASES, by=BOB)
    assert "the queue is paused" in other
    stopped = await bot.wait_for_change(root, "stopped by the pause")
    assert "the queue has resumed" not in stopped

    bot.stand_still()
    bot.merge_queue.resume("acme/site", by="carol")

    now = await bot.wait_for_change(root, "the queue has resumed")
    assert "stopped by the pause" not in now
    assert "*Queued*" in now
    assert "the queue is paused" not in await bot.wait_for_other(other)


async def test_a_head_says_that_the_queue_runs_again_though_no_event_tells(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(channels=HEARING, logs_pauses=False)
    await bot.pause("CI is down", channel=GENERAL)
    late = bot.enqueue(hangs=True)
    head = await bot.wait_for_post(f"*Queued* #{late}")
    assert "the queue is paused" in head
    bot.stand_still()
    bot.merge_queue.resume("acme/site", by="carol")
    await bot.pass_time(60)
    await bot.wait_for_post("*acme/site has resumed*", GENERAL)
    await bot.wait_for_direct_message("acme/site resumed after")
    assert "the queue is paused" not in await bot.wait_for_other(head)
