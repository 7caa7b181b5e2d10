"""`mqbot web` and `mqbot worker` as processes: together the whole bot, over HTTP."""

import socket
import time
from http import HTTPStatus
from pathlib import Path

import aiohttp

from bot.cli.process import UNAVAILABLE_EXIT
from bot.slack.http import EVENTS_PATH
from tests.support.bot_process import MqbotProcess
from tests.support.bot_tester import MERGE_QUEUE, RELEASES
from tests.support.settings import NOWHERE
from tests.support.several_processes import RunningProcess, SeveralProcesses
from tests.support.slack_requests import command, signed

OVER_HTTP = {
    **NOWHERE,
    "SLACK_APP_TOKEN": "",
    "SLACK_SIGNING_SECRET": "secret",
    "MQBOT_HTTP_PORT": "0",
    "MQBOT_LOG_FORMAT": "json",
}


async def started(command: str, folder: Path, environ: dict[str, str]) -> RunningProcess:
    return RunningProcess(
        command, await MqbotProcess.start(command, folder=folder, environ=environ)
    )


async def status_of(port: int, path: str) -> int:
    url = f"http://127.0.0.1:{port}{path}"
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        return answer.status


async def test_web_replies_and_worker_posts(sqlite_url: str, tmp_path: Path) -> None:
    bot = SeveralProcesses(
        sqlite_url,
        folder=tmp_path,
        webs=1,
        workers=1,
        mode="http",
        channels=f"acme/site={RELEASES}:enter,pause",
        # What a worker needs neither of, and a web process only one of.
        environment={"SLACK_APP_TOKEN": ""},
    )
    async with bot:
        number = bot.enqueue()
        await bot.wait_for_post(f"#{number}", RELEASES)
        await bot.type("/mq pause now CI runners are down")
        await bot.wait_for_post("CI runners are down", MERGE_QUEUE)
        await bot.wait_for_post("CI runners are down", RELEASES)
        (web,) = bot.running("web")
        assert await status_of(web.port, "/healthz") == 200
        assert await status_of(web.port, "/readyz") == 200


async def test_forged_requests_take_no_process_out_of_service(
    sqlite_url: str, tmp_path: Path
) -> None:
    """Even before Slack's first request reaches it."""
    bot = SeveralProcesses(
        sqlite_url,
        folder=tmp_path,
        webs=1,
        workers=1,
        mode="http",
        expected_errors={"signature_refused"},
    )
    body = command("status")
    now = round(time.time())
    async with bot, aiohttp.ClientSession() as stranger:
        new = await bot.begin("web")
        await new.logged("ready")
        port = (await new.logged("http_open"))["port"]
        url = f"http://127.0.0.1:{port}{EVENTS_PATH}"
        for at in (now, now, now - 900):
            forged = signed(body, at, "guessed")
            async with stranger.post(url, data=body, headers=forged) as answer:
                assert answer.status == HTTPStatus.UNAUTHORIZED
        assert await status_of(port, "/readyz") == 200
        assert (await new.logged("signature_refused"))["reason"] == "secret"


async def test_web_is_alive_but_not_ready_while_slack_is_away(tmp_path: Path) -> None:
    """And the port that the platform names accepts outside connections."""
    environ = {**OVER_HTTP, "MQBOT_HTTP_PORT": "", "PORT": "0"}
    web = await started("web", tmp_path, environ)
    opened = await web.logged("http_open")
    assert opened["host"] == "0.0.0.0"
    await web.logged("slack_refused")
    assert await status_of(opened["port"], "/healthz") == 200
    assert await status_of(opened["port"], "/readyz") == 503
    assert await web.process.stop() == 0
    assert "Traceback" not in web.process.complaints


async def test_the_public_port_keeps_the_reasons_of_web_to_itself(tmp_path: Path) -> None:
    """They name settings and what is wrong with the database; the health port has them."""
    web = await started("web", tmp_path, {**OVER_HTTP, "MQBOT_HEALTH_PORT": "0"})
    public = (await web.logged("http_open"))["port"]
    private = (await web.logged("health_open"))["port"]
    await web.logged("slack_refused")
    async with aiohttp.ClientSession() as session:
        async with session.get(f"http://127.0.0.1:{public}/readyz") as answer:
            assert (answer.status, await answer.json()) == (503, {"ready": False})
        async with session.get(f"http://127.0.0.1:{private}/readyz") as answer:
            assert (await answer.json())["problems"]
    assert await web.process.stop() == 0


async def test_web_needs_the_signing_secret_and_a_free_port_but_no_app_token(
    tmp_path: Path,
) -> None:
    web = await started("web", tmp_path, {**OVER_HTTP, "SLACK_SIGNING_SECRET": ""})
    assert await web.process.ends() == 2
    complaints = web.process.complaints
    assert complaints.startswith("mqbot: SLACK_SIGNING_SECRET: is missing. It takes: ")
    assert complaints.count("\n") == 1

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        web = await started("web", tmp_path, {**OVER_HTTP, "MQBOT_HTTP_PORT": str(port)})
        # The process before may be ending: a supervisor tries again.
        assert await web.process.ends() == UNAVAILABLE_EXIT
    said = f"mqbot: MQBOT_HTTP_PORT: can't listen on 127.0.0.1:{port} (Address already in use"
    assert said in web.process.complaints
    assert "Traceback" not in web.process.complaints


async def test_an_address_that_is_not_this_machines_is_a_wrong_host(tmp_path: Path) -> None:
    # A block for documentation: https://www.rfc-editor.org/rfc/rfc5737.
    web = await started("web", tmp_path, {**OVER_HTTP, "MQBOT_HTTP_HOST": "192.0.2.1"})
    assert await web.process.ends() == 2
    assert web.process.complaints.startswith("mqbot: MQBOT_HTTP_HOST: can't listen on 192.0.2.1:")
    assert web.process.complaints.rstrip().endswith("; choose an address of this machine")
