"""Socket Mode: keeps two connections to Slack open, and reports their state."""

import asyncio
import json
import logging
from collections.abc import Callable, Coroutine
from contextlib import suppress
from secrets import SystemRandom
from typing import Any

import websockets
from pydantic import SecretStr
from slack_bolt.adapter.socket_mode.websockets import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.socket_mode.websockets import SocketModeClient
from slack_sdk.web.async_client import AsyncWebClient
from typing_extensions import override
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed
from websockets.protocol import State

from bot.kernel.clock import Clock
from bot.kernel.pacing import retry_delay
from bot.kernel.proxies import proxy_towards
from bot.slack.errors import CREDENTIAL_CODES
from bot.slack.web_api.clients import TokenRefused
from bot.slack.web_api.failures import Failure, field_of, read_failure

logger = logging.getLogger(__name__)

CONNECTIONS = 2
"""Slack sends each payload over one of them; the second serves while the first is renewed."""

DEAF_ATTEMPTS = 3
"""After so many failed attempts without any connection, an error is logged."""

PING_SECONDS = 10.0
CLOSE_SECONDS = 2.0
LAST_ACKNOWLEDGEMENTS_SECONDS = 3.0
"""Slack waits no longer for an acknowledgement."""

DOUBLED_MOST = 6
"""So many failures in a row lengthen the wait, to half a minute."""

SLOW_SECONDS = 300.0
NOT_TRIED = "not_tried"
CLOSED = "closed"
STILL_USABLE = frozenset({"warning", "refresh_requested"})
"""Reasons to disconnect after which the connection works until its successor is open."""

OPERATOR_FIXES = {
    "link_disabled": "switch Socket Mode on in the app's settings (Socket Mode)",
    "too_many_websockets": (
        "stop other programs that use this app's app-level token; Slack allows ten connections"
    ),
    **dict.fromkeys(
        CREDENTIAL_CODES,
        "make an app-level token with the scope connections:write in the app's settings "
        "(Basic Information) and set SLACK_APP_TOKEN",
    ),
}
"""Problems that retrying doesn't fix, with their fix."""

DRAWN = SystemRandom().random

Changed = Callable[[object], None]
"""Takes the number of the app's connections that Slack counts, None after a failure."""


class SlackSocket(SocketModeClient):
    """The SDK's client without three of its defects.

    If the SDK fixes one, a test in `tests/integration/test_slack_sdk.py` fails.

    - Each attempt takes a new ticket; the SDK reuses one whose handshake was refused
      (https://github.com/slackapi/python-slack-sdk/issues/1379).
    - The reason of a disconnect decides what follows; the SDK always reconnects immediately, even
      if Socket Mode is off (https://github.com/slackapi/node-slack-sdk/issues/1654).
    - A silent connection is replaced within thirty seconds, a closed one immediately, and one that
      Slack renews is read to its end
      (https://github.com/slackapi/python-slack-sdk/issues/1110).
    """

    def __init__(
        self,
        app_token: SecretStr,
        web_client: AsyncWebClient,
        clock: Clock,
        changed: Changed = lambda _count: None,
        *,
        jitter: Callable[[], float] = DRAWN,
        ping_seconds: float = PING_SECONDS,
    ) -> None:
        super().__init__(
            app_token.get_secret_value(),
            logger=logging.getLogger("slack_sdk"),
            web_client=web_client,
            ping_interval=ping_seconds,
        )
        self._clock = clock
        self._changed = changed
        self._jitter = jitter
        self.failed = 0
        """Failures since a connection lasted."""
        self.problem: str | None = NOT_TRIED
        """Slack's or our code if there is no connection; None after a hello."""
        self._opened_at = 0.0
        self._is_dialing = False
        self._has_connected = asyncio.Event()
        self._greeted: ClientConnection | None = None
        self._renewal: asyncio.Task[None] | None = None
        self._reading: set[asyncio.Task[None]] = set()
        self._under_way: set[asyncio.Task[None]] = set()

    @property
    def is_usable(self) -> bool:
        """Whether requests reach us over it."""
        return self._greeted is not None and self._greeted.state is State.OPEN

    @property
    def alive(self) -> int:
        """How many connections Slack may count: the current one, and those it replaces."""
        return len(self._reading) + self._is_dialing

    @override
    async def connect(self) -> None:
        """Open a connection with a new ticket, then close the one that it replaces.

        Slack sends over either, so both are read until they close.
        """
        answer = await self.web_client.apps_connections_open(app_token=self.app_token)
        url = str(field_of(answer, "url"))
        before = self.current_session
        self._is_dialing = True
        try:
            self.current_session = await websockets.connect(
                url,
                ping_interval=self.ping_interval,
                ping_timeout=1.5 * self.ping_interval,
                close_timeout=CLOSE_SECONDS,
                # It would take longer than the rest of an answer; the SDK's other client has none.
                compression=None,
                proxy=proxy_towards(url),
            )
        finally:
            self._is_dialing = False
        self._opened_at = self._clock.monotonic()
        self._has_connected.set()
        _start_task(self._read(self.current_session), self._reading)
        if before is not None:
            _start_task(before.close(), self._under_way)

    @override
    async def send_message(self, message: str) -> None:
        """Send it over this connection or the next one, while Slack waits."""
        async with asyncio.timeout(LAST_ACKNOWLEDGEMENTS_SECONDS):
            while self.current_session is not None:
                self._has_connected.clear()
                try:
                    await self.current_session.send(message)
                except ConnectionClosed:
                    await self._has_connected.wait()
                else:
                    return

    @override
    async def close(self) -> None:
        """Stop reading, send pending acknowledgements, and close."""
        for task in (self._renewal, *self._reading):
            if task is not None:
                task.cancel()
        if self._under_way:
            await asyncio.wait(self._under_way, timeout=LAST_ACKNOWLEDGEMENTS_SECONDS)
        await super().close()  # type: ignore[no-untyped-call]  # the SDK leaves it untyped

    async def _read(self, session: ClientConnection) -> None:
        # Text that is broken ends a connection, as if it were closed.
        with suppress(ConnectionClosed, ValueError):
            async for raw in session:
                message = json.loads(raw) if str(raw).startswith("{") else {}
                match message.get("type"):
                    case "disconnect":
                        await self._leave(session, str(message.get("reason")))
                    case "hello":
                        self._greeted = session
                        self.problem = None
                        self._changed(message.get("num_connections"))
                    case _:
                        handling = self.run_message_listeners(message, str(raw))
                        _start_task(handling, self._under_way)
        await self._leave(session, CLOSED)

    async def _leave(self, session: ClientConnection, reason: str) -> None:
        is_renewed = self._renewal is not None and not self._renewal.done()
        if is_renewed or session is not self.current_session:
            return
        has_lasted = self._clock.monotonic() - self._opened_at >= self.ping_interval
        self.failed = 0 if has_lasted else self.failed + 1
        if reason in STILL_USABLE:
            extra = {"action": "socket_renewed", "error": reason}
            logger.info("Slack renews a connection", extra=extra)
            self.renew(self._wait())
            return
        self._greeted = None
        self.renew(self._wait_after(Failure(reason)))
        await session.close()

    def renew(self, wait: float = 0.0) -> None:
        """Soon open a connection, and retry until there is one."""
        self._renewal = asyncio.create_task(self._open(wait))

    async def _open(self, wait: float) -> None:
        while True:
            await self._clock.sleep(wait)
            try:
                return await self.connect()
            except Exception as error:  # noqa: BLE001 - whatever it is, only a connection helps
                self.failed += 1
                # Only the error's name is used: its text may hold the address, which is the ticket.
                wait = self._wait_after(read_failure(error))

    def _wait_after(self, failure: Failure) -> float:
        """Report that there is no connection; the seconds to wait before the next attempt."""
        self.problem = failure.code
        fix = OPERATOR_FIXES.get(failure.code)
        wait = self._wait(failure.retry_after) if fix is None else SLOW_SECONDS
        fields = {"error": failure.code, "attempt": self.failed, "wait_seconds": wait}
        if fix is None:
            extra = {"action": "socket_failed", **fields}
            logger.warning("a connection to Slack failed", extra=extra)
        else:
            extra = {"action": "socket_needs_operator", "fix": fix, **fields}
            logger.error("Slack refuses connections until an operator fixes the cause", extra=extra)
        self._changed(None)
        return wait

    def _wait(self, hint: float | None = None) -> float:
        doubled = min(self.failed, DOUBLED_MOST)
        return retry_delay(doubled, hint=hint, jitter=self._jitter()) if doubled else 0.0


def _start_task(work: Coroutine[Any, Any, None], running: set[asyncio.Task[None]]) -> None:
    task = asyncio.create_task(work)
    running.add(task)
    task.add_done_callback(running.discard)


class SocketMode:
    """The connections over which Slack sends requests.

    Problems that only an operator can fix are logged as errors with the fix, and retried slowly.
    """

    def __init__(
        self,
        app: AsyncApp,
        web_client: AsyncWebClient,
        app_token: SecretStr,
        clock: Clock,
        *,
        jitter: Callable[[], float] = DRAWN,
        ping_seconds: float = PING_SECONDS,
    ) -> None:
        """Needs a running loop, because the SDK's client starts tasks immediately.

        `jitter`: from 0 to 1, spreads attempts over time.
        """
        self._sockets = [
            SlackSocket(
                app_token,
                web_client,
                clock,
                self._changed,
                jitter=jitter,
                ping_seconds=ping_seconds,
            )
            for _ in range(CONNECTIONS)
        ]
        for socket in self._sockets:
            _Handler(app, socket)
        self._tried = asyncio.Event()
        self._is_deaf = False
        self.num_connections = 0
        """The app's connections that Slack counted at the last hello, without those of ours that
        were just being replaced."""

    @property
    def connections(self) -> int:
        """How many of ours are connected."""
        return sum(socket.is_usable for socket in self._sockets)

    @property
    def is_connected(self) -> bool:
        """Whether requests can reach us; the process is ready then."""
        return self.connections > 0

    @property
    def problems(self) -> list[str]:
        """Slack's or our codes for connections that are not open."""
        return [socket.problem for socket in self._sockets if socket.problem is not None]

    @property
    def refusal(self) -> str | None:
        """Slack's code if it refuses the app-level token."""
        return next((problem for problem in self.problems if problem in CREDENTIAL_CODES), None)

    async def open(self) -> None:
        """Wait until one is connected and the other was tried; raises TokenRefused."""
        for socket in self._sockets:
            socket.renew()
        await self._tried.wait()
        if not self.is_connected:
            raise TokenRefused(self.refusal or CLOSED)
        extra = {"action": "socket_open", "count": self.connections}
        logger.info("connected to Slack", extra=extra)

    async def close(self) -> None:
        """Accept no more requests; send pending acknowledgements."""
        await asyncio.gather(*(socket.close() for socket in self._sockets))

    def _changed(self, count: object) -> None:
        if NOT_TRIED not in self.problems and (self.is_connected or self.refusal):
            self._tried.set()
        if self.is_connected and self._is_deaf:
            self._is_deaf = False
            logger.warning("Slack is connected again", extra={"action": "socket_recovered"})
        has_tried = any(socket.failed >= DEAF_ATTEMPTS for socket in self._sockets)
        if has_tried and not self.is_connected and not self._is_deaf:
            self._is_deaf = True
            logger.error(
                "no connection to Slack: commands and buttons don't reach the bot",
                extra={"action": "socket_deaf", "problems": ", ".join(sorted(set(self.problems)))},
            )
        if isinstance(count, int):
            self._compare(count)

    def _compare(self, count: int) -> None:
        """`count`: the app's connections, as Slack counts them at a hello."""
        ours = sum(socket.alive for socket in self._sockets)
        replaced = max(0, ours - len(self._sockets))
        self.num_connections = count - replaced
        fields = {"num_connections": count, "ours": ours}
        logger.info("Slack opened a connection", extra={"action": "socket_hello", **fields})
        if count > ours:
            logger.warning(
                "Slack counts more connections of this app than this process has: another "
                "process uses the app, or Slack still sends what people do to dead connections",
                extra={"action": "socket_ghosts", **fields},
            )


class _Handler(AsyncSocketModeHandler):
    """Bolt's handler with our client; Bolt's constructor would make one of the SDK's."""

    def __init__(self, app: AsyncApp, client: SlackSocket) -> None:
        self.app = app
        self.app_token = client.app_token
        self.client = client
        client.socket_mode_request_listeners.append(self.handle)  # type: ignore[arg-type]  # as Bolt's
