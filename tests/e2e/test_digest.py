"""A digest covers in one message everything since the last; failures don't wait for it."""

from datetime import timedelta

import pytest

from tests.e2e.conftest import OVER_HTTP, StartBot
from tests.support.bot_tester import MERGE_QUEUE, RELEASES, BotTester
from tests.support.clock import MovedClock

pytestmark = [pytest.mark.e2e, OVER_HTTP]


def in_an_hour(clock: MovedClock) -> str:
    return f"{clock.now() + timedelta(hours=1):%H:%M}"


async def subscribed(start_bot: StartBot, clock: MovedClock) -> BotTester:
    """Subscribe with an hour until the digest, and without reminders of pauses."""
    hears = f"enter merge failure pause digest:{in_an_hour(clock)} UTC"
    return await start_bot(
        channels=f"acme/site={MERGE_QUEUE}:{hears}",
        environment={"MQBOT_REMINDER_MINUTES": "0"},
    )


async def test_a_digest_is_one_message_at_its_time(start_bot: StartBot, clock: MovedClock) -> None:
    bot = await subscribed(start_bot, clock)
    for _ in range(3):
        await bot.merge()
    await bot.next_poll()
    assert bot.posts() == []

    await bot.pass_time(3600)

    digest = await bot.wait_for_post("Digest")
    assert digest.words.startswith(":newspaper: *Digest:* 6 events since ")
    assert "*acme/site*: 3 merged, 3 queued" in digest
    assert len(bot.posts()) == 1


async def test_failures_and_pauses_come_at_once(start_bot: StartBot, clock: MovedClock) -> None:
    bot = await subscribed(start_bot, clock)
    number = bot.enqueue(broken_check="lint")
    await bot.wait_for_post(f"*Left the queue* #{number}")
    bot.merge_queue.pause("acme/site", "Night", by="carol")
    await bot.wait_for_post("is paused")
    assert len(bot.posts()) == 2

    await bot.pass_time(3600)

    await bot.wait_for_post(f"*Queued* #{number}")


async def test_a_digest_missed_during_downtime_is_posted_late_and_once(
    start_bot: StartBot, clock: MovedClock
) -> None:
    bot = await subscribed(start_bot, clock)
    for _ in range(2):
        await bot.merge()
    await bot.next_poll()
    await bot.stop_bot()
    clock.advance(5 * 3600)
    await bot.start_bot()
    assert "*acme/site*: 2 merged, 2 queued" in await bot.wait_for_post("Digest")
    assert len(bot.posts()) == 1


@pytest.mark.parametrize("style", ["feed", "digest"])
async def test_waiting_deliveries_come_when_the_channel_leaves_the_digest(
    start_bot: StartBot, clock: MovedClock, style: str
) -> None:
    bot = await start_bot()
    at = f"digest:{clock.now() + timedelta(hours=9):%H:%M} UTC"
    await bot.publish(f"/mq subscribe merge style:digest {at}", "Subscribed this channel")
    await bot.merge()
    await bot.next_poll()
    is_feed = style == "feed"
    options = "style:feed" if is_feed else f"digest:{in_an_hour(clock)} UTC"
    await bot.publish(f"/mq subscribe {options}", "Subscribed this channel")
    if not is_feed:
        await bot.pass_time(3600)
    await bot.wait_for_post("*Merged* #")


async def test_a_quiet_day_has_no_digest(start_bot: StartBot, clock: MovedClock) -> None:
    bot = await subscribed(start_bot, clock)
    await bot.pass_time(25 * 3600)
    await bot.ask("/mq status")
    assert bot.posts() == []


async def test_a_removed_configured_subscription_gets_no_digest(
    start_bot: StartBot, clock: MovedClock
) -> None:
    at = in_an_hour(clock)
    bot = await start_bot(
        channels=f"acme/site={MERGE_QUEUE}:enter merge digest:{at} UTC;"
        f"acme/site={RELEASES}:enter merge digest:{at} UTC"
    )
    await bot.merge()
    await bot.next_poll()
    await bot.stop_bot()
    bot.channels = f"acme/site={RELEASES}:enter merge digest:{at} UTC"
    await bot.start_bot()

    await bot.pass_time(3600)

    await bot.wait_for_post("Digest", RELEASES)
    await bot.next_poll()
    assert bot.posts() == []


async def test_unsubscribing_drops_the_waiting_digest(
    start_bot: StartBot, clock: MovedClock
) -> None:
    bot = await start_bot()
    await bot.type(f"/mq subscribe enter merge style:digest digest:{in_an_hour(clock)} UTC")
    await bot.wait_for_post("Subscribed this channel")
    await bot.merge()
    await bot.next_poll()
    await bot.publish("/mq unsubscribe", "Unsubscribed this channel")
    posted = len(bot.posts())

    await bot.pass_time(3600)

    await bot.next_poll()
    await bot.next_poll()
    assert len(bot.posts()) == posted
