"""Recurring windows: one freeze, or one pause, for each occurrence."""

from datetime import timedelta
from pathlib import Path

import pytest

from bot.acts.record import Action
from tests.e2e.conftest import OVER_SOCKET_MODE, StartBot
from tests.e2e.test_policies import start
from tests.e2e.test_who_may_act import acts
from tests.support.bot_tester import BOB, MERGE_QUEUE, BotTester
from tests.support.clock import MovedClock

pytestmark = [pytest.mark.e2e, OVER_SOCKET_MODE]

SITE = "acme/site"
HOURS = 3600
PLANNED = "*Pause planned* acme/site: No merges at night"
PAUSED = "*acme/site is paused*"


async def begin(start_bot: StartBot, tmp_path: Path, *, lacks: tuple[str, ...] = ()) -> BotTester:
    """A window of two hours a day that begins between 90 and 91 minutes from now."""
    at = MovedClock().now() + timedelta(minutes=91)
    tables = f"""
    [MQBOT_WINDOW."night"]
    applies_to = "{SITE}"
    starts = "{at.minute} {at.hour} * * *"
    lasts = "2h"
    zone = "UTC"
    reason = "No merges at night"
    """
    channels = f"{SITE}={MERGE_QUEUE}:pause,freeze"
    return await start(start_bot, tmp_path, tables, channels=channels, lacks=lacks)


async def restart(bot: BotTester) -> None:
    await bot.stop_bot()
    await bot.start_bot()


def freezes(bot: BotTester) -> list[str]:
    """The ids of the freezes that the service has."""
    return [freeze.id for freeze in bot.merge_queue.repository(SITE).freezes]


async def held(bot: BotTester) -> list[Action]:
    return [act.action for act in await acts(bot) if act.actor.name == "window night"]


async def test_without_freezes_a_pause_is_announced_begins_and_ends_once_through_restarts(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await begin(start_bot, tmp_path, lacks=("scheduled_freeze",))
    await bot.pass_time(0.75 * HOURS)
    plan = await bot.wait_for_post(PLANNED)
    assert "*By* window night" in plan
    await restart(bot)
    await bot.pass_time(HOURS)
    card = await bot.wait_for_post(PAUSED)
    assert "By window night" in card
    assert "Until 20" in card
    assert bot.pause_reason() == "No merges at night (by window night via mqbot)"
    await restart(bot)
    await bot.pass_time(2 * HOURS)
    assert "By the timer" in await bot.wait_for_post("has resumed*")
    await bot.next_poll()
    await bot.has_posted()
    # The beginning and the end of each act, but for the plan, which is one.
    held_once = [Action.PLAN, *[Action.PAUSE] * 2, *[Action.RESUME] * 2]
    assert await held(bot) == held_once
    assert len(bot.posts()) == 3


async def test_a_skipped_pause_does_not_begin_and_the_second_click_says_who_skipped_it(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await begin(start_bot, tmp_path, lacks=("scheduled_freeze",))
    await bot.pass_time(0.75 * HOURS)
    plan = await bot.wait_for_post(PLANNED)
    await bot.click(plan, "Skip this one")
    assert "acme/site isn't stopped this time" in await bot.wait_for_reply()
    skipped = await bot.wait_for_post("*Skipped this time* acme/site: No merges at night")
    assert "by alice" in skipped
    await bot.click(plan, "Skip this one", by=BOB)
    assert "alice skipped this time of acme/site" in await bot.wait_for_reply(by=BOB)
    await bot.pass_time(HOURS)
    await bot.next_poll()
    assert bot.pause_reason() is None
    assert await held(bot) == [Action.PLAN]


async def test_a_person_who_resumes_is_not_overruled_until_the_next_occurrence(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await begin(start_bot, tmp_path, lacks=("scheduled_freeze",))
    await bot.pass_time(1.75 * HOURS)
    card = await bot.wait_for_post(PAUSED)
    await bot.click(card, "Resume queue", by=BOB)
    await bot.wait_for_post("has resumed*")
    await restart(bot)
    await bot.pass_time(0.5 * HOURS)
    await bot.next_poll()
    assert bot.pause_reason() is None
    await bot.pass_time(23.5 * HOURS)
    await bot.wait_for_post(PAUSED)


async def test_a_freeze_is_planned_once_and_stays_away_when_a_person_skips_it(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await begin(start_bot, tmp_path)
    bot.break_service("drop_after_accept", path="scheduled_freeze", method="POST", times=1)
    await bot.pass_time(0.75 * HOURS)
    card = await bot.wait_for_post("*A freeze of acme/site is planned* · No merges at night")
    assert "By window night" in card
    assert "Skip this one…" in card.labels
    (freeze,) = freezes(bot)
    await restart(bot)
    await bot.pass_time(600)
    await bot.next_poll()
    assert freezes(bot) == [freeze]
    await bot.click(card, "Skip this one…")
    await bot.submit(await bot.modal("Saved with your name"), reason="On call tonight")
    await bot.modal("has ended")
    await bot.pass_time(600)
    await bot.next_poll()
    assert freezes(bot) == []
    assert set(await held(bot)) == {Action.FREEZE}
    await bot.wait_for_post("Planned freeze canceled")
