"""The HTTP server for both ports, with limits on what strangers may hold and for how long."""

import asyncio
import logging
import resource
import selectors
import socket
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from aiohttp import StreamReader, web
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.typedefs import Handler
from aiohttp.web_protocol import RequestHandler
from typing_extensions import override

from bot.http.bodies import Bodies

logger = logging.getLogger(__name__)

KEPT_SECONDS = 75.0
"""How long an idle connection is kept: load balancers reuse theirs within a minute."""

LINGERING_SECONDS = 1.0
"""Time for the rest of a body that has already been answered."""

PARTS_OF_FILES = 4
"""One port's connections use at most a quarter of the files that the process may open."""

LARGEST_HEAD = 16 * 1024
"""Bytes of a request line with its headers; Slack's have about one thousand."""

BUFFERED_BYTES = 16 * 1024
"""What aiohttp holds of a body before it is read; at twice that it stops receiving."""

RECEIVE_BUFFER = 32 * 1024
"""What the system receives for a connection ahead of us; Linux doubles it."""

FRAMING_BYTES = 16 * 1024
"""What may come around a body, beyond as many bytes as the body has.

A body in chunks of one byte is six times as much to send, and to parse. Slack and proxies send
chunks of hundreds of bytes, or none.
"""

TURNS = 5
"""Of the event loop at a time."""

LAST_LOOKS = 100
"""How often to look for connections that wait, at shutdown; a flood doesn't hold it up."""

BLANK_LINE = b"\r\n\r\n"

aiohttp_logger = logging.getLogger("aiohttp.server")


@dataclass(frozen=True, slots=True)
class PortLimits:
    """What the callers of one port may hold, and for how long."""

    connections: int = 400
    """At a time."""
    header_seconds: float = 15.0
    """A new connection without a whole request is closed after that."""
    taking_seconds: float = 10.0
    """Time for the caller to take the answer."""
    first_request_seconds: float = 1.0
    """At shutdown, the time for a connection's first request; spare connections send none."""
    drain_seconds: float = 4.0
    """Longer than a body may take, so that no request is cut off."""

    def connections_with(self, files: int | None) -> int:
        """How many connections a port may have in a process that may open so many files."""
        if files is None:
            return self.connections
        return max(1, min(self.connections, files // PARTS_OF_FILES))


class Connection(asyncio.Protocol):
    """Stands between a socket and aiohttp, which has no limits of this kind."""

    def __init__(self, server: "HttpServer", aiohttp_protocol: RequestHandler) -> None:
        self._server = server
        self._inner = aiohttp_protocol
        self._transport: asyncio.Transport | None = None
        self._deadline: asyncio.TimerHandle | None = None
        self._head_size = 0
        self._head_end = b""
        """The last bytes, while the head has no end yet."""
        self._is_in_head = True
        self._body: StreamReader | None = None
        self._sent_since_head = 0
        self.is_new = True
        """No whole request has come yet."""
        self.is_answering = False

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if not isinstance(transport, asyncio.Transport):
            raise TypeError(transport)
        self._transport = transport
        # Whoever doesn't take an answer is noticed while it is written.
        transport.set_write_buffer_limits(0)
        self._inner.connection_made(transport)
        self._server.add(self._inner, self)

    @override
    def data_received(self, data: bytes) -> None:
        if self._is_in_head and self._measure_head(data) > LARGEST_HEAD:
            extra = {"action": "head_too_large"}
            logger.warning("a request had too many headers", extra=extra)
            self.abort()
            return
        self._inner.data_received(data)
        if self._body is not None:
            self._measure_framing(self._body, len(data))

    @override
    def eof_received(self) -> None:
        self._inner.eof_received()

    @override
    def pause_writing(self) -> None:
        self._inner.pause_writing()

    @override
    def resume_writing(self) -> None:
        self._inner.resume_writing()

    @override
    def connection_lost(self, error: Exception | None) -> None:
        self._stop_clock()
        self._server.remove(self._inner)
        self._inner.connection_lost(error)

    def abort_after(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        self._deadline = loop.call_later(seconds, self.abort)

    def abort(self) -> None:
        """Close the connection without sending what is left."""
        self._stop_clock()
        # The socket is closed in the next turn of the loop; many may be opened in this one.
        self._server.remove(self._inner)
        if self._transport is not None:
            self._transport.abort()

    def has_head(self, body: StreamReader) -> None:
        """A head has come, and a body follows."""
        self._body = body
        self._sent_since_head = 0

    def has_request(self) -> None:
        """A whole request has come, which is answered from now on."""
        self._stop_clock()
        self._body = None
        self.is_new = False
        self.is_answering = True

    def expect_next(self) -> None:
        """The request is about to be answered; what comes then begins with a head."""
        self._is_in_head = True
        self._head_size = 0
        self._head_end = b""

    def _measure_head(self, data: bytes) -> int:
        """The bytes of the head so far."""
        seen = self._head_end + data
        end = seen.find(BLANK_LINE)
        if end >= 0:
            self._is_in_head = False
            return self._head_size + end
        self._head_size += len(data)
        self._head_end = seen[-len(BLANK_LINE) + 1 :]
        return self._head_size

    def _measure_framing(self, body: StreamReader, size: int) -> None:
        self._sent_since_head += size
        if self._sent_since_head - 2 * body.total_bytes > FRAMING_BYTES:
            extra = {"action": "chunks_too_small"}
            logger.warning("a request's body came in too many pieces", extra=extra)
            self.abort()

    def _stop_clock(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


class HttpServer:
    """Listens on one port.

    It closes connections that send no whole request or don't take their answer. If there are too
    many, the one that has waited longest goes first. After a request, the connection is closed
    unless the handler called `keep_connection`.
    """

    def __init__(self) -> None:
        self.limits = PortLimits()
        self._runner: web.AppRunner | None = None
        self._listening: asyncio.Server | None = None
        self._connections: dict[RequestHandler, Connection] = {}
        """The oldest first."""
        self._last_request = asyncio.Event()
        self.bodies = Bodies()
        self.port = 0
        """The port, once open."""

    async def open(self, host: str, port: int, routes: Iterable[web.RouteDef]) -> None:
        """Listen; port 0 lets the system choose. Raises OSError if the address is taken."""
        application = web.Application(middlewares=(self._receive,))
        application[SERVER] = self
        application.add_routes(routes)
        self._runner = web.AppRunner(
            application,
            access_log=None,
            shutdown_timeout=self.limits.drain_seconds,
            # Decompressed, a body may be a thousand times as large as its sender's.
            auto_decompress=False,
            keepalive_timeout=KEPT_SECONDS,
            lingering_time=LINGERING_SECONDS,
            read_bufsize=BUFFERED_BYTES,
        )
        await self._runner.setup()
        aiohttp_logger.addFilter(_in_one_line)
        loop = asyncio.get_running_loop()
        # As many as this may be accepted in one turn, before the first of them is refused.
        backlog = self.limits.connections_with(files_allowed())
        listening = await loop.create_server(
            self._let_in, host, port, backlog=backlog, start_serving=False
        )
        for listener in listening.sockets:
            # Its connections inherit this.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
        await listening.start_serving()
        self._listening = listening
        self.port = int(listening.sockets[0].getsockname()[1])

    async def close(self) -> None:
        """Accept no more connections, and answer those that exist. May be called twice."""
        listening = self._listening
        self._listening = None
        if listening is not None:
            await _let_in_the_last(listening)
            with suppress(TimeoutError):
                async with asyncio.timeout(self.limits.first_request_seconds):
                    # aiohttp would drop connections that have not sent a request yet.
                    while any(connection.is_new for connection in self._connections.values()):
                        self._last_request.clear()
                        await self._last_request.wait()
        if self._runner is not None:
            await self._runner.cleanup()

    # Connections

    def add(self, protocol: RequestHandler, connection: Connection) -> None:
        """A connection was opened."""
        most = self.limits.connections_with(files_allowed())
        is_full = len(self._connections) >= most
        self._connections[protocol] = connection
        connection.abort_after(self.limits.header_seconds)
        if not is_full:
            return
        extra = {"action": "connections_full", "most": most}
        logger.warning("too many connections at once", extra=extra)
        self._least_useful(connection).abort()

    def remove(self, protocol: RequestHandler) -> None:
        self._connections.pop(protocol, None)
        self._last_request.set()

    def _let_in(self) -> Connection:
        server = self._runner.server if self._runner is not None else None
        if server is None:
            raise ValueError("a server that listens was opened")
        return Connection(self, server())

    def _least_useful(self, newest: Connection) -> Connection:
        """The oldest without a request, else the one kept longest for a next one, else `newest`."""
        others = [
            connection for connection in self._connections.values() if connection is not newest
        ]
        waiting = [other for other in others if not other.is_answering]
        without_request = [connection for connection in waiting if connection.is_new]
        return next(iter(without_request or waiting), newest)

    # Requests

    @web.middleware
    async def _receive(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Answer, and wait until the caller has taken the answer."""
        connection = self._of(request)
        if request.can_read_body:
            connection.has_head(request.content)
        else:
            self._has_request(connection)
        try:
            answer = await handler(request)
        except web.HTTPException as refusal:
            refusal.force_close()
            await self._hand_over(refusal, request, connection)
            raise
        if request.get(IS_KEPT, False):
            connection.expect_next()
        else:
            answer.force_close()
        await self._hand_over(answer, request, connection)
        return answer

    async def _hand_over(
        self, answer: web.StreamResponse, request: web.Request, connection: Connection
    ) -> None:
        """Write the answer, and end the connection if nobody takes it."""
        try:
            async with asyncio.timeout(self.limits.taking_seconds):
                await answer.prepare(request)
                await answer.write_eof()
        except (TimeoutError, ConnectionError):
            connection.abort()
        connection.is_answering = False

    async def read(self, request: web.Request, most: int) -> bytes:
        """The body. Raises HTTPException if it is too large or too slow."""
        body = await self.bodies.read(request, most)
        self._has_request(self._of(request))
        return body

    def _of(self, request: web.Request) -> Connection:
        """Raises HTTPException, which nobody gets any more, if the connection was lost."""
        connection = self._connections.get(request.protocol)
        if connection is None:
            raise web.HTTPRequestTimeout
        return connection

    def _has_request(self, connection: Connection) -> None:
        connection.has_request()
        self._last_request.set()


SERVER = web.AppKey("SERVER", HttpServer)
IS_KEPT = web.RequestKey("IS_KEPT", bool)


def keep_connection(request: web.Request) -> None:
    """Keep the caller's connection for its next request: the caller is known."""
    request[IS_KEPT] = True


async def read_body(request: web.Request, most: int) -> bytes:
    """The body as it came, at most so many bytes. A handler looks at the head first.

    Raises HTTPException if it is too large, too slow, or gives way to other bodies.
    """
    return await request.app[SERVER].read(request, most)


def files_allowed() -> int | None:
    """The files that this process may open; None for any number."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else soft


async def _let_in_the_last(listening: asyncio.Server) -> None:
    """Close the port when no connection waits in its queue.

    Closing would reset those, and a load balancer can't send their requests to another process,
    because this one may have carried them out.
    """
    with selectors.DefaultSelector() as selector:
        for listener in listening.sockets:
            selector.register(listener.fileno(), selectors.EVENT_READ)
        for _ in range(LAST_LOOKS):
            await _let_the_loop_turn()
            if not selector.select(0):
                break
    listening.close()
    await _let_the_loop_turn()


async def _let_the_loop_turn() -> None:
    """After three turns, the server knows a connection that was accepted in the first."""
    for _ in range(TURNS):
        await asyncio.sleep(0)  # noqa: TID251 - a turn of the loop, no time


def _in_one_line(record: logging.LogRecord) -> bool:
    """Anybody can send what isn't HTTP; a traceback of aiohttp's parser helps nobody."""
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, HttpProcessingError):
        record.levelno = logging.WARNING
        record.levelname = "WARNING"
        record.msg = "a request was not HTTP"
        record.args = None
        record.exc_info = None
        record.__dict__.update(action="request_malformed", error=type(error).__name__)
    return True
