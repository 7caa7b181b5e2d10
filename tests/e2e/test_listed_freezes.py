"""Freezes that only the service's list shows: made before the bot first read the event log."""

from datetime import timedelta

from bot.merge_queue.offered import BELIEVED_SECONDS
from bot.sandbox.merge_queue.controls import FreezeTerms
from bot.sandbox.merge_queue.faults import Fault
from tests.e2e.conftest import OVER_SOCKET_MODE, StartBot
from tests.support.bot_tester import MERGE_QUEUE, BotTester
from tests.support.waiting import until_true

pytestmark = OVER_SOCKET_MODE

FIRST = "acme/site"
LATER = "acme/api"
ELSEWHERE = "acme/docs"
"""A repository of the service that the bot never asks about."""

HOUR = timedelta(hours=1)


def list_only(bot: BotTester, terms: FreezeTerms) -> str:
    """A freeze of `LATER` of which its log tells nothing; return its id."""
    freeze_id = bot.merge_queue.freeze(ELSEWHERE, terms)
    made = bot.merge_queue.repository(ELSEWHERE).freezes.pop()
    bot.merge_queue.repository(LATER).freezes.append(made)
    return freeze_id


async def started(start_bot: StartBot) -> BotTester:
    """A bot that has never read the log of `LATER`, and isn't running."""
    bot = await start_bot(
        repositories=dict.fromkeys((FIRST, LATER, ELSEWHERE), "quiet"),
        channels=f"{LATER}={MERGE_QUEUE}:freeze",
        environment={"MQBOT_REPOSITORIES": FIRST, "MQBOT_CHANNELS": ""},
        waits_for_begin=False,
    )
    await bot.stop_bot()
    bot.environment = {"MQBOT_REPOSITORIES": f"{FIRST},{LATER}"}
    return bot


async def begun(bot: BotTester) -> None:
    """Start the bot, and wait until it has found its place in the log of `LATER`."""
    await bot.start_bot()

    async def has_begun() -> bool:
        return "hasn't been read" not in await bot.ask(f"/mq why {LATER}")

    await until_true(has_begun, f"a place in the log of {LATER}")


async def calendar_with(bot: BotTester, text: str) -> str:
    """The calendar in the Home tab, which has the text."""
    home = await bot.see_home(text)
    calendar = home.words.partition("*Calendar of freezes*")[2]
    assert text in calendar
    return calendar


async def test_people_see_a_freeze_that_is_older_than_the_log(start_bot: StartBot) -> None:
    bot = await started(start_bot)
    now = bot.clock.now().replace(microsecond=0)
    freeze_id = list_only(bot, FreezeTerms("moving house", now - HOUR, now + 3 * HOUR))
    await begun(bot)
    await calendar_with(bot, "moving house")
    for command in ("status", "freezes", "why"):
        assert "moving house" in await bot.ask(f"/mq {command} {LATER}")
    assert "is frozen" in await bot.ask(f"/mq why {LATER}")

    bot.merge_queue.unfreeze(LATER, freeze_id, "we have moved", by="erin")
    over = await bot.wait_for_post("*Freeze ended* acme/api: we have moved")
    assert "erin" in over
    assert "moving house" not in await calendar_with(bot, "No freeze is in force or planned")


async def test_people_see_such_a_freeze_though_a_gateway_said_that_there_are_none(
    start_bot: StartBot,
) -> None:
    bot = await started(start_bot)
    now = bot.clock.now().replace(microsecond=0)
    list_only(bot, FreezeTerms("moving house", now - HOUR, now + 3 * HOUR))
    fault = Fault("error", path="scheduled_freeze", status=404, times=None)
    bot.merge_queue.faults.arm(fault)
    await begun(bot)
    assert fault.hits
    bot.merge_queue.faults.disarm()
    assert "moving house" not in (await bot.see_home("acme/api")).words

    await bot.pass_time(BELIEVED_SECONDS)

    async def is_in_calendar() -> bool:
        home = await bot.see_home("moving house")
        return "moving house" in home.words.partition("*Calendar of freezes*")[2]

    await until_true(is_in_calendar, "the freeze in the calendar")
    assert "is frozen" in await bot.ask(f"/mq why {LATER}")


async def test_a_planned_freeze_that_is_older_than_the_log_begins_and_ends_like_others(
    start_bot: StartBot,
) -> None:
    bot = await started(start_bot)
    now = bot.clock.now().replace(microsecond=0)
    list_only(bot, FreezeTerms("release week", now + HOUR, now + 2 * HOUR))
    await begun(bot)
    await calendar_with(bot, "release week")

    await bot.pass_time(40 * 60)
    card = await bot.wait_for_post("*A freeze of acme/api is planned* · release week")
    await bot.pass_time(30 * 60)
    await bot.wait_for_change(card, "*acme/api is frozen*")
    await bot.wait_in_thread(card, "Merging is frozen* acme/api")
    await bot.pass_time(60 * 60)
    await bot.wait_for_change(card, "*acme/api was frozen*")
    await bot.wait_in_thread(card, "*Freeze over* acme/api: release week")
    assert len(bot.thread(card)) == 2
    assert len(bot.posts()) == 3


async def test_a_freeze_that_is_older_than_the_log_is_moved_by_somebody(
    start_bot: StartBot,
) -> None:
    bot = await started(start_bot)
    now = bot.clock.now().replace(microsecond=0)
    freeze_id = list_only(bot, FreezeTerms("release week", now + HOUR, now + 2 * HOUR))
    await begun(bot)
    await calendar_with(bot, "release week")
    moved = FreezeTerms("release fortnight", now + 3 * HOUR, now + 5 * HOUR)
    bot.merge_queue.change_freeze(LATER, freeze_id, moved, by="erin")
    await bot.wait_for_post("release fortnight")
    calendar = await calendar_with(bot, "release fortnight")
    assert calendar.count("release fortnight") == 1
    assert "release week" not in calendar
