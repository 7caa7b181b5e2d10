"""Keeps one connection to Slack open, whatever happens to it."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, Protocol

from bot.domain.backoff import retry_delay
from bot.ports import Clock
from bot.slack.receiving.open_socket import REFRESH, STILL_USABLE, CannotConnect, OpenSocket
from bot.slack.web_api.clients import TokenRefused

logger = logging.getLogger(__name__)

LONGEST_WAIT_SECONDS = 60.0
SLOW_SECONDS = 300.0
DEFECT = "defect"

APP_LEVEL_MEND = (
    "make an app-level token with the scope connections:write in the app's settings "
    "(Basic Information) and set SLACK_APP_TOKEN"
)
OPERATOR_MENDS = {
    "link_disabled": "switch Socket Mode on in the app's settings (Socket Mode)",
    "too_many_websockets": (
        "stop other programs that use this app's app-level token; Slack allows ten connections"
    ),
}
"""What no trying again mends, with what does."""


class LineReports(Protocol):
    """Who hears how a line fares."""

    def connected(self, count: int | None) -> None:
        """A hello came; Slack counts so many connections of the app."""
        ...

    def failed(self, attempt: int) -> None:
        """The line has no connection; that was the `attempt`-th attempt."""
        ...

    def token_refused(self, refused: TokenRefused) -> None: ...


class SocketLine:
    """Opens a connection, serves it, and opens the next one when it has to go.

    A connection that Slack asks to leave serves on until its successor is open. Attempts that
    fail, and connections that end at once, are followed by growing waits; what an operator has
    to mend, by long ones.
    """

    def __init__(
        self,
        open_socket: Callable[[], Awaitable[OpenSocket]],
        clock: Clock,
        jitter: Callable[[], float],
        reports: LineReports,
    ) -> None:
        self._open_socket = open_socket
        self._clock = clock
        self._jitter = jitter
        self._reports = reports
        self._closing: set[asyncio.Task[None]] = set()
        self.sockets: list[OpenSocket] = []
        """The one in use, and those that are not closed yet."""
        self.problem: str | None = None
        """Why there is no connection, or None."""
        self.first_attempt: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @property
    def is_connected(self) -> bool:
        return any(one.is_usable for one in self.sockets)

    async def keep(self) -> None:
        """Never ends by itself."""
        attempt = 0
        while True:
            try:
                socket = await self._open()
                self._tried()
                reason = await socket.leaving()
                attempt = 0 if socket.beats else attempt + 1
                wait = self._ended(socket, reason, attempt)
            except TokenRefused as refused:
                attempt += 1
                wait = self._refused(refused)
            except CannotConnect as failure:
                attempt += 1
                wait = self._failed(failure.code, attempt, failure.retry_after)
            except Exception:
                # A line that ended would be deaf for good.
                attempt += 1
                logger.exception("a connection failed", extra={"action": "socket_defect"})
                wait = self._wait(DEFECT, attempt)
            if not self.is_connected:
                self._reports.failed(attempt)
            self._tried()
            await self._clock.sleep(wait)

    async def close(self) -> None:
        self._end([socket.close() for socket in self.sockets])
        if self._closing:
            await asyncio.wait(self._closing)

    async def _open(self) -> OpenSocket:
        socket = await self._open_socket()
        before = list(self.sockets)
        self.sockets.append(socket)
        try:
            count = await socket.greet()
        except BaseException:
            self._retire([socket])
            raise
        socket.listen()
        self._retire(before)
        self.problem = None
        self._reports.connected(count)
        return socket

    def _ended(self, socket: OpenSocket, reason: str, attempt: int) -> float:
        if reason in STILL_USABLE:
            logger.info("Slack renews a connection", extra=_fields("socket_renewed", reason))
            # The successor is opened at once, except for one that was itself sent away at once.
            return self._wait(REFRESH, attempt)
        self._retire([socket])
        return self._failed(reason, attempt)

    def _failed(self, code: str, attempt: int, hint: float | None = None) -> float:
        self.problem = code
        wait = self._wait(code, attempt, hint)
        fields = {**_fields("socket_failed", code), "attempt": attempt, "wait_seconds": wait}
        if code in OPERATOR_MENDS:
            fields |= {"action": "socket_needs_operator", "mend": OPERATOR_MENDS[code]}
            logger.error("Slack refuses connections until somebody acts", extra=fields)
        else:
            logger.warning("a connection to Slack failed", extra=fields)
        return wait

    def _refused(self, refused: TokenRefused) -> float:
        self.problem = refused.code
        self._reports.token_refused(refused)
        logger.error(
            "Slack refuses the app-level token",
            extra={
                **_fields("socket_needs_operator", refused.code),
                "mend": APP_LEVEL_MEND,
                "wait_seconds": SLOW_SECONDS,
            },
        )
        return SLOW_SECONDS

    def _wait(self, code: str, attempt: int, hint: float | None = None) -> float:
        if code in OPERATOR_MENDS:
            return SLOW_SECONDS
        if attempt == 0:
            return 0.0
        wait = retry_delay(attempt, hint=hint, jitter=self._jitter())
        return round(wait if hint is not None else min(wait, LONGEST_WAIT_SECONDS), 3)

    def _tried(self) -> None:
        if not self.first_attempt.done():
            self.first_attempt.set_result(None)

    def _retire(self, sockets: list[OpenSocket]) -> None:
        self._end([self._forget(socket) for socket in sockets])

    def _end(self, endings: Sequence[Coroutine[Any, Any, None]]) -> None:
        """Without keeping anybody waiting: a dead connection takes its time to close."""
        for ending in endings:
            task = asyncio.create_task(ending)
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    async def _forget(self, socket: OpenSocket) -> None:
        try:
            await socket.retire()
        finally:
            if socket in self.sockets:
                self.sockets.remove(socket)


def _fields(action: str, reason: str) -> dict[str, object]:
    return {"action": action, "error": reason}
