"""Events reach the subscribed channels once, in order, with the right words."""

import re
from collections.abc import Sequence

import pytest

from bot.sandbox.merge_queue.simulation.event_log import Event, Selection
from tests.e2e.conftest import OVER_HTTP, StartBot
from tests.support.bot_tester import ALICE, BOB, GENERAL, MERGE_QUEUE, RELEASES
from tests.support.shown import Shown
from tests.support.waiting import until

pytestmark = [pytest.mark.e2e, OVER_HTTP]

TOPICS = "enter,merge,failure,dequeue,pause,style:feed"
HEARING = f"acme/site={MERGE_QUEUE}:{TOPICS}"


async def test_a_pull_request_is_reported_when_it_enters_and_when_it_merges(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(channels=HEARING, speed=20.0)
    number = bot.enqueue(title="Rename the door", author="carol")
    entered = await bot.wait_for_post("Queued")
    assert entered.words == (
        f":inbox_tray: *Queued* #{number} Rename the door\nacme/site · `main` · by carol"
    )
    await bot.happens("action.queue.merged", number)
    merged = await bot.wait_for_post("Merged")
    assert merged.words.startswith(f":white_check_mark: *Merged* #{number} Rename the door\n")
    assert merged.words.endswith(" s in the queue")


async def test_a_failure_names_the_check_and_the_next_step(start_bot: StartBot) -> None:
    bot = await start_bot(channels=HEARING)
    number = bot.enqueue(broken_check="lint")
    await bot.wait_for_post(f"*Queued* #{number}")
    failed = await bot.wait_for_post(f"#{number}")
    assert ":x: *Left the queue*" in failed
    assert re.search(
        r": lint failed · open the run\n\*Next step\b.*:\* fix it, then comment `@mergifyio queue`",
        failed.words,
    )
    assert re.search(
        r": lint failed · open the run\nNext step\b.*: fix it, then comment `@mergifyio queue`",
        failed.line,
    )
    assert "https://ci.example.com/" in str(failed.blocks)


async def test_a_post_that_slack_refuses_with_an_unknown_code_doesnt_hold_up_its_channel(
    start_bot: StartBot,
) -> None:
    """First as it is, then as plain text, then the next one."""
    bot = await start_bot(channels=HEARING)
    bot.break_slack(
        "refuse", "chat.postMessage", channel=MERGE_QUEUE, code="made_up_next_year", times=2
    )
    lost = bot.enqueue(hangs=True)
    bot.expected_errors |= {"blocks_refused", "post_refused"}
    bot.expected_refusals.add("chat.postMessage made_up_next_year")
    await bot.struck("refuse", times=2)
    following = bot.enqueue(hangs=True)
    await bot.wait_for_post(f"*Queued* #{following}")
    assert [post for post in bot.posts() if f"#{lost}" in post] == []


async def test_a_failure_has_buttons_for_why_and_for_its_log(start_bot: StartBot) -> None:
    bot = await start_bot(channels=HEARING)
    number = bot.enqueue(broken_check="lint")
    await bot.wait_for_post(f"*Queued* #{number}")
    failed = await bot.wait_for_post(f"*Left the queue* #{number}")
    assert failed.labels == ["Why?", "Log", "Mute this pull request"]
    await bot.click(failed, "Why?", by=BOB)
    assert "lint failed" in await bot.wait_for_reply(f"#{number}", by=BOB)
    await bot.click(failed, "Log")
    assert "*Queued*" in await bot.wait_for_reply(f"Event log · acme/site · #{number}")


async def test_only_failures_that_need_the_author_mention_them(start_bot: StartBot) -> None:
    bot = await start_bot(channels=HEARING, speed=20.0)
    await bot.ask("/mq link Carol")
    await bot.ask("/mq me failures off")
    merged = bot.enqueue(author="carol")
    assert "<@" not in str((await bot.wait_for_post(f"*Queued* #{merged}")).blocks)
    assert "<@" not in str((await bot.wait_for_post(f"*Merged* #{merged}")).blocks)
    await bot.ask("/mq link carol")
    failing = bot.enqueue(author="carol", broken_check="lint")
    await bot.wait_for_post(f"*Queued* #{failing}")
    failed = await bot.wait_for_post(f"#{failing}")
    assert f"*Next step for @{ALICE}:* fix it, then comment `@mergifyio queue`" in failed
    assert f"Next step for @{ALICE}: fix it, then comment `@mergifyio queue`" in failed.line
    await bot.ask("/mq link off")
    of_nobody = bot.enqueue(author="carol", broken_check="lint")
    await bot.wait_for_post(f"*Queued* #{of_nobody}")
    assert "<@" not in str((await bot.wait_for_post(f"#{of_nobody}")).blocks)


async def test_a_removal_by_a_person_is_not_reported_as_a_failure(start_bot: StartBot) -> None:
    bot = await start_bot(channels=HEARING)
    number = bot.enqueue(hangs=True)
    bot.merge_queue.dequeue("acme/site", number, by="bob")
    await bot.wait_for_post(f"*Queued* #{number}")
    removed = await bot.wait_for_post(f"#{number}")
    assert "*Removed from the queue*" in removed
    assert "*Removed by* @bob" in removed
    assert ":x:" not in removed


async def test_a_batch_that_merged_is_reported_in_one_post(start_bot: StartBot) -> None:
    bot = await start_bot(channels=f"acme/site={MERGE_QUEUE}:merge,style:feed", speed=40.0)
    numbers = [bot.enqueue(title=f"Door {word}") for word in ("red", "green", "blue")]
    merged = await bot.wait_for_post("*Merged* 3 pull requests together")
    lines = [
        f"#{number} Door {one}"
        for number, one in zip(numbers, ("red", "green", "blue"), strict=True)
    ]
    assert merged.words == "\n".join(
        [":white_check_mark: *Merged* 3 pull requests together", *lines, "acme/site · `main`"]
    )
    assert f"#{numbers[2]} Door blue · `main` (acme/site)" in merged.line
    await bot.next_poll()
    assert len(bot.posts()) == 1


async def test_a_batch_has_no_post_of_its_own_when_merges_have_threads(start_bot: StartBot) -> None:
    bot = await start_bot(
        channels=f"acme/site={MERGE_QUEUE}:enter,merge;acme/site={RELEASES}:merge", speed=40.0
    )
    numbers = [bot.enqueue() for _ in range(3)]
    await bot.wait_for_post("*Merged* 3 pull requests together", RELEASES)
    for number in numbers:
        root = await bot.wait_for_post(f"#{number}")
        await bot.wait_for_change(root, f"*Merged* #{number}")
        assert bot.thread(root) == []
    assert [len(bot.posts(channel)) for channel in (MERGE_QUEUE, RELEASES)] == [3, 1]


async def test_only_the_culprit_of_a_broken_batch_is_reported_as_a_failure(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(channels=f"acme/site={MERGE_QUEUE}:merge,failure,style:feed")
    good = [bot.enqueue(), bot.enqueue()]
    culprit = bot.enqueue(broken_check="unit tests")
    failed = await bot.wait_for_post(f"#{culprit}")
    assert "unit tests failed" in failed
    for number in good:
        await bot.wait_for_post(f"*Merged* #{number}")
    assert len(bot.posts()) == 3


async def test_innocent_members_of_a_broken_batch_are_not_reported_as_failed(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(channels=f"acme/site={MERGE_QUEUE}:checks,merge,failure,style:feed")
    good = [bot.enqueue(), bot.enqueue()]
    culprit = bot.enqueue(broken_check="unit tests")
    left = await bot.wait_for_post(f"*Left the queue* #{culprit}")
    assert "unit tests failed" in left
    for number in good:
        await bot.wait_for_post(f"*Merged* #{number}")
    for number in good:
        notice = [post for post in bot.posts() if f"#{number}" in post]
        assert not [post for post in notice if "unit tests failed" in post]
        assert [post for post in notice if "its batch failed. Looking for the cause." in post]


async def test_each_channel_gets_its_subscribed_topics(start_bot: StartBot) -> None:
    bot = await start_bot(
        repositories={"acme/site": "quiet", "acme/api": "quiet"},
        channels=f"acme/site={MERGE_QUEUE}:enter,style:feed;"
        f"acme/api={RELEASES}:merge,style:feed;acme/site={GENERAL}:failure,style:feed",
    )
    site = bot.enqueue(broken_check="lint")
    api = await bot.merge("acme/api")
    await bot.wait_for_post(f"*Queued* #{site}", MERGE_QUEUE)
    await bot.wait_for_post(f"*Merged* #{api}", RELEASES)
    await bot.wait_for_post(f"*Left the queue* #{site}", GENERAL)
    counts = [len(bot.posts(channel)) for channel in (MERGE_QUEUE, RELEASES, GENERAL)]
    assert counts == [1, 1, 1]


async def test_events_before_the_first_start_are_not_posted(start_bot: StartBot) -> None:
    bot = await start_bot(repositories={"acme/site": "busy"}, channels=HEARING, speed=5.0)
    started_at = bot.merge_queue.requests[0]
    assert started_at is not None
    post = await bot.wait_for_post()
    notice = {kind_of(post)}
    assert notice <= {"Queued", "Merged", "Left the queue", "Removed from the queue"}
    await bot.stop_bot()
    history = len([event for event in bot.events() if posted_as(event)])
    assert len(bot.posts()) < history / 2


async def test_a_busy_queue_is_reported_event_by_event_in_its_order(start_bot: StartBot) -> None:
    bot = await start_bot(repositories={"acme/site": "busy"}, channels=HEARING, speed=12.0)
    log = bot.merge_queue.repository("acme/site").log
    since_start = Selection(bot.events()[-1].received_at + 1, 2**62)

    # Counted at the service: a bot on a slow machine must not find more than one line may hold.
    def is_busy() -> bool:
        return sum(posted_as(record) is not None for record in log.oldest_first(since_start)) >= 16

    await until(lambda: is_busy() and bot.posts(), "a busy time, and a first post")
    # From here on the queue stands still, so that every event can be posted.
    bot.stand_still()
    events = bot.events()
    first_at = _first_posted_at(bot.posts()[0], events)
    expected = [
        (posted_as(event), event.pull_request)
        for event in events
        if posted_as(event) is not None and event.received_at >= first_at
    ]
    await until(lambda: len(summarized_by(bot.posts())) >= len(expected), "every event posted")
    assert summarized_by(bot.posts()) == expected


async def test_nothing_is_lost_or_repeated_while_the_service_and_slack_fail(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(channels=f"acme/site={MERGE_QUEUE}:enter")
    bot.expected_refusals = {"chat.postMessage http_500"}
    bot.break_service("error", path="/logs", status=500, times=2)
    bot.break_slack("drop_after_accept", "chat.postMessage")
    numbers = [bot.enqueue(hangs=True) for _ in range(4)]
    bot.break_service("malformed", path="/logs", times=1)
    for number in numbers:
        await bot.wait_for_post(f"#{number}")
    assert len(bot.posts()) == 4


async def test_an_event_that_appears_late_is_reported(start_bot: StartBot) -> None:
    bot = await start_bot(channels=HEARING)
    first = await bot.merge()
    await bot.wait_for_post(f"*Queued* #{first}")
    await bot.wait_for_post(f"*Merged* #{first}")
    bot.emit_late("action.queue.enter", pull_request=77, after=bot.events()[0])
    await bot.wait_for_post("*Queued* #77")


def posted_as(event: Event) -> str | None:
    """The word of an event's post in a subscribed channel, from the service's own log."""
    if event.type == "action.queue.enter":
        return "Queued"
    if event.type == "action.queue.merged":
        return "Merged"
    if event.type != "action.queue.leave" or event.metadata.get("merged"):
        return None
    human = {"PR_MANUALLY_DEQUEUED", "PULL_REQUEST_UPDATED"}
    code = event.metadata["dequeue_code"]
    return "Removed from the queue" if code in human else "Left the queue"


def kind_of(post: Shown) -> str:
    return post.words.split("*")[1]


def summarized_by(posts: Sequence[Shown]) -> list[tuple[str, int]]:
    """The events in the posts, one after another; a batch that merged shares a post."""
    return [
        (kind_of(post), int(number))
        for post in posts
        for number in re.findall(r"^(?::\w+: \*.*\* )?#(\d+)", post.words, re.MULTILINE)
    ]


def _first_posted_at(first: Shown, events: list[Event]) -> int:
    notice = summarized_by([first])[0]
    return next(
        event.received_at
        for event in reversed(events)
        if (posted_as(event), event.pull_request) == notice
    )
