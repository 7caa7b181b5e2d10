"""The port that Slack connects to, closed without losing anyone who has connected already."""

import asyncio
import logging
import resource
import socket
import time
from collections import Counter
from collections.abc import Mapping

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.web_protocol import RequestHandler
from typing_extensions import override

FIRST_REQUEST_SECONDS = 1.0
"""Whoever has connected sends a request at once; a connection that is kept ready sends none."""

TURNS = 5
"""Of the event loop; a connection that was accepted is known to the server after three."""

HEADER_SECONDS = 15.0
"""After so long without a whole request, a new connection is closed."""

MOST_CONNECTIONS = 400
"""At a time, and at most half of the files that the process may open."""

SELDOM_SECONDS = 60.0

logger = logging.getLogger(__name__)


class Seldom:
    """Logs a kind of thing once a minute, with how many were left out in between.

    Anybody can connect to this port: nobody shall be able to fill the log.
    """

    def __init__(self) -> None:
        self._logged_at: dict[str, float] = {}
        self._left_out = Counter[str]()

    def warn(self, kind: str, message: str, extra: Mapping[str, object]) -> None:
        now = time.monotonic()
        if now - self._logged_at.get(kind, float("-inf")) < SELDOM_SECONDS:
            self._left_out[kind] += 1
            return
        self._logged_at[kind] = now
        left_out = self._left_out.pop(kind, 0)
        logger.warning(message, extra={**extra, "left_out": left_out})

    def filter(self, record: logging.LogRecord) -> bool:
        """Of what asyncio and aiohttp log: what strangers cause becomes one line a minute."""
        if record.getMessage().startswith("socket.accept() out of system resource"):
            self.warn("files", "no more connections can be opened", {"action": "no_files"})
            return False
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, HttpProcessingError):
            said = {"action": "request_malformed", "error": type(error).__name__}
            self.warn("malformed", "a request was not HTTP", said)
            return False
        return True


class _Refused(asyncio.Protocol):
    """There is no room for this connection."""

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.close()


class Door:
    """Lets connections in to `server`.

    Closed by itself, a listening socket resets the connections that wait in its queue, and
    aiohttp drops those whose request has not come yet. A balancer cannot send such a request to
    another process, since this one may have acted upon it.

    Who sends no whole request is put out again, the oldest first where there is no more room.
    """

    def __init__(self, server: web.Server, seldom: Seldom) -> None:
        self._server = server
        self._seldom = seldom
        self._listening: asyncio.Server | None = None
        self._silent: dict[RequestHandler, asyncio.TimerHandle] = {}
        self._heard = asyncio.Event()

    async def open(self, host: str, port: int) -> int:
        """Listen, and give the port; 0 lets the system choose. Raises OSError when it is taken."""
        loop = asyncio.get_running_loop()
        self._listening = await loop.create_server(self._let_in, host, port)
        return int(self._listening.sockets[0].getsockname()[1])

    def heard(self, connection: RequestHandler) -> None:
        """A request has come over it."""
        self._forget(connection)

    async def close(self) -> None:
        """Let nobody else in, and wait for the first request of whoever is inside.

        For FIRST_REQUEST_SECONDS at most. May be called twice.
        """
        listening, self._listening = self._listening, None
        if listening is None:
            return
        await self._take_over(listening)
        try:
            async with asyncio.timeout(FIRST_REQUEST_SECONDS):
                while self._silent.keys() & set(self._server.connections):
                    self._heard.clear()
                    await self._heard.wait()
        except TimeoutError:
            return

    async def _take_over(self, listening: asyncio.Server) -> None:
        """Close the port; who waits in its queue comes in."""
        loop = asyncio.get_running_loop()
        queues = [socket.socket(fileno=one.dup().detach()) for one in listening.sockets]
        for one in listening.sockets:
            loop.remove_reader(one.fileno())
        # Those that asyncio has accepted a moment ago would be dropped by what follows.
        for _ in range(TURNS):
            await _turn()
        listening.close()
        for queue in queues:
            # Between the last that is accepted and the end of the queue nothing is done.
            waiting = _all_waiting(queue)
            queue.close()
            for one in waiting:
                await loop.connect_accepted_socket(self._let_in, one)

    def _let_in(self) -> asyncio.Protocol:
        inside = self._server.connections
        if len(inside) >= _most_connections():
            self._seldom.warn(
                "full", "too many connections at once", {"action": "connections_full"}
            )
            oldest = next((one for one in self._silent if one in inside), None)
            if oldest is None:
                return _Refused()
            self._put_out(oldest)
        connection = self._server()
        loop = asyncio.get_running_loop()
        self._silent[connection] = loop.call_later(HEADER_SECONDS, self._put_out, connection)
        return connection

    def _put_out(self, connection: RequestHandler) -> None:
        self._forget(connection)
        connection.force_close()

    def _forget(self, connection: RequestHandler) -> None:
        waiting = self._silent.pop(connection, None)
        if waiting is not None:
            waiting.cancel()
        self._heard.set()


def _most_connections() -> int:
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_CONNECTIONS if files < 0 else min(MOST_CONNECTIONS, files // 2)


async def _turn() -> None:
    loop = asyncio.get_running_loop()
    turned = loop.create_future()
    loop.call_soon(turned.set_result, None)
    await turned


def _all_waiting(queue: socket.socket) -> list[socket.socket]:
    queue.settimeout(0)
    waiting: list[socket.socket] = []
    while True:
        try:
            one, _ = queue.accept()
        except BlockingIOError:
            return waiting
        one.settimeout(0)
        waiting.append(one)
