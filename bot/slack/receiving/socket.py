"""Socket Mode: two lines to Slack that are kept open, and what is known of them."""

import asyncio
import logging
from collections.abc import Callable
from secrets import SystemRandom

from pydantic import SecretStr
from slack_sdk.web.async_client import AsyncWebClient
from websockets.exceptions import ConnectionClosed

from bot.ports import Clock
from bot.slack.receiving.envelopes import Envelopes
from bot.slack.receiving.open_socket import LAST_ACKNOWLEDGEMENTS_SECONDS, OpenSocket, dial
from bot.slack.receiving.reception import Reception
from bot.slack.receiving.socket_line import SocketLine
from bot.slack.web_api.clients import TokenRefused

logger = logging.getLogger(__name__)

CONNECTIONS = 2
"""Slack hands each payload to any one connection; a second carries on while one is renewed."""

_CHANCE = SystemRandom()

DEAF_ATTEMPTS = 3
"""After so many attempts of a line, with no other line open either, the log calls it an error."""


class SocketConnection:
    """The sockets over which Slack sends what people do.

    Each is an independent line: refused tickets and handshakes, silence and Slack's own requests
    to leave end in a new connection with a new ticket. What only an operator can mend is logged
    as an error with what to do, and tried again slowly.
    """

    def __init__(
        self,
        reception: Reception,
        web_client: AsyncWebClient,
        app_token: SecretStr,
        clock: Clock,
        jitter: Callable[[], float] = _CHANCE.random,
    ) -> None:
        self._envelopes = Envelopes(reception)
        self._web_client = web_client
        self._app_token = app_token
        self._clock = clock
        self._jitter = jitter
        self._lines: list[SocketLine] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._opened: asyncio.Future[None] | None = None
        self._connected = asyncio.Event()
        self._dialing = 0
        self._is_deaf = False
        self.num_connections: int | None = None
        """How many connections of the app Slack counted at the last hello."""

    @property
    def is_connected(self) -> bool:
        """Whether anything that people do can reach us: readiness."""
        return any(line.is_connected for line in self._lines)

    @property
    def connections(self) -> int:
        """How many of our lines are connected."""
        return sum(line.is_connected for line in self._lines)

    @property
    def problems(self) -> tuple[str, ...]:
        """Why lines are not connected: Slack's codes and reasons, or ours."""
        return tuple(line.problem for line in self._lines if line.problem is not None)

    async def open(self) -> None:
        """Wait for a connection, trying again until Slack answers; raises TokenRefused.

        Returns when one line is connected and the other has been tried.
        """
        self._opened = asyncio.get_running_loop().create_future()
        self._lines = [
            SocketLine(self._open_socket, self._clock, self._jitter, self)
            for _ in range(CONNECTIONS)
        ]
        self._tasks = [asyncio.create_task(line.keep()) for line in self._lines]
        await self._opened
        await asyncio.wait([line.first_attempt for line in self._lines])
        logger.info(
            "connected to Slack", extra={"action": "socket_open", "count": self.connections}
        )

    async def close(self) -> None:
        """Take no more; acknowledgements under way are still sent."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        await asyncio.gather(*(line.close() for line in self._lines))

    async def _open_socket(self) -> OpenSocket:
        self._dialing += 1
        try:
            connection = await dial(self._web_client, self._app_token)
        finally:
            self._dialing -= 1
        return OpenSocket(connection, self._envelopes.acknowledge, self._clock, self._send_anywhere)

    async def _send_anywhere(self, text: str) -> bool:
        """Over any connection, waiting for one as long as Slack waits for an acknowledgement."""
        try:
            async with asyncio.timeout(LAST_ACKNOWLEDGEMENTS_SECONDS):
                while not await self._send_now(text):
                    self._connected.clear()
                    await self._connected.wait()
        except TimeoutError:
            return False
        return True

    async def _send_now(self, text: str) -> bool:
        for socket in [one for line in self._lines for one in line.sockets if one.is_usable]:
            try:
                await socket.send(text)
            except ConnectionClosed:
                continue
            return True
        return False

    # What the lines report

    def connected(self, count: int | None) -> None:
        self._connected.set()
        if self._opened is not None and not self._opened.done():
            self._opened.set_result(None)
        if self._is_deaf:
            self._is_deaf = False
            logger.warning("Slack is heard again", extra={"action": "socket_heard_again"})
        if count is not None:
            self._count(count)

    def _count(self, count: int) -> None:
        self.num_connections = count
        # One that is being dialed may be counted by Slack already.
        ours = self._dialing + sum(one.is_alive for line in self._lines for one in line.sockets)
        fields = {"num_connections": count, "ours": ours}
        logger.info("Slack greets a connection", extra={"action": "socket_hello", **fields})
        if count > ours:
            logger.warning(
                "Slack counts more connections of this app than this process has: another "
                "process uses the app, or Slack still sends what people do to dead connections",
                extra={"action": "socket_ghosts", **fields},
            )

    def failed(self, attempt: int) -> None:
        if self.is_connected or self._is_deaf or attempt < DEAF_ATTEMPTS:
            return
        self._is_deaf = True
        logger.error(
            "no connection to Slack: commands and buttons reach nobody",
            extra={"action": "socket_deaf", "problems": ", ".join(sorted(set(self.problems)))},
        )

    def token_refused(self, refused: TokenRefused) -> None:
        if self._opened is not None and not self._opened.done():
            self._opened.set_exception(refused)
