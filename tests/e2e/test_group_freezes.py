"""A group's freeze: one card in each channel, from its first minute to its end."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from bot.sandbox.merge_queue.controls import FreezeTerms
from bot.sandbox.merge_queue.simulation.moments import to_datetime
from tests.e2e.conftest import NAMES, OVER_SOCKET_MODE, TWO_GROUPS, StartBot
from tests.e2e.test_freezes_by_people import frozen
from tests.e2e.test_mentions import mention
from tests.support.bot_tester import BOB, GENERAL, MERGE_QUEUE, RELEASES, BotTester
from tests.support.shown import Shown

pytestmark = [pytest.mark.e2e, OVER_SOCKET_MODE]

IN_GROUP = NAMES[:2]
HOUR = 60 * 60.0


@pytest.fixture
async def bot(start_bot: StartBot) -> BotTester:
    """One channel follows both queues of the group, another one of them."""
    followed = [f"{name}={RELEASES}:freeze" for name in IN_GROUP]
    return await start_bot(
        repositories=dict.fromkeys(NAMES, "quiet"),
        channels=";".join([*followed, f"acme/api={GENERAL}:freeze"]),
        environment=TWO_GROUPS,
    )


async def freeze_group(bot: BotTester, asked: str = "2h cutting 4.2") -> tuple[Shown, Shown]:
    """The card where it was typed, and in the channel that follows the group's queues."""
    card = await bot.publish(f"/mq freeze now @release {asked}", "*2 frozen:*")
    beside = await bot.wait_for_post("@release: 2 of 2 queues frozen", RELEASES)
    await log_is_read(bot, "scheduled_freeze.create")
    return card, beside


async def log_is_read(bot: BotTester, event_type: str) -> None:
    for name in IN_GROUP:
        await bot.happens(event_type, repository=name)
        await bot.next_poll(name)
    await bot.has_posted()


def counts(bot: BotTester) -> list[int]:
    return [len(bot.posts(channel)) for channel in (MERGE_QUEUE, RELEASES, GENERAL)]


async def test_each_channel_gets_one_card_of_a_groups_freeze(bot: BotTester) -> None:
    card, _ = await freeze_group(bot)

    assert card.words.startswith(
        ":snowflake: *@release: 2 of 2 queues frozen* · cutting 4.2\n*By* alice · *Since* "
    )
    assert "*Until* " in card
    assert "*2 frozen:* acme/site, acme/api" in card
    assert "Checks continue" in card
    assert card.labels == ["End now…", "Show freezes"]
    alone = await bot.wait_for_post("*acme/api is frozen* · cutting 4.2", GENERAL)
    assert alone.labels == ["End now…", "Extend…"]
    assert counts(bot) == [1, 1, 1]


async def test_the_card_of_a_groups_freeze_follows_each_queue_until_the_last_one_ends(
    bot: BotTester,
) -> None:
    card, beside = await freeze_group(bot)

    await bot.type("/mq unfreeze acme/site hotfix", by=BOB)
    ended = await bot.wait_in_thread(beside, "*Freeze ended* acme/site: hotfix")
    assert "by bob" in ended
    await bot.wait_in_thread(card, "*Freeze ended* acme/site: hotfix")
    card = await bot.wait_for_change(card, "*@release: 1 of 2 queues still frozen*")
    assert "*1 still frozen:* acme/api" in card
    assert "*1 unfrozen:* acme/site by bob" in card

    api = frozen(bot, "acme/api")[0]
    longer = to_datetime(api.end or api.start) + timedelta(hours=1)
    changed = FreezeTerms(api.reason, to_datetime(api.start), longer)
    bot.merge_queue.change_freeze("acme/api", api.id, changed, by="dave")
    await bot.wait_in_thread(card, "*Freeze changed*")
    await bot.wait_for_change(card, f"*Until* {longer:%Y-%m-%d %H:%M} UTC")

    bot.merge_queue.unfreeze("acme/api", api.id, "shipped", by="erin")
    await bot.wait_in_thread(card, "*Freeze ended* acme/api: shipped")
    over = await bot.wait_for_change(card, "*@release was frozen* · cutting 4.2")
    assert "*2 unfrozen:* acme/site by bob, acme/api by erin" in over
    assert over.labels == []
    await bot.wait_for_change(beside, "*@release was frozen*")
    await bot.has_posted()
    # The two ends and the change are replies that also show in the channel.
    assert counts(bot) == [4, 4, 3]
    assert len(bot.replies(by=BOB)) == 1


async def test_the_end_of_a_groups_freeze_is_one_post_in_the_thread_of_its_card(
    bot: BotTester,
) -> None:
    card, beside = await freeze_group(bot)

    await bot.click(card, "End now…", by=BOB)
    await bot.submit(await bot.modal("Saved with your name", by=BOB), reason="4.2 is out", by=BOB)

    for each in (card, beside):
        ended = await bot.wait_in_thread(each, "@release: 2 of 2 queues unfrozen")
        assert "4.2 is out" in ended
        await bot.wait_for_change(each, "*2 unfrozen:* acme/site by bob, acme/api by bob")
    await log_is_read(bot, "scheduled_freeze.delete")
    await bot.wait_for_post("*Freeze ended* acme/api", GENERAL)
    assert frozen(bot) == frozen(bot, "acme/api") == []
    assert counts(bot) == [2, 2, 2]
    assert len(bot.thread(card)) == len(bot.thread(beside)) == 1


async def test_a_groups_freeze_ends_by_its_own_time_with_one_post(bot: BotTester) -> None:
    card, beside = await freeze_group(bot)
    bot.stand_still()

    await bot.pass_time(2 * HOUR)

    for each in (card, beside):
        over = await bot.wait_in_thread(each, "*Freeze over* @release: cutting 4.2")
        assert "2 queues: acme/site, acme/api" in over
        record = await bot.wait_for_change(each, "*@release was frozen*")
        assert re.search(r"\*Lasted\* (2 h|1 h 59 min)", record.words)
    await bot.wait_for_post("*Freeze over* acme/api: cutting 4.2", GENERAL)
    await bot.has_posted()
    assert counts(bot) == [2, 2, 2]


async def test_a_groups_freeze_that_is_planned_is_announced_and_begins_with_one_post(
    bot: BotTester,
) -> None:
    start = datetime.now(UTC) + timedelta(hours=1)
    end = start + timedelta(hours=2)
    times = f"from {start:%H:%M} UTC until {end:%H:%M} UTC"
    card = await bot.publish(
        f"/mq freeze now @release {times} branch:main cutting 4.2",
        "*@release: a freeze of 2 of 2 queues is planned* · cutting 4.2",
    )
    beside = await bot.wait_for_post("a freeze of 2 of 2 queues is planned", RELEASES)
    assert "*2 planned:* acme/site, acme/api" in card
    await log_is_read(bot, "scheduled_freeze.create")
    await bot.wait_for_change(card, "*Only* branch main")
    bot.stand_still()

    await bot.pass_time(40 * 60)
    for each in (card, beside):
        soon = await bot.wait_in_thread(each, "*Freeze starts ")
        assert "@release: cutting 4.2" in soon
    await bot.pass_time(20 * 60)
    for each in (card, beside):
        begun = await bot.wait_in_thread(each, "*Merging is frozen* @release: cutting 4.2")
        assert "2 queues: acme/site, acme/api" in begun
        await bot.wait_for_change(each, "*@release: 2 of 2 queues frozen*")
    await bot.wait_for_post("*Merging is frozen* acme/api", GENERAL)
    await bot.has_posted()
    assert counts(bot) == [3, 3, 3]


async def test_the_card_of_a_groups_freeze_names_what_failed_and_what_was_frozen_before(
    bot: BotTester,
) -> None:
    bot.break_service("error", path="acme/api/scheduled_freeze", method="POST", status=403)
    bot.merge_queue.freeze("acme/docs", FreezeTerms("made elsewhere"))
    await bot.next_poll("acme/docs")
    card = await bot.publish("/mq freeze now all 2h cutting 4.2", "1 of 3 queues frozen")
    assert "*1 frozen:* acme/site" in card
    assert "*1 already frozen:* acme/docs by carol" in card
    assert "*1 failed:*" in card
    assert card.labels == ["End now…", "Show freezes", "Retry the rest"]

    bot.fix_service()
    await bot.click(card, "Retry the rest", by=BOB)
    rest = await bot.wait_for_post("all: 1 of 1 queue frozen")
    assert "*1 frozen:* acme/api" in rest
    await log_is_read(bot, "scheduled_freeze.create")
    await bot.wait_for_post("*acme/api is frozen*", GENERAL)
    assert counts(bot) == [2, 2, 1]

    await bot.type("/mq unfreeze all 4.2 is out")
    await bot.wait_for_post("all: 2 of 3 queues unfrozen")
    await bot.wait_for_change(card, "*All queues were frozen*")
    await bot.wait_for_change(rest, "*All queues were frozen*")
    await bot.wait_for_post("all: 2 of 3 queues unfrozen", RELEASES)
    await bot.wait_for_post("*Freeze ended* acme/api: 4.2 is out", GENERAL)
    await bot.has_posted()
    assert counts(bot) == [3, 3, 2]


async def test_a_channel_whose_freeze_of_the_group_is_over_hears_nothing_of_the_next_one(
    three: BotTester,
) -> None:
    earlier = await three.publish(
        "/mq freeze now @release 1h audit", "*2 frozen:*", channel=GENERAL
    )
    await log_is_read(three, "scheduled_freeze.create")
    await three.pass_time(HOUR)
    await three.wait_for_change(earlier, "*@release was frozen*")
    await three.wait_in_thread(earlier, "*Freeze over* @release: audit")

    card = await three.publish("/mq freeze now @release 2h cutting 4.2", "*2 frozen:*")
    await three.type("/mq unfreeze @release 4.2 is out")
    await three.wait_in_thread(card, "@release: 2 of 2 queues unfrozen")
    await three.wait_for_change(card, "*@release was frozen*")
    await three.has_posted()
    assert counts(three) == [2, 0, 2]


async def test_in_the_thread_of_a_groups_freeze_its_end_means_the_group(three: BotTester) -> None:
    card = await three.publish("/mq freeze now @release 2h cutting 4.2", "*2 frozen:*")
    await three.publish("/mq default acme/docs", "Default repository")
    docs = three.merge_queue.freeze("acme/docs", FreezeTerms("made elsewhere"))
    await three.has_posted()
    mention(three, "unfreeze 4.2 is out", beneath=card)
    await three.wait_in_thread(card, "@release: 2 of 2 queues unfrozen")
    await three.wait_for_change(card, "*@release was frozen*")
    assert [freeze.id for freeze in frozen(three, "acme/docs")] == [docs]
    await three.stop_bot()
    for channel in (MERGE_QUEUE, RELEASES):
        three.posts(channel)
