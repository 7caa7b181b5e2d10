"""Defects of the SDK's Socket Mode client that ours doesn't have.

Each test fails on the unmodified client. When one does not any more, the SDK has fixed it: what
`SlackSocket` does about it can go.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Protocol

import pytest
from aiohttp import WSMsgType, web
from pydantic import SecretStr
from slack_sdk.errors import SlackApiError
from slack_sdk.socket_mode.websockets import SocketModeClient
from slack_sdk.web.async_client import AsyncWebClient
from websockets.exceptions import InvalidStatus

from bot.runtime.clock import SystemClock
from bot.slack.socket_mode import SlackSocket
from bot.slack.web_api.clients import LimitedWebClient, open_session
from tests.support.waiting import until

PING_SECONDS = 0.1


class Slack:
    """Hands out tickets, each for one handshake, and does to connections what a test tells it."""

    def __init__(self) -> None:
        self.tickets = 0
        self.used = set[str]()
        self.refusals = 0
        self.sockets: list[web.WebSocketResponse] = []
        self.is_mute = False
        self.api_url = ""

    @property
    def connections(self) -> int:
        return sum(not socket.closed for socket in self.sockets)

    async def start(self) -> web.AppRunner:
        application = web.Application()
        application.router.add_post("/api/apps.connections.open", self._open)
        application.router.add_get("/socket/{ticket}", self._socket)
        runner = web.AppRunner(application, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.api_url = f"http://127.0.0.1:{runner.addresses[0][1]}/api/"
        return runner

    async def _open(self, request: web.Request) -> web.Response:
        self.tickets += 1
        return web.json_response({"ok": True, "url": f"ws://{request.host}/socket/{self.tickets}"})

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        ticket = request.match_info["ticket"]
        if ticket in self.used or self.refusals:
            self.used.add(ticket)
            self.refusals = max(0, self.refusals - 1)
            return web.Response(status=408)
        self.used.add(ticket)
        socket = web.WebSocketResponse(autoping=False)
        await socket.prepare(request)
        self.sockets.append(socket)
        await socket.send_json({"type": "hello", "num_connections": 1})
        async for frame in socket:
            if frame.type is WSMsgType.PING and not self.is_mute:
                await socket.pong(frame.data)
        return socket


class Build(Protocol):
    def __call__(self, web_client: AsyncWebClient) -> SocketModeClient: ...


def ours(web_client: AsyncWebClient) -> SocketModeClient:
    token = SecretStr("xapp-1")
    socket = SlackSocket(token, web_client, SystemClock())
    socket.ping_interval = PING_SECONDS
    return socket


def unmodified(web_client: AsyncWebClient) -> SocketModeClient:
    return SocketModeClient("xapp-1", web_client=web_client, ping_interval=PING_SECONDS)


EITHER = pytest.mark.parametrize(
    "build",
    [ours, pytest.param(unmodified, marks=pytest.mark.xfail(strict=True, raises=AssertionError))],
)


@pytest.fixture
async def slack() -> AsyncIterator[Slack]:
    one = Slack()
    runner = await one.start()
    yield one
    await runner.cleanup()


@pytest.fixture
async def client(slack: Slack, build: Build) -> AsyncIterator[SocketModeClient]:
    async with open_session() as session:
        web = LimitedWebClient(
            session, SystemClock(), token=SecretStr("xoxb-1"), base_url=slack.api_url
        )
        one = build(web)
        yield one
        await one.close()  # type: ignore[no-untyped-call]  # the SDK leaves it untyped


async def connect(client: SocketModeClient) -> bool:
    try:
        await client.connect()  # type: ignore[no-untyped-call]  # the SDK leaves it untyped
    except (InvalidStatus, SlackApiError):
        return False
    return True


@EITHER
async def test_a_ticket_with_a_refused_handshake_is_not_used_again(
    slack: Slack, client: SocketModeClient
) -> None:
    """https://github.com/slackapi/python-slack-sdk/issues/1379."""
    slack.refusals = 1
    assert not await connect(client)
    assert await connect(client)
    assert slack.tickets == 2


@EITHER
@pytest.mark.parametrize("reason", ["link_disabled", "too_many_websockets"])
async def test_a_permanent_error_ends_the_connection(
    slack: Slack, client: SocketModeClient, reason: str
) -> None:
    """https://github.com/slackapi/node-slack-sdk/issues/1654."""
    await connect(client)
    await slack.sockets[0].send_json({"type": "disconnect", "reason": reason})
    await until(lambda: slack.sockets[0].closed, "the connection left")
    # As long as the next one would take.
    await asyncio.sleep(10 * PING_SECONDS)
    assert (slack.tickets, slack.connections) == (1, 0)


@EITHER
async def test_a_connection_without_pongs_is_replaced(
    slack: Slack, client: SocketModeClient
) -> None:
    """https://github.com/slackapi/python-slack-sdk/issues/1110."""
    await connect(client)
    slack.is_mute = True
    await until(lambda: slack.tickets == 2, "a new connection", seconds=4)


@EITHER
async def test_a_broken_connection_is_replaced_before_the_next_check(
    slack: Slack, client: SocketModeClient
) -> None:
    client.ping_interval = 60
    await connect(client)
    await slack.sockets[0].close()
    await until(lambda: slack.tickets == 2, "a new connection", seconds=4)


@EITHER
async def test_requests_over_a_renewed_connection_are_handled(
    slack: Slack, client: SocketModeClient
) -> None:
    heard = list[object]()

    async def listen(_client: object, message: dict[str, object], _raw: str | None) -> None:
        heard.append(message.get("number"))

    client.message_listeners.append(listen)
    await connect(client)
    (before,) = slack.sockets
    await before.send_json({"type": "disconnect", "reason": "refresh_requested"})
    number = 0
    while not before.closed:
        await before.send_json({"type": "events_api", "number": number})
        number += 1
        await asyncio.sleep(0)
    await asyncio.sleep(10 * PING_SECONDS)
    assert heard == list(range(number))
