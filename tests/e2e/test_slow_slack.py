"""Slack is slow to say who somebody is: forms are acknowledged in time all the same."""

import asyncio
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from tests.e2e.conftest import OVER_SOCKET_MODE
from tests.support.bot_tester import BotTester

pytestmark = [pytest.mark.e2e, OVER_SOCKET_MODE]

SLACK_WAITS = 3.0
"""https://docs.slack.dev/interactivity/handling-user-interaction#acknowledgment_response"""


@pytest.mark.parametrize("seconds", [6.0, 20.0, 3600.0])
@pytest.mark.parametrize("has_end", [False, True])
async def test_a_form_is_acknowledged_and_refused_while_nobody_is_verified(
    bot: BotTester, seconds: float, *, has_end: bool
) -> None:
    await bot.type("/mq pause")
    form = await bot.modal("0 queued")
    await bot.pass_time(120)
    bot.break_slack("slow", "users.info", seconds=seconds, times=50)
    begun = asyncio.get_running_loop().time()
    # In her zone, which users.info tells as well.
    soon = datetime.now(ZoneInfo("Europe/London")) + timedelta(hours=2)
    ends = {"end": f"until {soon:%H:%M}"} if has_end else {}
    answer = await bot.submit(form, reason="CI is down", **ends)
    assert asyncio.get_running_loop().time() - begun < SLACK_WAITS
    assert answer["acknowledged"]
    assert answer["response_action"] == "update"
    await bot.modal("Slack didn't confirm")
    assert bot.pause_reason() is None


async def test_a_form_that_takes_a_moment_to_check_is_carried_out_once(bot: BotTester) -> None:
    await bot.type("/mq pause")
    form = await bot.modal("0 queued")
    await bot.pass_time(120)
    bot.break_slack("slow", "users.info", seconds=1.8, times=1)
    answer = await bot.submit(form, reason="CI is down")
    assert answer["response_action"] == "update"
    await bot.wait_for_post("is paused")
    await bot.modal("acme/site is paused")
    paused = [event for event in bot.events() if event.type == "queue.pause.create"]
    assert len(paused) == 1


async def test_a_mistake_that_is_found_late_says_that_nothing_was_changed(bot: BotTester) -> None:
    await bot.type("/mq pause")
    form = await bot.modal("0 queued")
    await bot.pass_time(120)
    bot.break_slack("slow", "users.info", seconds=1.8, times=1)
    await bot.submit(form, reason="\u2800")
    await bot.modal("Please enter a reason. Nothing was changed.")
    assert bot.pause_reason() is None
