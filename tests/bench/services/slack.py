"""A minimal Slack: it sends commands and receives answers."""

import asyncio
import itertools
import json
import time
from collections import Counter
from typing import Any

from aiohttp import web
from typing_extensions import override

from tests.bench.services import Service

Json = dict[str, Any]

TEAM = "T0ACME"
USER = "U0ALICE"
BOT = "U0MQBOT"


_ALICE = {
    "id": USER,
    "team_id": TEAM,
    "name": "alice",
    "tz": "UTC",
    "is_restricted": False,
    "is_ultra_restricted": False,
}


class SlackService(Service):
    """The Web API, sockets, addresses to answer to."""

    def __init__(self) -> None:
        super().__init__(
            web.route("*", "/api/{method}", self._on_call),
            web.post("/response/{id}", self._on_response),
            web.get("/socket", self._on_socket),
        )
        self.sockets: list[web.WebSocketResponse] = []
        self.calls: Counter[str] = Counter()
        self.posted: asyncio.Queue[tuple[float, Json]] = asyncio.Queue()
        """The time and text of each chat.postMessage."""
        self.answers: list[str] = []
        """The texts of replies to people, in order of arrival."""
        self._numbers = itertools.count(1)
        self._acknowledged: dict[str, asyncio.Future[float]] = {}
        self._answered: dict[str, asyncio.Future[float]] = {}
        self.first_socket: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        """When the first one was open."""

    @override
    async def __aexit__(self, *raised: object) -> None:
        for socket in self.sockets:
            await socket.close()
        await super().__aexit__(*raised)

    @property
    def api_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/api/"

    def command(self, text: str) -> tuple[Json, "asyncio.Future[float]"]:
        """A payload, and a future with the time of its first visible answer."""
        number = next(self._numbers)
        identity = f"{number}.bench"
        answered = asyncio.get_running_loop().create_future()
        self._answered[identity] = answered
        body = {
            "token": "verification",
            "command": "/mq",
            "text": text,
            "team_id": TEAM,
            # Many people: the bot limits the rate of each.
            "user_id": f"{USER}{number % 200}",
            "user_name": "alice",
            "channel_id": "C0MERGEQ",
            "channel_name": "merge-queue",
            "api_app_id": "A0MQBOT",
            "trigger_id": identity,
            "response_url": f"http://127.0.0.1:{self.port}/response/{identity}",
        }
        return body, answered

    async def send(self, body: Json) -> float:
        """Over a socket; wait for the acknowledgement and return how many seconds it took."""
        identity = str(body["trigger_id"])
        acknowledged = asyncio.get_running_loop().create_future()
        self._acknowledged[identity] = acknowledged
        frame = {
            "envelope_id": identity,
            "type": "slash_commands",
            "accepts_response_payload": True,
            "payload": body,
        }
        sent_at = time.perf_counter()
        await self.sockets[-1].send_json(frame)
        at: float = await acknowledged
        return at - sent_at

    async def _on_call(self, request: web.Request) -> web.Response:
        at = time.perf_counter()
        method = request.match_info["method"]
        self.calls[method] += 1
        if method == "chat.postMessage":
            self.posted.put_nowait((at, await _body(request)))
            return web.json_response(
                {"ok": True, "channel": "C0MERGEQ", "ts": f"{1000 + self.calls[method]}.000100"}
            )
        return web.json_response({"ok": True, **self._answer(method)})

    def _answer(self, method: str) -> Json:
        match method:
            case "auth.test":
                return {
                    "team_id": TEAM,
                    "user_id": BOT,
                    "bot_id": "B0MQBOT",
                    "user": "mqbot",
                    "team": "Acme",
                }
            case "apps.connections.open":
                return {"url": f"ws://127.0.0.1:{self.port}/socket"}
            case "users.info":
                return {"user": _ALICE}
            case "conversations.info":
                return {"channel": {"id": "C0MERGEQ", "is_member": True, "is_channel": True}}
            case _:
                return {}

    async def _on_response(self, request: web.Request) -> web.Response:
        answered = self._answered.pop(request.match_info["id"], None)
        if answered is not None and not answered.done():
            at = time.perf_counter()
            self.answers.append(str((await request.json()).get("text")))
            answered.set_result(at)
        return web.json_response({"ok": True})

    async def _on_socket(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_json({"type": "hello", "num_connections": len(self.sockets) + 1})
        self.sockets.append(socket)
        if not self.first_socket.done():
            self.first_socket.set_result(time.perf_counter())
        async for message in socket:
            acknowledged = self._acknowledged.pop(_envelope(message.data), None)
            if acknowledged is not None:
                acknowledged.set_result(time.perf_counter())
        self.sockets.remove(socket)
        return socket


def _envelope(text: str) -> str:
    return str(json.loads(text).get("envelope_id"))


async def _body(request: web.Request) -> Json:
    if request.content_type == "application/json":
        found: Json = await request.json()
        return found
    return dict(await request.post())
