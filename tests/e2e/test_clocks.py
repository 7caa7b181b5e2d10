"""Wrong and jumping clocks: nothing is lost, repeated or ended too soon."""

import pytest

from bot.log.types import FREEZE_UPDATE
from bot.sandbox.merge_queue.controls import FreezeTerms
from tests.e2e.conftest import OVER_SOCKET_MODE, StartBot
from tests.support.bot_tester import MERGE_QUEUE, BotTester
from tests.support.clock import MovedClock
from tests.support.shown import Shown

pytestmark = [pytest.mark.e2e, OVER_SOCKET_MODE]

MINUTES = 240
"""Within what Slack's signatures allow, so that both ways of hearing Slack work."""


def posted_end(bot: BotTester, card: Shown) -> str:
    """The end shown on the card of a timed pause."""
    shown = bot.now(card)
    assert shown is not None
    return shown.words.partition("resumes ")[2].partition(" UTC")[0]


@pytest.mark.parametrize("ours_is_ahead_by", [MINUTES, -MINUTES])
async def test_every_event_is_posted_once_with_any_clock(
    start_bot: StartBot, clock: MovedClock, ours_is_ahead_by: int
) -> None:
    clock.advance(ours_is_ahead_by)
    bot = await start_bot(channels=f"acme/site={MERGE_QUEUE}:enter,pause,style:feed")
    numbers = [bot.enqueue()]
    await bot.wait_for_post(f"#{numbers[0]}")
    await bot.stop_bot()
    numbers += [bot.enqueue(), bot.enqueue()]
    await bot.start_bot()
    for number in numbers[1:]:
        await bot.wait_for_post(f"#{number}")
    bot.merge_queue.pause("acme/site", "Database migration", by="carol")
    await bot.wait_for_post("Database migration")
    notice = [post for post in bot.posts() if "Queued" in post]
    assert [next(each for each in numbers if f"#{each}" in one) for one in notice] == numbers


async def test_a_pause_ends_at_the_time_on_its_card_when_our_clock_is_set_back(
    bot: BotTester, clock: MovedClock
) -> None:
    card = await bot.pause("30m deploying 4.2")
    end = posted_end(bot, card)
    clock.jump(-3600)
    await bot.pass_time(89 * 60)
    await bot.ask("/mq status")
    assert bot.pause_reason() is not None
    assert posted_end(bot, card) == end

    await bot.pass_time(61)

    assert "late" not in await bot.wait_for_post("has resumed")


async def test_a_pause_whose_time_is_over_once_our_clock_is_set_ahead_ends(
    bot: BotTester, clock: MovedClock
) -> None:
    await bot.pause("30m deploying 4.2")
    clock.jump(3600)
    await bot.wait_for_post("has resumed")
    assert bot.pause_reason() is None


@pytest.mark.parametrize("ours_is_ahead_by", [MINUTES, -MINUTES])
async def test_who_let_a_pull_request_through_is_known_with_any_clock(
    start_bot: StartBot, clock: MovedClock, ours_is_ahead_by: int
) -> None:
    clock.advance(ours_is_ahead_by)
    bot = await start_bot(channels=f"acme/site={MERGE_QUEUE}:ci")
    bot.merge_queue.freeze("acme/site", FreezeTerms("night"))
    number = bot.enqueue()
    await bot.publish(f"/mq allow {number} fixes the outage", "may merge during")
    await bot.happens(FREEZE_UPDATE)
    log = await bot.ask("/mq log")
    assert "(was no exceptions)\nby alice" in log.line


async def test_clock_jumps_and_offsets_are_logged(start_bot: StartBot, clock: MovedClock) -> None:
    # The sandbox's clock is right, and ours is not.
    bot = await start_bot(channels=f"acme/site={MERGE_QUEUE}:enter")
    assert "clock_jumped" not in bot.logged_actions()
    clock.jump(-120)
    await bot.logged("clock_jumped")
    await bot.logged("clock_off")
    clock.jump(120)
    await bot.logged("clock_right")


@pytest.mark.parametrize("jump", [7200, -7200])
async def test_a_post_with_a_lost_response_appears_once_with_any_clock(
    start_bot: StartBot, clock: MovedClock, jump: int
) -> None:
    bot = await start_bot(channels=f"acme/site={MERGE_QUEUE}:enter,style:feed")
    clock.jump(jump)
    numbers = []
    for _ in range(2):
        bot.break_slack("drop_after_accept", "chat.postMessage")
        numbers.append(bot.enqueue())
        await bot.wait_for_post(f"#{numbers[-1]}")
        await bot.struck("drop_after_accept", len(numbers))
        await bot.pass_time(3)
        await bot.logged("post_found")
    await bot.pass_time(60)
    await bot.has_posted()
    assert len(bot.posts()) == len(numbers)


@pytest.mark.parametrize(("before", "after"), [(3600, 0), (-3600, 0), (0, 3600), (0, -3600)])
async def test_an_action_is_reported_once_when_the_clock_changes_before_its_event(
    start_bot: StartBot, clock: MovedClock, before: int, after: int
) -> None:
    bot = await start_bot(
        channels=f"acme/site={MERGE_QUEUE}:enter,pause,style:feed",
        # By a clock that is an hour ahead, a reminder is due at once.
        environment={"MQBOT_REMINDER_MINUTES": "0"},
    )
    await bot.stop_bot()
    clock.jump(before)
    await bot.start_bot()
    bot.break_service("error", path="/logs", status=503)
    await bot.pause("CI runners are down")
    await bot.resume()
    notice = len(bot.posts())
    await bot.stop_bot()
    clock.jump(after - before)
    bot.fix_service()
    await bot.start_bot()

    await bot.wait_for_post(f"#{bot.enqueue()}")

    await bot.has_posted()
    assert len(bot.posts()) == notice + 1, [post.words for post in bot.posts()]
    bot.merge_queue.pause("acme/site", "Database migration", by="carol")
    await bot.wait_for_post("Database migration")
    bot.merge_queue.resume("acme/site", by="dave")
    assert "By dave" in await bot.wait_for_post("has resumed")
