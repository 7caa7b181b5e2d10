"""While the whole service is away, the log says so, and not once for each request."""

import logging

from bot.merge_queue import silence
from tests.support.bot_tester import BotTester
from tests.support.waiting import until
from tests.support.watched_bot import WatchedBot

REPOSITORIES = 40


def shown(bot: BotTester) -> list[logging.LogRecord]:
    """What an operator sees who didn't ask for more."""
    return [record for record in bot.log.records if record.levelno >= logging.INFO]


def of(bot: BotTester, action: str) -> list[logging.LogRecord]:
    return [record for record in shown(bot) if vars(record).get("action") == action]


async def still_fails(bot: BotTester) -> None:
    """Let requests about each repository fail, and then so much time pass that the log repeats it.

    The record is then the last one of its kind.
    """
    asked = len(bot.merge_queue.requests)
    said = len(of(bot, "service_silent"))
    await until(lambda: len(bot.merge_queue.requests) - asked > REPOSITORIES, "failures of all")
    await bot.pass_time(silence.STILL_SECONDS)
    await until(lambda: len(of(bot, "service_silent")) > said, "a reminder")


async def test_an_outage_is_two_records_and_now_and_then_a_reminder(sqlite_url: str) -> None:
    names = {f"acme/part-{number}": "quiet" for number in range(REPOSITORIES)}
    port = {"MQBOT_HEALTH_PORT": "0"}
    async with BotTester(sqlite_url, repositories=names, channels="", environment=port) as bot:
        before = len(shown(bot))
        bot.break_service("error", status=503, times=None)
        await until(lambda: of(bot, "service_silent"), "the outage")
        await still_fails(bot)
        await still_fails(bot)
        unread = (await WatchedBot(bot).problems())["polls"]
        # On a busy machine the latest request may have ended before its answer came.
        reasons = ("Armed failure", "no answer in time")
        said = [f"the merge queue service doesn't answer ({reason})" for reason in reasons]
        assert unread.endswith(tuple(said))
        assert vars(of(bot, "service_silent")[-1])["failed"] > REPOSITORIES
        bot.fix_service()
        await until(lambda: of(bot, "service_answers"), "the end of the outage", 60)

        begun = of(bot, "service_silent")[0]
        assert vars(begun)["failed"] == silence.FAILURES_IN_A_ROW
        # The first ones aren't known to be an outage yet.
        others = len(shown(bot)) - before - len(of(bot, "service_silent"))
        assert others <= 3 * silence.FAILURES_IN_A_ROW


async def test_a_service_that_asks_everybody_to_wait_is_two_records(sqlite_url: str) -> None:
    names = {f"acme/part-{number}": "quiet" for number in range(REPOSITORIES)}
    async with BotTester(sqlite_url, repositories=names, channels="") as bot:
        before = len(shown(bot))
        bot.break_service("rate_limit", times=None, retry_after="1")
        await until(lambda: of(bot, "service_limited"), "the limit")
        asked = len(bot.merge_queue.requests)
        await until(lambda: len(bot.merge_queue.requests) - asked > REPOSITORIES, "waits of all")
        bot.fix_service()
        asked = len(bot.merge_queue.requests)
        await until(lambda: len(bot.merge_queue.requests) - asked > REPOSITORIES, "polls of all")
        said = [vars(record)["action"] for record in shown(bot)[before:]]
        await bot.pass_time(silence.UNLIMITED_SECONDS)
        await until(lambda: of(bot, "service_unlimited"), "the end of the limit", 60)

        # Between the moves of the two clocks an event may seem stamped ahead.
        assert [action for action in said if action != "wrong_time"] == ["service_limited"]
        # What was on its way when the time passed may have met its deadline.
        assert len(of(bot, "service_limited")) == len(of(bot, "service_unlimited")) == 1
