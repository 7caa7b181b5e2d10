"""`mqbot web` and `mqbot worker` as processes: together the whole bot, over HTTP."""

import json
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from typing_extensions import override

from tests.support.bot_process import MqbotProcess
from tests.support.bot_tester import MERGE_QUEUE, RELEASES, BotTester
from tests.support.settings import NOWHERE
from tests.support.waiting import until

OVER_HTTP = {
    **NOWHERE,
    "SLACK_APP_TOKEN": "",
    "SLACK_SIGNING_SECRET": "secret",
    "MQBOT_HTTP_PORT": "0",
    "MQBOT_LOG_FORMAT": "json",
}


async def started(command: str, folder: Path, environ: dict[str, str]) -> MqbotProcess:
    own = folder / command
    own.mkdir(exist_ok=True)
    return await MqbotProcess.start(command, folder=own, environ=environ)


def log_of(process: MqbotProcess) -> list[dict[str, Any]]:
    lines = process.complaints.splitlines()
    return [json.loads(line) for line in lines if line.startswith("{") and line[-1] == "}"]


async def logged(process: MqbotProcess, action: str) -> dict[str, Any]:
    def look() -> dict[str, Any] | None:
        assert process.process.returncode is None, process.complaints
        return next((one for one in log_of(process) if one.get("action") == action), None)

    found = await until(look, f"“{action}” in the log", 40)
    assert found is not None
    return found


async def status_of(url: str) -> int:
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        return answer.status


@dataclass
class TwoProcesses(BotTester):
    """The bot runs as `mqbot web` and `mqbot worker`; everything else is as with BotTester."""

    folder: Path = field(kw_only=True)
    running: list[MqbotProcess] = field(default_factory=list, init=False)
    url: str = field(default="", init=False)

    @override
    async def _open_bot(self) -> None:
        environ = {**self.settings_environment(), "MQBOT_LOG_FORMAT": "json"}
        web = await started("web", self.folder, environ)
        self.running = [web, await started("worker", self.folder, environ)]
        for process in self.running:
            await logged(process, "ready")
        self.url = f"http://127.0.0.1:{(await logged(web, 'http_open'))['port']}"
        await self.give_request_url(f"{self.url}/slack/events")

    @override
    async def stop_bot(self) -> None:
        running, self.running = self.running, []
        for process in running:
            assert await process.stop() == 0, process.complaints
            assert "Traceback" not in process.complaints

    @override
    def logged_actions(self) -> list[str]:
        return [str(one.get("action")) for process in self.running for one in log_of(process)]


@pytest.fixture
async def bot(sqlite_url: str, tmp_path: Path) -> AsyncIterator[TwoProcesses]:
    async with AsyncExitStack() as stack:
        hearing = f"acme/site={RELEASES}:enter,pause"
        tester = TwoProcesses(
            sqlite_url,
            folder=tmp_path,
            mode="http",
            channels=hearing,
            # What a worker needs neither of, and a web process only one of.
            environment={"SLACK_APP_TOKEN": ""},
        )
        yield await stack.enter_async_context(tester)


async def test_web_replies_and_worker_posts(bot: TwoProcesses) -> None:
    number = bot.enqueue()
    await bot.wait_for_post(f"#{number}", RELEASES)
    await bot.type("/mq pause now CI runners are down")
    await bot.wait_for_post("CI runners are down", MERGE_QUEUE)
    await bot.wait_for_post("CI runners are down", RELEASES)
    assert await status_of(f"{bot.url}/healthz") == 200
    assert await status_of(f"{bot.url}/readyz") == 200


async def test_web_is_alive_but_not_ready_while_slack_is_away(tmp_path: Path) -> None:
    process = await started("web", tmp_path, OVER_HTTP)
    url = f"http://127.0.0.1:{(await logged(process, 'http_open'))['port']}"
    await logged(process, "slack_refused")
    assert await status_of(f"{url}/healthz") == 200
    assert await status_of(f"{url}/readyz") == 503
    assert await process.stop() == 0
    assert "Traceback" not in process.complaints


async def test_web_needs_the_signing_secret_and_no_app_token(tmp_path: Path) -> None:
    process = await started("web", tmp_path, {**OVER_HTTP, "SLACK_SIGNING_SECRET": ""})
    assert await process.ends() == 2
    assert process.complaints.startswith("mqbot: SLACK_SIGNING_SECRET: is missing. It takes: ")
    assert process.complaints.count("\n") == 1


async def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        process = await started("web", tmp_path, {**OVER_HTTP, "MQBOT_HTTP_PORT": str(port)})
        assert await process.ends() == 2
    assert f"mqbot: MQBOT_HTTP_PORT: 127.0.0.1:{port} cannot be listened on" in process.complaints
    assert "Traceback" not in process.complaints


async def test_the_platforms_port_accepts_outside_connections(tmp_path: Path) -> None:
    environ = {**OVER_HTTP, "MQBOT_HTTP_PORT": "", "PORT": "0"}
    process = await started("web", tmp_path, environ)
    assert (await logged(process, "http_open"))["host"] == "0.0.0.0"
    assert await process.stop() == 0
