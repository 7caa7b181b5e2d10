"""An outage of the service and its recovery are announced once; then all events are posted."""

import re

import pytest

from tests.e2e.conftest import OVER_HTTP, StartBot
from tests.support.bot_tester import GENERAL, MERGE_QUEUE, RELEASES
from tests.support.waiting import until

pytestmark = [pytest.mark.e2e, OVER_HTTP]


async def test_a_stale_log_is_reported_once_and_so_is_its_recovery(start_bot: StartBot) -> None:
    bot = await start_bot(
        repositories={"acme/site": "quiet", "acme/api": "quiet"},
        channels=f"acme/site={MERGE_QUEUE}:enter;acme/api={MERGE_QUEUE}:enter;"
        f"acme/api={RELEASES}:merge",
    )
    bot.break_service("error", path="/logs", status=503)

    def failed() -> set[str]:
        records = [record.__dict__ for record in bot.log.records]
        return {record["repository"] for record in records if record.get("action") == "poll_failed"}

    await until(lambda: failed() == {"acme/site", "acme/api"}, "a failed poll of each")
    await bot.pass_time(45)

    notice = await bot.wait_for_post("can't be read")
    assert "acme/api, acme/site can't be read" in notice
    assert "*Cause* the merge queue service has a problem" in notice
    assert "*Answer* 503 service unavailable: Armed failure" in notice
    assert "I keep trying, and will catch up once it can be read again" in notice
    await bot.wait_for_post("can't be read", RELEASES)
    bot.emit("action.queue.enter", 77)
    await bot.pass_time(120)
    await bot.next_poll("acme/site")
    assert len(bot.posts()) == 1

    bot.fix_service()
    await bot.pass_time(120)

    over = await bot.wait_for_post("can be read again")
    assert "can be read again, after " in over
    await bot.wait_for_post("can be read again", RELEASES)
    await bot.wait_for_post("*Queued* #77")
    assert [len(bot.posts(each)) for each in (MERGE_QUEUE, RELEASES, GENERAL)] == [3, 2, 0]


@pytest.mark.parametrize(
    ("status", "cause", "remedy"),
    [
        (403, "doesn't let the bot's key read it · *Answer* 403 forbidden: No access", "installed"),
        (
            404,
            "doesn't find the repository · *Answer* 404 not found: No access",
            "`MQBOT_REPOSITORIES`",
        ),
        (409, "refuses the request · *Answer* 409 conflict: No access", "`mqbot check`"),
    ],
)
async def test_an_outage_that_somebody_must_fix_promises_nothing_by_itself(
    start_bot: StartBot, status: int, cause: str, remedy: str
) -> None:
    bot = await start_bot(channels=f"acme/site={MERGE_QUEUE}:enter")
    body = {"detail": "No access"}
    bot.break_service("error", path="/logs", status=status, body=body, times=None)
    await bot.logged("poll_failed")
    await bot.pass_time(45)

    notice = await bot.wait_for_post("can't be read")

    assert cause in notice
    assert "Nothing is posted until the person who runs the bot fixes it" in notice
    assert remedy in notice
    assert "catch up" not in notice


async def test_an_outage_causes_one_summary_and_no_flood(start_bot: StartBot) -> None:
    bot = await start_bot(channels=f"acme/site={MERGE_QUEUE}:enter")
    bot.emit("action.queue.enter", 77)
    root = await bot.wait_for_post("*Queued* #77")
    bot.break_service("error", path="/logs", status=503)
    await bot.next_poll()
    await bot.pass_time(45)
    await bot.wait_for_post("can't be read")
    for number in range(120):
        bot.emit("action.queue.enter", 100 + number)
    bot.emit("action.queue.merged", 77)

    bot.fix_service()
    await bot.pass_time(300)

    await bot.wait_for_post("can be read again")
    summary = await bot.wait_for_post("Catching up")
    assert "queued" in summary
    await bot.wait_for_change(root, "*Merged* #77")
    # The card, the two notices and the summary.
    assert len(bot.posts()) == 4


async def test_an_outage_of_slack_is_explained_once_it_is_over(start_bot: StartBot) -> None:
    bot = await start_bot(channels=f"acme/site={MERGE_QUEUE}:enter;acme/site={RELEASES}:failure")
    bot.break_slack("drop_before", "*", times=10_000)
    made = (
        "auth.test",
        "chat.postMessage",
        "conversations.history",
        "conversations.info",
        "users.conversations",
    )
    bot.expected_refusals = {f"{method} drop_before" for method in made}
    for number in range(77, 80):
        bot.emit("action.queue.enter", number)
    await bot.struck("drop_before")
    # Nothing is at rest while posts are in doubt.
    bot.clock.advance(60)
    await bot.logged("slack_silent")

    bot.slack.faults.disarm()
    bot.clock.advance(300)

    over = await bot.wait_for_post("Slack can be reached again, after ")
    assert "3 messages are late" in over
    for number in range(77, 80):
        await bot.wait_for_post(f"*Queued* #{number}")
    assert [len(bot.posts(each)) for each in (MERGE_QUEUE, RELEASES)] == [4, 0]


async def test_merges_during_an_outage_are_linked_and_waiting_ones_have_titles(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(channels=f"acme/site={MERGE_QUEUE}:enter,merge,style:feed")
    known = bot.enqueue(hangs=True, title="Known before")
    entered = await bot.wait_for_post(f"*Queued* #{known}")
    await bot.stop_bot()
    bot.emit("action.queue.enter", 77)
    bot.emit("action.queue.merged", 77)
    waiting = bot.enqueue(hangs=True, title="Waits since")
    await bot.start_bot()

    address = next(iter(re.findall(r"https://\S+?/pull/", str(entered.blocks))))
    for word in ("Queued", "Merged"):
        post = await bot.wait_for_post(f"*{word}* #77")
        assert f"<{address}77|#77>" in str(post.blocks)
        assert "by " not in post
    assert "Waits since" in await bot.wait_for_post(f"*Queued* #{waiting}")


@pytest.mark.parametrize("wait", ["86400", "Fri, 31 Dec 9999 23:59:59 GMT"])
async def test_a_service_that_asks_for_a_year_of_waiting_is_retried_in_minutes(
    start_bot: StartBot, wait: str
) -> None:
    bot = await start_bot(channels=f"acme/site={MERGE_QUEUE}:enter")
    bot.break_service("rate_limit", path="/logs", retry_after=wait)
    await bot.logged("service_limited")
    bot.fix_service()
    bot.emit("action.queue.enter", 77)
    await bot.pass_time(310)

    await bot.wait_for_post("*Queued* #77")
    assert "wait_cut" in bot.logged_actions()
    # Whether the outage is noticed before the first poll that succeeds is up to chance.
    if any("can't be read" in post for post in bot.posts()):
        await until(lambda: any("can be read again" in post for post in bot.posts()), "its end")
    await bot.stop_bot()
    bot.posts()
