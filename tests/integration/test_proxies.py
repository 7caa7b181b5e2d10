"""Connections to Slack when the environment names a proxy."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web
from aiohttp.web_request import BaseRequest
from pydantic import SecretStr

from bot.blocks.message import Message
from bot.kernel.errors import ConfigurationError
from bot.kernel.proxies import proxy_towards
from bot.merge_queue.http import Http
from bot.runtime.clock import SystemClock
from bot.slack.conversation import Replies
from bot.slack.socket_mode import SlackSocket
from bot.slack.web_api.clients import LimitedWebClient, open_session
from tests.support.clock import FakeClock
from tests.support.directories import FakeChannels
from tests.support.slack_client import client_in, workspace

NOBODY = "http://127.0.0.1:9"
API = "http://slack.example/api/"
TOKEN = SecretStr("xoxb-1")


@asynccontextmanager
async def proxy(asked: list[str]) -> AsyncIterator[str]:
    """Answers for whoever is asked for, and keeps who that was."""

    async def answer(request: BaseRequest) -> web.Response:
        asked.append(f"{request.method} {request.url}")
        return web.json_response({"ok": True})

    runner = web.ServerRunner(web.Server(answer))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def test_calls_and_replies_go_through_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    async with proxy(asked) as address:
        monkeypatch.setenv("HTTPS_PROXY", address)
        async with open_session(proxy_towards(API)) as session:
            client = LimitedWebClient(session, SystemClock(), token=TOKEN, base_url=API)
            await client.auth_test()
            url = "http://slack.example/response/1"
            await Replies(client, session, FakeChannels(), FakeClock()).send(
                url, Message("Paused.")
            )
    assert asked == [f"POST {API}auth.test", f"POST {url}"]


async def test_a_local_slack_is_reached_without_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, NOBODY)
    async with workspace() as sandbox, open_session(proxy_towards(sandbox.api_url)) as session:
        client = client_in(session, sandbox)
        assert (await client.auth_test())["ok"]
        connection = SlackSocket(SecretStr(sandbox.app_token), client, SystemClock())
        await connection.connect()
        await connection.close()


@pytest.mark.parametrize(
    ("environment", "proxy"),
    [
        ({}, None),
        ({"HTTPS_PROXY": NOBODY}, NOBODY),
        ({"HTTP_PROXY": NOBODY}, NOBODY),
        ({"HTTPS_PROXY": NOBODY, "HTTP_PROXY": "http://127.0.0.1:7"}, NOBODY),
        ({"HTTPS_PROXY": ""}, None),
        ({"HTTPS_PROXY": "proxy.example:3128"}, "http://proxy.example:3128"),
        ({"HTTPS_PROXY": NOBODY, "NO_PROXY": "slack.com"}, None),
        ({"HTTPS_PROXY": NOBODY, "NO_PROXY": "other.example"}, NOBODY),
    ],
)
def test_the_environment_can_set_the_proxy(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], proxy: str | None
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert proxy_towards("https://slack.com/api/") == proxy


@pytest.mark.parametrize("address", ["socks5://proxy.example:1080", "http://a:b:c", "http://"])
async def test_an_unusable_proxy_is_a_wrong_setting_in_both_modes(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", address)
    with pytest.raises(ConfigurationError, match="HTTPS_PROXY: names no proxy"):
        proxy_towards("https://slack.com/api/")
    with pytest.raises(ConfigurationError, match="HTTPS_PROXY: names no proxy"):
        Http(base_url="https://queue.example/v1", token=SecretStr("t"), clock=SystemClock())
