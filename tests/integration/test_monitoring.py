"""Monitoring of a whole bot: its metrics and health, in normal operation and with faults."""

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace

import pytest

from bot.store.engines import sqlite_path
from tests.support.bot_tester import HURRIED, RELEASES, BotTester
from tests.support.clock import MovedClock
from tests.support.waiting import until_true
from tests.support.watched_bot import WatchedBot


@pytest.fixture
def clock() -> MovedClock:
    return MovedClock()


@pytest.fixture
async def watched(sqlite_url: str, clock: MovedClock) -> AsyncIterator[WatchedBot]:
    bot = BotTester(
        sqlite_url,
        channels=f"acme/site={RELEASES}:enter,pause",
        environment={"MQBOT_HEALTH_PORT": "0"},
        clock=clock,
    )
    async with bot:
        yield WatchedBot(bot)


async def test_metrics_cover_operations_and_show_no_secret_and_no_name(watched: WatchedBot) -> None:
    bot = watched.bot
    assert (await watched.get("/healthz"))[0] == 200
    assert await watched.readiness() == (
        200,
        {
            "ready": True,
            "checks": {"database": True, "polls": True, "slack": True, "sockets": True},
            "problems": {},
        },
    )
    number = bot.enqueue()
    await bot.wait_for_post(f"#{number}", RELEASES)
    await bot.ask("/mq status")

    async def reported() -> bool:
        return bool(await watched.value("mqbot_event_to_post_seconds_count"))

    await until_true(reported, "a measured post")
    assert await watched.value("mqbot_slack_ack_seconds_count")
    assert await watched.value("mqbot_poll_lateness_seconds_count")
    assert await watched.value("mqbot_polls_total", outcome="read")
    assert await watched.value("mqbot_repositories_polled") == 1
    assert await watched.value("mqbot_repositories_stale") == 0
    assert await watched.value("mqbot_slack_sockets") == 2
    assert await watched.value("mqbot_slack_sockets_counted") == 2
    assert await watched.value("mqbot_database_up") == 1
    assert await watched.value("mqbot_outbox_deliveries", state="in_doubt") == 0
    assert await watched.value("mqbot_database_bytes")
    assert await watched.value("mqbot_disk_free_bytes")

    _, text = await watched.get("/metrics")
    secrets = [bot.addresses.api_token, bot.addresses.slack_bot_token]
    secrets += [bot.addresses.slack_app_token, bot.addresses.slack_signing_secret]
    for one in (*secrets, "acme", "site", RELEASES, "U0ALICE", bot.addresses.api_url):
        assert one not in text


async def test_unread_event_logs_make_it_not_ready(watched: WatchedBot) -> None:
    watched.bot.break_service("error", path="/logs", status=503)
    await watched.bot.logged("poll_failed")
    # From here on its polls have failed for longer than the limit, however the next one ends.
    await watched.bot.pass_time(60)
    await watched.until_problem("polls")
    assert (await watched.readiness())[0] == 503
    assert await watched.value("mqbot_repositories_stale") == 1
    assert (await watched.get("/healthz"))[0] == 200
    await watched.bot.wait_for_post("can't be read", RELEASES)
    watched.bot.fix_service()
    await watched.bot.pass_time(60)
    await watched.until_ready()
    await watched.bot.wait_for_post("can be read again", RELEASES)


async def test_sockets_without_connection_make_it_not_ready(watched: WatchedBot) -> None:
    bot = watched.bot
    bot.expected_errors.add("socket_deaf")
    bot.expected_refusals.add("apps.connections.open internal_error")
    bot.break_slack("internal_error", "apps.connections.open", times=1000)
    bot.slack.socket_mode.drop_all()
    await watched.until_problem("sockets")
    assert (await watched.problems())["sockets"] == "no connection to Slack"
    assert await watched.value("mqbot_slack_sockets") == 0

    async def reported() -> bool:
        errors = {"method": "apps.connections.open", "code": "internal_error"}
        return bool(await watched.value("mqbot_slack_errors_total", **errors))

    await until_true(reported, "a counted refusal", 40)


@pytest.mark.parametrize("code", ["token_revoked", "account_inactive", "invalid_auth"])
async def test_a_revoked_bot_token_makes_it_not_ready_and_is_named(
    watched: WatchedBot, code: str
) -> None:
    bot = watched.bot
    bot.expected_refusals = {f"chat.postMessage {code}"}
    bot.expected_errors = set(bot.logged_errors()) | {"post_refused", "channel_suspended"}
    bot.break_slack("refuse", "chat.postMessage", code=code, times=1)
    bot.enqueue()
    await watched.until_problem("slack")
    said = (await watched.problems())["slack"]
    assert said.startswith(f"Slack refuses SLACK_BOT_TOKEN ({code})")


async def test_a_revoked_app_level_token_makes_it_not_ready_and_is_named(
    watched: WatchedBot,
) -> None:
    bot = watched.bot
    bot.expected_errors = {"socket_deaf", "socket_needs_operator"}
    bot.expected_refusals = {"apps.connections.open token_revoked"}
    bot.break_slack("refuse", "apps.connections.open", code="token_revoked", times=1000)
    bot.slack.socket_mode.drop_all()

    async def is_named() -> bool:
        return "SLACK_APP_TOKEN (token_revoked)" in (await watched.problems()).get("sockets", "")

    await until_true(is_named, "the setting of the revoked token", 40)


async def test_a_revoked_key_of_the_service_makes_it_not_ready_and_is_named(
    watched: WatchedBot,
) -> None:
    watched.bot.expected_errors.add("key_refused")
    watched.bot.break_service("error", path="/logs", status=401)
    await watched.until_problem("polls")
    assert "refuses MQBOT_API_TOKEN" in (await watched.problems())["polls"]
    watched.bot.fix_service()
    await watched.until_ready()


async def test_an_unavailable_database_makes_it_not_ready(
    watched: WatchedBot, sqlite_url: str
) -> None:
    watched.bot.every = replace(HURRIED, checks=0.2)
    await watched.bot.stop_bot()
    await watched.bot.start_bot()
    other = sqlite3.connect(sqlite_path(sqlite_url), isolation_level=None, check_same_thread=False)
    with closing(other):
        # Somebody else writes and does not end.
        await asyncio.to_thread(other.execute, "BEGIN IMMEDIATE")
        await watched.until_problem("database")
        assert await watched.value("mqbot_database_up") == 0
        assert await watched.value("mqbot_outbox_oldest_seconds") is None
        # Reading needs no lock, and a full disk is when somebody looks.
        assert await watched.value("mqbot_disk_free_bytes")
        assert (await watched.get("/healthz"))[0] == 200
        other.execute("ROLLBACK")
    await watched.until_ready()
    assert await watched.value("mqbot_outbox_oldest_seconds") == 0


async def test_a_start_says_what_its_database_holds(watched: WatchedBot) -> None:
    bot = watched.bot
    await bot.wait_for_post(f"#{bot.enqueue()}", RELEASES)
    await bot.stop_bot()
    await bot.start_bot()
    first, second = (
        record for record in bot.log.records if vars(record).get("action") == "database_found"
    )
    assert first.getMessage() == "a new, empty database"
    assert vars(first)["subscriptions"] == 0
    assert second.getMessage() == "a database in use"
    assert vars(second)["subscriptions"] == 1
    assert vars(second)["repositories_read"] == 1


async def test_web_and_worker_have_a_port_each_and_the_public_one_has_no_metrics(
    sqlite_url: str,
) -> None:
    bot = BotTester(sqlite_url, mode="http", environment={"MQBOT_HEALTH_PORT": "0"})
    async with bot:
        await bot.ask("/mq status")
        web = WatchedBot(bot, opened=0)
        worker = WatchedBot(bot, opened=1)
        assert set((await web.readiness())[1]["checks"]) == {"database", "slack"}
        assert set((await worker.readiness())[1]["checks"]) == {"database", "polls", "slack"}
        assert await web.value("mqbot_slack_ack_seconds_count")
        assert await worker.value("mqbot_slack_ack_seconds_count") == 0

        public = public_port(bot)
        assert (await public.get("/metrics"))[0] == 404
        assert (await public.get("/readyz"))[0] == 200


def public_port(bot: BotTester) -> WatchedBot:
    opened = next(record for record in bot.log.records if vars(record).get("action") == "http_open")
    return WatchedBot(bot, at=vars(opened)["port"])


async def test_many_questions_about_readiness_write_to_the_database_once_a_second(
    sqlite_url: str,
) -> None:
    bot = BotTester(sqlite_url, mode="http")
    written = set()
    async with bot:
        public = public_port(bot)
        began = time.monotonic()
        for _ in range(30):
            assert (await public.get("/readyz"))[0] == 200
            with closing(sqlite3.connect(sqlite_path(sqlite_url))) as database:
                written |= set(database.execute("SELECT written_at FROM write_checks"))
        took = time.monotonic() - began
    assert 1 <= len(written) <= 1 + took
