"""A service with an odd event log: refused cursors, wrong times, endless links, repeated ids.

Nothing that happens later is hidden by it.
"""

import re
from datetime import UTC, datetime, timedelta

import pytest

from tests.e2e.conftest import OVER_SOCKET_MODE, StartBot
from tests.support.bot_tester import MERGE_QUEUE, BotTester

pytestmark = [pytest.mark.e2e, OVER_SOCKET_MODE]

HEARING = f"acme/site={MERGE_QUEUE}:enter,style:feed"
LATER = range(700, 710)


async def later_events_are_posted(bot: BotTester) -> None:
    for number in LATER:
        bot.emit("action.queue.enter", number)
    for number in LATER:
        await bot.wait_for_post(f"*Queued* #{number}")


@pytest.mark.parametrize("status", [403, 409, 410, 500])
async def test_cursors_that_are_always_refused_block_nothing(
    start_bot: StartBot, status: int
) -> None:
    bot = await start_bot(channels=HEARING)
    await bot.stop_bot()
    for number in range(100, 250):
        bot.emit("action.queue.enter", number)
    bot.break_service("stale_cursor", path="/logs", status=status)
    await bot.start_bot()

    summary = await bot.wait_for_post("Catching up", seconds=60)
    assert "150" in summary
    await later_events_are_posted(bot)
    assert "cursor_refused" in bot.logged_actions()


async def test_endless_next_links_block_nothing(start_bot: StartBot) -> None:
    bot = await start_bot(channels=HEARING)
    bot.break_service("endless_links", path="/logs")
    bot.emit("action.queue.enter", 77)
    await bot.wait_for_post("*Queued* #77")
    before = bot.merge_queue.request_count
    await later_events_are_posted(bot)

    assert "endless_links" in bot.logged_actions()
    assert bot.merge_queue.request_count - before < 1000


async def test_an_event_stamped_minutes_ahead_hides_no_later_events(start_bot: StartBot) -> None:
    bot = await start_bot(channels=HEARING)
    ahead = datetime.now(UTC) + timedelta(minutes=5)
    bot.emit("action.queue.enter", 77, received_at=ahead)
    await bot.wait_for_post("*Queued* #77")
    await later_events_are_posted(bot)
    await bot.stop_bot()
    await bot.start_bot()
    bot.emit("action.queue.enter", 78)
    await bot.wait_for_post("*Queued* #78")

    assert "wrong_time" in bot.logged_actions()


@pytest.mark.parametrize("seconds", [86400, -86400])
async def test_one_response_with_a_wrong_date_hides_nothing(
    start_bot: StartBot, seconds: float
) -> None:
    bot = await start_bot(channels=HEARING)
    bot.break_service("wrong_date", path="/logs", seconds=seconds, times=1)
    await bot.logged("wrong_time")
    await later_events_are_posted(bot)


async def test_both_events_with_the_same_id_are_reported(start_bot: StartBot) -> None:
    bot = await start_bot(channels=HEARING)
    first = bot.emit("action.queue.enter", 77)
    await bot.wait_for_post("*Queued* #77")
    bot.emit("action.queue.enter", 78, id=first)
    await bot.logged("duplicate_id")
    await later_events_are_posted(bot)

    assert bot.logged_actions().count("duplicate_id") == 1


async def test_a_burst_is_not_read_again_with_every_poll(start_bot: StartBot) -> None:
    bot = await start_bot(channels=HEARING)
    await bot.stop_bot()
    pages = 40
    for number in range(100 * pages):
        bot.emit("action.queue.enter", 1000 + number)
    before = len(bot.requests("/logs"))
    await bot.start_bot()
    notice = 0
    while notice < 100 * pages:
        post = await bot.wait_for_post("Catching up", seconds=60)
        notice += int(re.findall(r"([\d,]+) ", post.line)[0].replace(",", ""))
    for number in LATER:
        bot.emit("action.queue.enter", number)
        await bot.wait_for_post(f"*Queued* #{number}")

    # All of it, what is newer with each poll, and one look at what may have shown late.
    assert len(bot.requests("/logs")) - before < 2 * pages + 60
