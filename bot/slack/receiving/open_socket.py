"""One open WebSocket: greeted, listened to, watched for silence, closed."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any

from pydantic import SecretStr
from slack_sdk.web.async_client import AsyncWebClient
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.protocol import State

from bot.domain.errors import BotError
from bot.ports import Clock
from bot.slack.proxies import proxy_towards
from bot.slack.web_api.clients import TokenRefused
from bot.slack.web_api.failures import CREDENTIAL_CODES, FAILURES, read_failure

logger = logging.getLogger(__name__)

Json = dict[str, Any]
Acknowledge = Callable[[Mapping[str, Any]], Awaitable[Json | None]]

PING_SECONDS = 10.0
QUIET_BEATS = 3
"""After so many waits of PING_SECONDS without any sign of life a connection counts as deaf."""

OPEN_SECONDS = 10.0
HELLO_SECONDS = 10.0
CLOSE_SECONDS = 2.0
LAST_ACKNOWLEDGEMENTS_SECONDS = 3.0
"""Slack waits no longer than that for one."""

LARGEST_FRAME = 4 * 1024 * 1024

CLOSED = "closed"
SILENT = "silent"
WARNING = "warning"
REFRESH = "refresh_requested"
STILL_USABLE = frozenset({WARNING, REFRESH})
"""Reasons to leave that let the connection serve until its successor is open."""


class CannotConnect(BotError):
    """No connection came about; `code` says why, `retry_after` is Slack's own wait in seconds."""

    def __init__(self, code: str, retry_after: float | None = None) -> None:
        super().__init__(code)
        self.code = code
        self.retry_after = retry_after


async def dial(client: AsyncWebClient, app_token: SecretStr) -> ClientConnection:
    """Take a ticket and use it, once: a ticket that failed is never tried again.

    Raises TokenRefused and CannotConnect.
    https://docs.slack.dev/reference/methods/apps.connections.open
    """
    try:
        answer = await client.apps_connections_open(app_token=app_token.get_secret_value())
        url = answer.get("url")
    except FAILURES as error:
        failure = read_failure(error)
        if failure.code in CREDENTIAL_CODES:
            raise TokenRefused(failure.code) from error
        raise CannotConnect(failure.code, failure.retry_after) from error
    if not isinstance(url, str):
        raise CannotConnect("answer_without_url")
    try:
        # Pings are sent by OpenSocket, which also learns of their answers.
        return await connect(
            url,
            ping_interval=None,
            open_timeout=OPEN_SECONDS,
            close_timeout=CLOSE_SECONDS,
            max_size=LARGEST_FRAME,
            # Slack's own clients do not offer it either: it takes longer than all of an answer.
            compression=None,
            proxy=proxy_towards(url),
        )
    except (WebSocketException, OSError) as error:
        # The exception is not chained: it may name the address, which holds the ticket.
        code = type(error).__name__
    raise CannotConnect(code)


class OpenSocket:
    """A connection from its hello to its end."""

    def __init__(
        self,
        connection: ClientConnection,
        acknowledge: Acknowledge,
        clock: Clock,
        send_elsewhere: Callable[[str], Awaitable[bool]],
    ) -> None:
        self._connection = connection
        self._acknowledge = acknowledge
        self._clock = clock
        self._send_elsewhere = send_elsewhere
        self._leaving: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._receiving: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._acknowledging: set[asyncio.Task[None]] = set()
        self._quiet = 0
        self.beats = 0
        """How many waits of PING_SECONDS it has lived through."""

    @property
    def is_usable(self) -> bool:
        if self._leaving.done() and self._leaving.result() not in STILL_USABLE:
            return False
        return self._connection.state is State.OPEN

    @property
    def is_alive(self) -> bool:
        """Whether Slack may count it with reason: open, or being closed, and not silent."""
        if self._leaving.done() and self._leaving.result() == SILENT:
            return False
        return self._connection.state is not State.CLOSED

    async def greet(self) -> int | None:
        """Wait for Slack's hello; return how many connections of the app Slack counts.

        Raises CannotConnect, with Slack's reason when it sends us away.
        """
        try:
            async with asyncio.timeout(HELLO_SECONDS):
                while (frame := _read(await self._connection.recv())).get("type") != "hello":
                    if frame.get("type") == "disconnect":
                        raise CannotConnect(str(frame.get("reason")))
                    self._take(frame)
        except TimeoutError:
            raise CannotConnect("no_hello") from None
        except ConnectionClosed:
            raise CannotConnect(CLOSED) from None
        count = frame.get("num_connections")
        return count if isinstance(count, int) else None

    def listen(self) -> None:
        """Begin to take envelopes and to watch for silence."""
        self._receiving = asyncio.create_task(self._receive())
        self._watching = asyncio.create_task(self._watch())

    async def leaving(self) -> str:
        """Wait until the connection has to be replaced; return why."""
        return await asyncio.shield(self._leaving)

    async def send(self, text: str) -> None:
        """Raises ConnectionClosed."""
        await self._connection.send(text)

    async def retire(self) -> None:
        """Close in favour of a successor: what still comes meanwhile is taken and acknowledged."""
        await self._settle()
        await self._connection.close()
        if self._receiving is not None:
            await asyncio.wait([self._receiving])
        await self.close()

    async def close(self) -> None:
        """Take no more, send the acknowledgements under way, close."""
        self._leave(CLOSED)
        for task in (self._receiving, self._watching):
            if task is not None:
                task.cancel()
        await self._settle()
        await self._connection.close()

    async def _settle(self) -> None:
        if self._acknowledging:
            _, late = await asyncio.wait(self._acknowledging, timeout=LAST_ACKNOWLEDGEMENTS_SECONDS)
            for task in late:
                task.cancel()

    async def _receive(self) -> None:
        try:
            async for raw in self._connection:
                self._quiet = 0
                self._take(_read(raw))
        except ConnectionClosed:
            pass
        finally:
            self._leave(CLOSED)

    def _take(self, frame: Json) -> None:
        if frame.get("type") == "disconnect":
            self._leave(str(frame.get("reason")))
        elif "envelope_id" in frame:
            self._start(self._answer(frame))

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._acknowledging.add(task)
        task.add_done_callback(self._acknowledging.discard)

    async def _answer(self, frame: Json) -> None:
        try:
            acknowledgement = await self._acknowledge(frame)
        except Exception:
            # Nobody awaits this task; the person sees Slack's own error.
            logger.exception("an envelope failed", extra={"action": "envelope_failed"})
            return
        if acknowledgement is None:
            return
        text = json.dumps(acknowledgement)
        try:
            await self._connection.send(text)
        except ConnectionClosed:
            if not await self._send_elsewhere(text):
                logger.warning(
                    "an acknowledgement was lost with its connection",
                    extra={"action": "acknowledgement_lost"},
                )

    async def _watch(self) -> None:
        """Slack's pings stay within the library: what shows life here is an answer to ours."""
        while True:
            await self._clock.sleep(PING_SECONDS)
            self.beats += 1
            self._quiet += 1
            if self._quiet >= QUIET_BEATS:
                self._leave(SILENT)
                return
            try:
                # A connection whose buffers are full would keep us here.
                async with asyncio.timeout(PING_SECONDS):
                    pong = asyncio.ensure_future(await self._connection.ping())
            except TimeoutError:
                continue
            except ConnectionClosed:
                return
            pong.add_done_callback(self._answered)

    def _answered(self, pong: "asyncio.Future[float]") -> None:
        if not pong.cancelled() and pong.exception() is None:
            self._quiet = 0

    def _leave(self, reason: str) -> None:
        if not self._leaving.done():
            self._leaving.set_result(reason)


def _read(raw: str | bytes) -> Json:
    """Nothing for what is no JSON object: Slack sends such things to no one."""
    try:
        frame = json.loads(raw)
    except ValueError:
        frame = None
    return frame if isinstance(frame, dict) else {}
