"""Slack's rate limits delay only the channels they concern."""

import pytest

from tests.e2e.conftest import OVER_HTTP, StartBot
from tests.support.bot_tester import ALICE, BOB, MERGE_QUEUE, RELEASES
from tests.support.clock import MovedClock
from tests.support.shown import Shown
from tests.support.waiting import until, until_true

pytestmark = [pytest.mark.e2e, OVER_HTTP]

HEARING = f"acme/site={MERGE_QUEUE}:enter,style:feed;acme/site={RELEASES}:enter,style:feed"
LIMITED = {"chat.postMessage rate_limit"}
HOUR = 3600


async def test_a_rate_limit_in_one_channel_does_not_delay_others(start_bot: StartBot) -> None:
    bot = await start_bot(channels=HEARING)
    bot.expected_refusals = LIMITED
    bot.break_slack("rate_limit", "chat.postMessage", channel=RELEASES, retry_after=300)
    numbers = [bot.enqueue()]
    await bot.wait_for_post(f"#{numbers[0]}")
    await bot.struck("rate_limit")
    numbers.append(bot.enqueue())
    await bot.wait_for_post(f"#{numbers[1]}")
    assert bot.posts(RELEASES, by=BOB) == []


async def test_a_rate_limit_met_with_a_wrong_clock_silences_nobody_later(
    start_bot: StartBot, clock: MovedClock
) -> None:
    clock.advance(HOUR)
    bot = await start_bot(channels=HEARING)
    bot.expected_refusals = LIMITED
    bot.break_slack("rate_limit", "chat.postMessage", channel=RELEASES, retry_after=2)
    bot.break_slack("rate_limit", "chat.postMessage", channel=MERGE_QUEUE, retry_after=2)
    first = bot.enqueue()
    await bot.struck("rate_limit", 2)
    await bot.stop_bot()
    clock.advance(-HOUR)
    await bot.start_bot()

    for channel, by in ((MERGE_QUEUE, "U0ALICE"), (RELEASES, BOB)):
        await bot.wait_for_post(f"#{first}", channel, by=by)


async def test_an_edit_limited_with_a_wrong_clock_is_made_later(
    start_bot: StartBot, clock: MovedClock
) -> None:
    clock.advance(HOUR)
    bot = await start_bot(channels=f"acme/site={MERGE_QUEUE}:pause")
    bot.expected_refusals = {"chat.update rate_limit", "chat.update ratelimited"}
    card = await bot.pause("CI runners are down")
    await bot.wait_for_change(card, "0 queued")
    bot.break_slack("rate_limit", "chat.update", retry_after=8)
    await bot.resume()
    await bot.struck("rate_limit", 1)
    await bot.next_poll()
    await bot.stop_bot()
    clock.advance(-HOUR)
    await bot.start_bot()

    await bot.wait_for_change(card, "*acme/site was paused*")


async def test_every_card_has_its_buttons_in_any_number_of_channels(start_bot: StartBot) -> None:
    bot = await start_bot(rate_limits="all")
    await bot.stop_bot()
    arrangement = bot.slack.arrangement
    app = bot.slack.installation.bot_user_id
    many = [arrangement.add_channel(f"team{n}", [ALICE])["channel"] for n in range(60)]
    for channel in many:
        arrangement.set_member(channel, app, is_member=True)
    bot.channels = ";".join(f"acme/site={one}:pause" for one in many)
    asked_before = len(bot.calls("conversations.info"))
    await bot.start_bot()

    await bot.type("/mq pause CI is down", channel=many[0])

    for channel in many:
        card = await bot.wait_for_post("CI is down", channel)
        assert has_button(card, "Resume queue")
    assert len(bot.calls("conversations.info")) - asked_before < 10


async def test_a_card_gets_its_buttons_once_slack_says_who_reads_the_channel(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(channels=f"acme/site={MERGE_QUEUE}:pause")
    await bot.stop_bot()
    bot.expected_refusals = {"users.conversations rate_limit", "conversations.info rate_limit"}
    bot.break_slack("rate_limit", "users.conversations", retry_after=60)
    bot.break_slack("rate_limit", "conversations.info", retry_after=3)
    await bot.start_bot()
    await bot.struck("rate_limit", 2)
    bot.merge_queue.pause("acme/site", "CI is down", by="carol")
    card = await bot.wait_for_post("CI is down")
    assert not has_button(card, "Resume queue")

    async def has_it() -> bool:
        # When the bot asks again is not seen from here.
        await bot.pass_time(1)
        now = bot.now(card)
        return now is not None and has_button(now, "Resume queue")

    await until_true(has_it, "the button")


async def test_a_channel_that_is_shared_with_others_loses_its_buttons_at_once(
    start_bot: StartBot,
) -> None:
    # One process: what `mqbot web` hears by itself, a worker reads some minutes later.
    bot = await start_bot(channels=f"acme/site={MERGE_QUEUE}:pause", mode="socket")
    bot.merge_queue.pause("acme/site", "CI is down", by="carol")
    card = await bot.wait_for_post("CI is down")
    assert has_button(card, "Resume queue")
    bot.slack.arrangement.change_channel(MERGE_QUEUE, {"is_ext_shared": True})
    await until(lambda: "channel_sharing_changed" in bot.log.actions(), "the event")
    bot.merge_queue.pause("acme/site", "The network is down", by="carol")
    changed = await bot.wait_for_change(card, "The network is down")
    assert not has_button(changed, "Resume queue")


def has_button(shown: Shown, label: str) -> bool:
    return label in shown.labels
