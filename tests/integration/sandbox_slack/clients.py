"""A manifest, a real Bolt app and other shared parts of the tests of the local workspace."""

from collections.abc import Callable
from typing import Any

import aiohttp
from slack_bolt.adapter.socket_mode.websockets import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.sandbox.slack.server import SlackSandbox
from tests.support.block_kit import Json, actions, button, modal, reason_input
from tests.support.waiting import until
from tests.support.workspace_manifest import SCOPES, make_manifest

PATIENT_SECONDS = 600.0
"""How long the workspace waits where an acknowledgement is sure to come, on however busy a machine.

Longer than a test waits for anything: what ends before was acknowledged, not given up.
"""

IMPATIENT_SECONDS = 0.3
"""How long it waits where no acknowledgement comes in time."""

MANIFEST = make_manifest(
    scopes=(*SCOPES, "app_mentions:read", "chat:write.public"),
    events=("app_home_opened", "app_mention", "message.channels"),
    app_home={"home_tab_enabled": True, "messages_tab_enabled": True},
    slash_commands=[
        {"command": "/mq", "description": "Merge queue", "should_escape": True},
        {"command": "/raw", "description": "Unescaped", "should_escape": False},
    ],
    shortcuts=[
        {"name": "Pause", "type": "global", "callback_id": "pause", "description": "Pause"},
        {"name": "Ask", "type": "message", "callback_id": "ask", "description": "Ask"},
    ],
)
ACTIONS = actions(button(value="v1"), block_id="row")
MODAL = modal(reason_input(max_length=20), callback_id="reason", notify_on_close=True)
CHANNEL = "C0MERGEQ"
ALICE = "U0ALICE"


async def eventually(condition: Callable[[], object]) -> None:
    """Wait until the condition holds; fail when it does not before long."""
    await until(condition, "what the test waits for")


def be_patient(sandbox: SlackSandbox) -> None:
    """From the next payload on, wait for an acknowledgement as long as this machine needs."""
    sandbox.terms.ack_seconds = PATIENT_SECONDS


class BoltApp:
    """A real Bolt app, connected over Socket Mode, that remembers what it was sent."""

    def __init__(self, sandbox: SlackSandbox) -> None:
        self.sandbox = sandbox
        client = AsyncWebClient(
            token=sandbox.bot_token, base_url=sandbox.api_url, retry_handlers=[]
        )
        self.app = AsyncApp(client=client)
        self.received: list[Any] = []
        self.handlers: list[AsyncSocketModeHandler] = []

    def acknowledge(self, *answer: object, command: str = "/mq", **more: object) -> None:
        """Have the app keep each such command, and acknowledge it with this answer."""

        @self.app.command(command)
        async def listener(ack: Any, body: Json) -> None:
            self.received.append(body)
            await ack(*answer, **more)

    async def post(self, *blocks: Json, text: str = "Look") -> Json:
        """Post a message, and give what a click in it comes from."""
        posted = await self.app.client.chat_postMessage(
            channel=CHANNEL, text=text, blocks=list(blocks)
        )
        return {"type": "message", "channel": CHANNEL, "ts": posted["ts"]}

    async def connect(self) -> AsyncSocketModeHandler:
        handler = AsyncSocketModeHandler(self.app, self.sandbox.app_token)
        self.handlers.append(handler)
        await handler.connect_async()  # type: ignore[no-untyped-call]  # Bolt's own
        await eventually(lambda: self.sandbox.socket_mode.connections >= len(self.handlers))
        return handler

    async def close(self) -> None:
        for handler in self.handlers:
            await handler.close_async()  # type: ignore[no-untyped-call]  # Bolt's own


def seen(sandbox: SlackSandbox, user: str = ALICE, channel: str = CHANNEL) -> list[Json]:
    messages: list[Json] = sandbox.sight.messages(user, channel)["messages"]
    return messages


def texts(sandbox: SlackSandbox, user: str = ALICE, channel: str = CHANNEL) -> list[str]:
    return [each["text"] for each in seen(sandbox, user, channel)]


class Control:
    """The control API, as the page uses it."""

    def __init__(self, sandbox: SlackSandbox, http: aiohttp.ClientSession) -> None:
        self.address = f"{sandbox.url}control/"
        self._http = http

    async def get(self, path: str, **params: str) -> Json:
        async with self._http.get(f"{self.address}{path}", params=params) as answer:
            found: Json = await answer.json()
        return found

    async def post(self, path: str, **body: object) -> Json:
        async with self._http.post(f"{self.address}{path}", json=body) as answer:
            found: Json = await answer.json()
        return found


async def open_socket(
    http: aiohttp.ClientSession, sandbox: SlackSandbox, *, autoping: bool = True
) -> aiohttp.ClientWebSocketResponse:
    headers = {"Authorization": f"Bearer {sandbox.app_token}"}
    async with http.post(f"{sandbox.api_url}apps.connections.open", headers=headers) as answer:
        address = (await answer.json())["url"]
    return await http.ws_connect(address, autoping=autoping)
