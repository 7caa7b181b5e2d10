"""Socket Mode connections: opened, reported, closed."""

import logging
from collections.abc import Sequence

from aiohttp import ClientError
from slack_bolt.adapter.socket_mode.websockets import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from websockets.exceptions import WebSocketException

from bot.domain.backoff import retry_delay
from bot.ports import Clock
from bot.slack.clients import TokenRefused
from bot.slack.failures import CREDENTIAL_CODES, read_failure

logger = logging.getLogger(__name__)


def _is_worth_logging(record: logging.LogRecord) -> bool:
    # The SDK reports our own orderly close of a socket as an error.
    return "1000 (OK)" not in record.getMessage()


socket_logger = logging.getLogger("slack_bolt.socket")
CONNECTIONS = 2
"""Slack hands each payload to any one connection; a second carries on while one is renewed."""


class SocketConnection:
    """The sockets over which Slack sends what people do.

    The `websockets` client is used: it opens the new socket before it closes the old one, and
    recovers from a refused handshake, after which the default client stays deaf for good.
    """

    def __init__(
        self, app: AsyncApp, web_client: AsyncWebClient, app_token: str, clock: Clock
    ) -> None:
        self._app = app
        self._web_client = web_client
        self._app_token = app_token
        self._clock = clock
        self._handlers: Sequence[AsyncSocketModeHandler] = ()
        socket_logger.addFilter(_is_worth_logging)

    async def open(self) -> None:
        """Connect, trying again until Slack answers; raises TokenRefused."""
        self._handlers = [self._handler() for _ in range(CONNECTIONS)]
        for handler in self._handlers:
            await self._connect(handler)
        logger.info(
            "connected to Slack", extra={"action": "socket_open", "count": len(self._handlers)}
        )

    async def close(self) -> None:
        for handler in self._handlers:
            await handler.close_async()  # type: ignore[no-untyped-call]  # the SDK leaves it untyped

    def _handler(self) -> AsyncSocketModeHandler:
        return AsyncSocketModeHandler(
            self._app,
            app_token=self._app_token,
            logger=socket_logger,
            web_client=self._web_client,
        )

    async def _connect(self, handler: AsyncSocketModeHandler) -> None:
        attempt = 0
        while True:
            try:
                await handler.connect_async()  # type: ignore[no-untyped-call]  # the SDK leaves it untyped
            except SlackApiError as error:
                code = read_failure(error).code
                if code in CREDENTIAL_CODES:
                    raise TokenRefused(code) from error
                problem = code
            except (ClientError, WebSocketException, OSError) as error:
                problem = type(error).__name__
            else:
                return
            attempt += 1
            logger.warning(
                "Slack cannot be reached",
                extra={"action": "socket_refused", "error": problem, "attempt": attempt},
            )
            await self._clock.sleep(retry_delay(attempt, hint=None, jitter=0.5))
