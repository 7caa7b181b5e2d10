"""The promised metrics change when something happens, and recover."""

from collections.abc import AsyncIterator

import pytest

from tests.support.bot_tester import RELEASES, BotTester
from tests.support.waiting import until_true
from tests.support.watched_bot import WatchedBot

LIMITED_SECONDS = 10


@pytest.fixture
async def watched(sqlite_url: str) -> AsyncIterator[WatchedBot]:
    bot = BotTester(
        sqlite_url, channels=f"acme/site={RELEASES}:enter", environment={"MQBOT_HEALTH_PORT": "0"}
    )
    async with bot:
        yield WatchedBot(bot)


async def reaches(watched: WatchedBot, least: float, name: str, **labels: str) -> None:
    async def is_reached() -> bool:
        found = await watched.value(name, **labels)
        return found is not None and found >= least

    await until_true(is_reached, f"{name} {labels} of {least:g}", 40)


async def is_nought_again(watched: WatchedBot, name: str, **labels: str) -> None:
    async def is_nought() -> bool:
        return await watched.value(name, **labels) == 0

    await until_true(is_nought, f"{name} {labels} of 0", 60)


async def test_posts_held_by_a_rate_limit_show_in_the_outbox(watched: WatchedBot) -> None:
    bot = watched.bot
    bot.expected_refusals.add("chat.postMessage rate_limit")
    bot.break_slack("rate_limit", "chat.postMessage", retry_after=LIMITED_SECONDS)
    number = bot.enqueue()
    await reaches(watched, 1, "mqbot_slack_rate_limit_waits_total")
    await reaches(watched, 1, "mqbot_outbox_deliveries", state="pending")
    await reaches(watched, 1, "mqbot_outbox_oldest_seconds")
    waited = await watched.value("mqbot_slack_rate_limit_wait_seconds_total")
    assert waited == LIMITED_SECONDS
    refused = {"method": "chat.postMessage", "code": "ratelimited"}
    assert await watched.value("mqbot_slack_errors_total", **refused) == 1

    await bot.wait_for_post(f"#{number}", RELEASES, seconds=40)
    await is_nought_again(watched, "mqbot_outbox_deliveries", state="pending")
    await is_nought_again(watched, "mqbot_outbox_oldest_seconds")
    assert await watched.value("mqbot_event_to_post_seconds_count") == 1


async def test_posts_in_doubt_refused_replies_and_errors_of_the_service_are_counted(
    watched: WatchedBot,
) -> None:
    bot = watched.bot
    bot.expected_refusals |= {"chat.postMessage drop_after_accept"}
    bot.expected_refusals |= {"conversations.history internal_error"}
    bot.break_slack("drop_after_accept", "chat.postMessage")
    bot.break_slack("internal_error", "conversations.history", times=1000)
    number = bot.enqueue()
    await reaches(watched, 1, "mqbot_outbox_deliveries", state="in_doubt")
    bot.slack.faults.disarm()
    await is_nought_again(watched, "mqbot_outbox_deliveries", state="in_doubt")
    await bot.wait_for_post(f"#{number}", RELEASES)

    bot.expected_refusals.add("response_url html_500")
    bot.break_slack("html_500", "response_url")
    await bot.type("/mq status")
    await reaches(watched, 1, "mqbot_slack_errors_total", method="response_url", code="http_500")
    # It comes another way.
    assert "acme/site is running" in await bot.wait_for_reply()

    bot.break_service("rate_limit", path="/logs", times=1, retry_after="1")
    await reaches(watched, 1, "mqbot_service_rate_limit_waits_total")
    await reaches(watched, 1, "mqbot_service_rate_limit_wait_seconds_total")
    bot.break_service("error", path="/logs", status=503)
    await reaches(watched, 1, "mqbot_polls_total", outcome="failed")
    for outcome in ("200", "429", "503"):
        asked = {"endpoint": "event_page", "outcome": outcome}
        await reaches(watched, 1, "mqbot_service_requests_total", **asked)
