"""The port that Slack connects to, closed without losing anyone who has connected already."""

import asyncio
import socket

from aiohttp import web
from aiohttp.web_protocol import RequestHandler

FIRST_REQUEST_SECONDS = 1.0
"""Whoever has connected sends a request at once; a connection that is kept ready sends none."""

TURNS = 5
"""Of the event loop; a connection that was accepted is known to the server after three."""

MOST_SILENT = 100
"""Connections without a request, past which those that have ended are forgotten."""


class Door:
    """Lets connections in to `server`.

    Closed by itself, a listening socket resets the connections that wait in its queue, and
    aiohttp drops those whose request has not come yet. A balancer cannot send such a request to
    another process, since this one may have acted upon it.
    """

    def __init__(self, server: web.Server) -> None:
        self._server = server
        self._listening: asyncio.Server | None = None
        self._silent: set[RequestHandler] = set()
        self._heard = asyncio.Event()

    async def open(self, host: str, port: int) -> int:
        """Listen, and give the port; 0 lets the system choose. Raises OSError when it is taken."""
        loop = asyncio.get_running_loop()
        self._listening = await loop.create_server(self._let_in, host, port)
        return int(self._listening.sockets[0].getsockname()[1])

    def heard(self, connection: RequestHandler) -> None:
        """A request has come over it."""
        self._silent.discard(connection)
        self._heard.set()

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
                while self._silent & set(self._server.connections):
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

    def _let_in(self) -> RequestHandler:
        if len(self._silent) > MOST_SILENT:
            self._silent &= set(self._server.connections)
        connection = self._server()
        self._silent.add(connection)
        return connection


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
