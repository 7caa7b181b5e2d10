"""`mqbot run` as a process: clean starts and stops, and clear errors when it can't start."""

import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from bot.cli.process import CONFIGURATION_EXIT
from tests.support.bot_process import MqbotProcess, ProcessTester
from tests.support.bot_tester import GENERAL, MERGE_QUEUE
from tests.support.postgres import PostgresServer
from tests.support.settings import NOWHERE
from tests.support.waiting import until

StartProcess = Callable[..., Awaitable[ProcessTester]]

HEARING = f"acme/site={MERGE_QUEUE}:enter,pause"


@pytest.fixture
async def start_process(tmp_path: Path) -> AsyncIterator[StartProcess]:
    """Start `mqbot run` on both local services, with options of BotTester."""
    async with AsyncExitStack() as stack:

        async def start(**options: object) -> ProcessTester:
            url = f"sqlite:///{tmp_path / 'bot.sqlite3'}"
            # The options are ProcessTester's own, which checks them.
            tester = ProcessTester(url, folder=tmp_path, **options)  # type: ignore[arg-type]
            return await stack.enter_async_context(tester)

        yield start


async def refused(folder: Path, environ: dict[str, str], code: int = CONFIGURATION_EXIT) -> str:
    """The complaints of a `mqbot run` that must end with `code` and without a traceback."""
    process = await MqbotProcess.start("run", folder=folder, environ=environ)
    assert await process.ends() == code, process.complaints
    assert "Traceback" not in process.complaints
    assert process.printed == ""
    return process.complaints


@pytest.mark.parametrize("stop_signal", [signal.SIGTERM, signal.SIGINT])
async def test_a_restart_after_a_signal_continues_without_loss_or_repetition(
    start_process: StartProcess, stop_signal: signal.Signals
) -> None:
    bot = await start_process(channels=HEARING, stop_signal=stop_signal)
    before = bot.enqueue()
    await bot.wait_for_post(f"#{before}")
    await bot.stop_bot()
    meanwhile = bot.enqueue()
    bot.merge_queue.pause("acme/site", "Night", by="carol")
    await bot.start_bot()
    await bot.wait_for_post(f"#{meanwhile}")
    card = await bot.wait_for_post("is paused")
    bot.enqueue()
    await bot.wait_for_change(card, " queued")
    assert len(bot.posts()) == 3


async def test_work_in_progress_at_the_signal_is_finished(start_process: StartProcess) -> None:
    bot = await start_process(channels=f"acme/site={GENERAL}:pause")
    bot.break_service("slow", path="/merge-queue/pause", method="PUT", seconds=1.0)
    await bot.type("/mq pause CI runners are down")
    await bot.stop_bot()
    assert bot.pause_reason() == "CI runners are down (by alice via Slack)"
    await bot.start_bot()
    await bot.wait_for_post("*acme/site is paused* · CI runners are down", GENERAL)
    await bot.wait_for_post("*acme/site is paused* · CI runners are down", MERGE_QUEUE)


async def test_a_signal_stops_the_bot_while_slack_is_unreachable(tmp_path: Path) -> None:
    process = await MqbotProcess.start("run", folder=tmp_path, environ=NOWHERE)
    await until(lambda: "Slack cannot be reached" in process.complaints, "a look for Slack")
    assert await process.stop() == 0
    assert "Traceback" not in process.complaints


async def test_every_wrong_variable_is_named_and_no_secret_is_shown(tmp_path: Path) -> None:
    wrong = {
        "MQBOT_API_URL": "https://queue.example/v2",
        "MQBOT_API_TOKEN": "two words",
        "MQBOT_REPOSITORIES": "acme",
        "MQBOT_CHANNELS": "acme/site=general",
        "MQBOT_POLL_SECONDS": "soon",
        "MQBOT_COMMAND": "mq",
        "SLACK_BOT_TOKEN": "xapp-not-a-bot-secret",
        "SLACK_APP_TOKEN": "xoxb-not-an-app-secret",
        "SLACK_API_URL": "slack.com",
        "MQBOT_LOG_LEVEL": "LOUD",
    }
    complaints = await refused(tmp_path, wrong)
    named = {line.split(": ")[1] for line in complaints.splitlines()}
    assert named == set(wrong)
    for options in ((), ("--json",)):
        check = await MqbotProcess.start("check", *options, folder=tmp_path, environ=wrong)
        assert await check.ends() == CONFIGURATION_EXIT
        assert "SLACK_BOT_TOKEN" in check.printed
    for said in (check.printed, check.complaints):
        assert "secret" not in said
        assert "two words" not in said


@pytest.mark.postgres
async def test_an_unmigrated_postgresql_asks_for_mqbot_migrate(
    tmp_path: Path, postgres_server: PostgresServer
) -> None:
    empty = postgres_server.url(postgres_server.create_database())
    environ = {**NOWHERE, "DATABASE_URL": empty}
    complaints = await refused(tmp_path, environ)
    assert complaints.endswith("mqbot: DATABASE_URL: is not migrated; run mqbot migrate\n")
