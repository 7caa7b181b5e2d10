"""A service that needs longer than people like to wait: acts succeed, and people see that."""

import asyncio
from dataclasses import replace

import pytest

from bot.runtime.intervals import Intervals
from tests.e2e.conftest import OVER_SOCKET_MODE, StartBot
from tests.e2e.test_direct_messages import conversation
from tests.e2e.test_mentions import mention
from tests.support.bot_tester import ALICE, HURRIED, BotTester
from tests.support.shown import Shown
from tests.support.waiting import until

pytestmark = [pytest.mark.e2e, OVER_SOCKET_MODE]

STILL = "Still working…"
SLOW = {"acme/site": 6.0, "acme/api": 9.0, "acme/docs": 20.0}


@pytest.fixture
def every() -> Intervals:
    return replace(HURRIED, progress=0.3)


def slow(bot: BotTester, seconds: float = 1.5) -> None:
    bot.break_service("slow", path="/merge-queue/pause", method="PUT", seconds=seconds)


def said(bot: BotTester) -> list[Shown]:
    return [reply for reply in bot.replies() if STILL in reply]


async def wait_until_said(bot: BotTester, times: int = 1) -> list[Shown]:
    return await until(lambda: said(bot) if len(said(bot)) == times else [], STILL)


async def test_acts_wait_for_answers_that_take_long(start_bot: StartBot) -> None:
    bot = await start_bot(
        every=replace(HURRIED, progress=Intervals().progress),
        repositories=dict.fromkeys(SLOW, "quiet"),
        channels="acme/site=C0RELEASE:freeze;acme/api=C0RELEASE:freeze;acme/docs=C0RELEASE:freeze",
    )
    for name, seconds in SLOW.items():
        path = f"/{name}/merge-queue/pause"
        bot.break_service("slow", path=path, method="PUT", seconds=seconds)
    await asyncio.gather(*(bot.type(f"/mq pause {name} deploying") for name in SLOW))
    await wait_until_said(bot, len(SLOW))
    for name in SLOW:
        await bot.wait_for_post(f"*{name} is paused* · deploying")
    assert all(bot.pause_reason(name) for name in SLOW)
    assert len(said(bot)) == len(SLOW)


async def test_a_command_says_once_that_it_takes_a_while(bot: BotTester) -> None:
    slow(bot)
    await bot.type("/mq pause now CI is down")
    await wait_until_said(bot)
    await bot.wait_for_post("*acme/site is paused* · CI is down")
    await bot.has_posted()
    assert len(said(bot)) == 1


async def test_a_question_says_so_too_and_is_answered(bot: BotTester) -> None:
    bot.break_service("slow", path="/merge-queue/status", seconds=1.5, times=None)
    await bot.type("/mq status")
    await wait_until_said(bot)
    await bot.wait_for_reply("*acme/site* is running")


async def test_in_a_form_it_gives_way_to_the_answer(bot: BotTester) -> None:
    await bot.type("/mq pause")
    form = await bot.modal("0 queued")
    slow(bot)
    await bot.submit(form, reason="CI is down")
    await bot.modal(STILL)
    await bot.modal("acme/site is paused.")
    await bot.wait_for_post("*acme/site is paused* · CI is down")


async def test_in_a_direct_message_it_goes_when_the_answer_comes(bot: BotTester) -> None:
    mine = conversation(bot, ALICE)
    bot.break_service("slow", path="/merge-queue/status", seconds=1.5, times=None)
    bot.slack.people.message(ALICE, mine, "status")
    shown = await bot.wait_for_direct_message(STILL)
    await bot.wait_for_direct_message("*acme/site* is running")
    await bot.wait_until_gone(shown)


async def test_a_mention_says_so_to_its_author_alone(bot: BotTester) -> None:
    slow(bot)
    mention(bot, "pause now CI is down")
    await wait_until_said(bot)
    await bot.wait_for_post("*acme/site is paused* · CI is down")


async def test_a_quick_answer_comes_alone(start_bot: StartBot) -> None:
    usual = Intervals().progress
    bot = await start_bot(every=replace(HURRIED, progress=usual))
    assert "*acme/site* is running" in await bot.ask("/mq status")
    await asyncio.sleep(usual + 0.2)
    assert said(bot) == []
