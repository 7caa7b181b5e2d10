"""Socket Mode: keeps two connections to Slack open, and reports their state."""

import asyncio
import logging
from collections.abc import Callable
from secrets import SystemRandom

from pydantic import SecretStr
from slack_bolt.adapter.socket_mode.websockets import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.ports import Clock
from bot.slack.slack_socket import CLOSED, NOT_TRIED, PING_SECONDS, Attempts, SlackSocket
from bot.slack.web_api.clients import TokenRefused
from bot.slack.web_api.failures import CREDENTIAL_CODES

logger = logging.getLogger(__name__)

CONNECTIONS = 2
"""Slack sends each payload over one of them; the second serves while the first is renewed."""

DEAF_ATTEMPTS = 3
"""After so many failed attempts without any connection, an error is logged."""

_CHANCE = SystemRandom()


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
        jitter: Callable[[], float] = _CHANCE.random,
        ping_seconds: float = PING_SECONDS,
    ) -> None:
        """Needs a running loop, because the SDK's client starts tasks immediately."""
        self._sockets = [
            SlackSocket(
                app_token,
                web_client,
                clock,
                Attempts(jitter, self._changed),
                self._count,
                ping_seconds,
            )
            for _ in range(CONNECTIONS)
        ]
        for one in self._sockets:
            _Handler(app, one)
        self._tried = asyncio.Event()
        self._is_deaf = False
        self.num_connections: int | None = None
        """The app's connections that Slack counted at the last hello."""

    @property
    def is_connected(self) -> bool:
        """Whether requests can reach us; the process is ready then."""
        return self.connections > 0

    @property
    def connections(self) -> int:
        """How many of ours are connected."""
        return sum(one.is_usable for one in self._sockets)

    @property
    def problems(self) -> tuple[str, ...]:
        """Slack's or our codes for connections that are not open."""
        problems = (one.attempts.problem for one in self._sockets)
        return tuple(one for one in problems if one is not None)

    async def open(self) -> None:
        """Wait until one is connected and the other was tried; raises TokenRefused."""
        for one in self._sockets:
            one.start()
        await self._tried.wait()
        if not self.is_connected:
            raise TokenRefused(self._refusal() or CLOSED)
        logger.info(
            "connected to Slack", extra={"action": "socket_open", "count": self.connections}
        )

    async def close(self) -> None:
        """Accept no more requests; send pending acknowledgements."""
        await asyncio.gather(*(one.close() for one in self._sockets))

    def _refusal(self) -> str | None:
        return next((one for one in self.problems if one in CREDENTIAL_CODES), None)

    @property
    def _is_silent(self) -> bool:
        has_tried = any(one.attempts.failed >= DEAF_ATTEMPTS for one in self._sockets)
        return has_tried and not self.is_connected

    def _changed(self) -> None:
        if NOT_TRIED not in self.problems and (self.is_connected or self._refusal()):
            self._tried.set()
        if self.is_connected and self._is_deaf:
            self._is_deaf = False
            logger.warning("Slack sends again", extra={"action": "socket_recovered"})
        elif self._is_silent and not self._is_deaf:
            self._is_deaf = True
            logger.error(
                "no connection to Slack: commands and buttons reach nobody",
                extra={"action": "socket_deaf", "problems": ", ".join(sorted(set(self.problems)))},
            )

    def _count(self, count: object) -> None:
        if not isinstance(count, int):
            return
        self.num_connections = count
        ours = sum(one.alive for one in self._sockets)
        fields = {"num_connections": count, "ours": ours}
        logger.info("Slack greets a connection", extra={"action": "socket_hello", **fields})
        if count > ours:
            logger.warning(
                "Slack counts more connections of this app than this process has: another "
                "process uses the app, or Slack still sends what people do to dead connections",
                extra={"action": "socket_ghosts", **fields},
            )


class _Handler(AsyncSocketModeHandler):
    """Bolt's handler with our client; Bolt's constructor would make one of the SDK's."""

    def __init__(self, app: AsyncApp, client: SlackSocket) -> None:
        self.app, self.app_token, self.client = app, client.app_token, client
        client.socket_mode_request_listeners.append(self.handle)  # type: ignore[arg-type]  # as Bolt's
