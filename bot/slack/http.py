"""HTTP mode: Slack's signed requests go to the Bolt app."""

import asyncio
import logging
import resource
import socket
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from urllib.parse import parse_qsl

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.typedefs import Handler
from aiohttp.web_protocol import RequestHandler
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from typing_extensions import override

logger = logging.getLogger(__name__)

EVENTS_PATH = "/slack/events"

KEPT_SECONDS = 75.0
"""A connection without requests is kept that long: balancers reuse theirs within a minute."""

LARGEST_BODY = 1024 * 1024
"""Bytes. Slack's largest payloads, a modal with its state, are a few hundred thousand."""

MOST_FIELDS = 100
"""Of a form. Bolt reads a body before it looks at the signature."""

HEADER_SECONDS = 15.0
"""After so long without a whole request, a new connection is closed."""

READ_SECONDS = 3.0
"""Slack gives up after that, so nobody waits for the rest of a body."""

LINGERING_SECONDS = 1.0
"""How long the rest of a body is waited for whose sender has an answer already."""

FIRST_REQUEST_SECONDS = 1.0
"""Whoever has connected sends a request at once; a connection that is kept ready sends none."""

DRAIN_SECONDS = 4.0
"""Longer than a body may take, so that no request under way is cut off."""

MOST_CONNECTIONS = 400
"""At a time, and at most half of the files that the process may open."""

TURNS = 5
"""Of the event loop; a connection that was accepted is known to the server after three."""

SELDOM_SECONDS = 60.0

STRANGERS_LOGGERS = ("asyncio", "aiohttp.server")
"""Where libraries log what anybody can cause who connects."""

CERTIFICATE_CHECK = "ssl_check"
"""The field of a request that Bolt answers whoever sent it, and does nothing."""

UNREADABLE = (AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What Bolt raises for a body that is no payload of Slack's."""


class HttpServer:
    """Listens for Slack on one path, from the first moment, so that the process counts as alive.

    Until `serve` is called it turns Slack away; Slack sends events again. Who sends no whole
    request is put out again, the oldest first where there is no more room.
    """

    def __init__(self) -> None:
        self._app: AsyncApp | None = None
        self._runner: web.AppRunner | None = None
        self._listening: asyncio.Server | None = None
        self._silent: dict[RequestHandler, asyncio.TimerHandle] = {}
        self._heard = asyncio.Event()
        self._seldom = Seldom()
        self.port = 0
        """The port that is listened on, once open."""

    async def open(self, host: str, port: int, routes: Iterable[web.RouteDef] = ()) -> None:
        """Listen; port 0 lets the system choose. Raises OSError when the address is taken.

        `routes`: what else is answered on this port.
        """
        application = web.Application(client_max_size=LARGEST_BODY, middlewares=(self._hear,))
        application.router.add_post(EVENTS_PATH, self._on_request)
        application.add_routes(routes)
        self._runner = web.AppRunner(
            application,
            access_log=None,
            shutdown_timeout=DRAIN_SECONDS,
            # Slack packs nothing: what strangers have packed is not unpacked to be refused.
            auto_decompress=False,
            keepalive_timeout=KEPT_SECONDS,
            lingering_time=LINGERING_SECONDS,
        )
        await self._runner.setup()
        for name in STRANGERS_LOGGERS:
            logging.getLogger(name).addFilter(self._seldom)
        loop = asyncio.get_running_loop()
        self._listening = await loop.create_server(self._let_in, host, port)
        self.port = int(self._listening.sockets[0].getsockname()[1])
        logger.info(
            "listening for Slack", extra={"action": "http_open", "host": host, "port": self.port}
        )

    def serve(self, app: AsyncApp) -> None:
        """Hand requests to `app` from now on; it verifies them."""
        self._app = app

    async def close(self) -> None:
        """Take no more connections; who has one already is still answered. May be called twice."""
        listening, self._listening = self._listening, None
        if listening is not None:
            await self._let_in_the_last(listening)
            await self._hear_the_last()
        if self._runner is not None:
            await self._runner.cleanup()
        for name in STRANGERS_LOGGERS:
            logging.getLogger(name).removeFilter(self._seldom)

    # Requests

    @web.middleware
    async def _hear(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if not request.can_read_body:
            self._forget(request.protocol)
        try:
            answer = await handler(request)
        except web.HTTPException as refusal:
            refusal.force_close()
            raise
        if request.path != EVENTS_PATH:
            answer.force_close()
        return answer

    async def _on_request(self, request: web.Request) -> web.Response:
        received = await self._read(request)
        if self._app is None:
            raise web.HTTPServiceUnavailable
        answer = await to_aiohttp_response(await self._app.async_dispatch(received))
        if answer.status == web.HTTPUnauthorized.status_code:
            said = {
                "action": "signature_refused",
                "remote": request.remote,
                "length": request.content_length,
            }
            self._seldom.warn("signature", "a request that is not Slack's was refused", said)
        if answer.status != web.HTTPOk.status_code or CERTIFICATE_CHECK in received.body:
            # Only who is let in keeps a connection: the number of them is limited.
            answer.force_close()
        return answer

    async def _read(self, request: web.Request) -> AsyncBoltRequest:
        """Raises what aiohttp answers with: it took too long, is too large or is not Slack's."""
        try:
            async with asyncio.timeout(READ_SECONDS):
                text = await request.text()
            self._forget(request.protocol)
            is_form = request.content_type != "application/json" and not text.startswith("{")
            if is_form and text.count("&") >= MOST_FIELDS:
                raise web.HTTPBadRequest
            received = await to_bolt_request(request)
        except (TimeoutError, ConnectionResetError):
            # Too slow, or gone, or put out to make room.
            raise web.HTTPRequestTimeout from None
        except UNREADABLE:
            said = {"action": "request_unreadable", "length": request.content_length}
            self._seldom.warn("unreadable", "a request was not understood", said)
            raise web.HTTPBadRequest from None
        if not received.body:
            # Bolt takes a form with “payload” in a text for one without fields.
            received.body = dict(parse_qsl(text, keep_blank_values=True))
        return received

    # Connections

    def _let_in(self) -> asyncio.Protocol:
        server = self._server
        if len(server.connections) >= _most_connections():
            said = {"action": "connections_full"}
            self._seldom.warn("full", "too many connections at once", said)
            oldest = next((one for one in self._silent if one in server.connections), None)
            if oldest is None:
                return _Refused()
            self._put_out(oldest)
        connection = server()
        loop = asyncio.get_running_loop()
        self._silent[connection] = loop.call_later(HEADER_SECONDS, self._put_out, connection)
        return connection

    @property
    def _server(self) -> web.Server:
        server = self._runner.server if self._runner is not None else None
        if server is None:
            raise ValueError("a server that listens was opened")
        return server

    def _put_out(self, connection: RequestHandler) -> None:
        self._forget(connection)
        connection.force_close()

    def _forget(self, connection: RequestHandler) -> None:
        waiting = self._silent.pop(connection, None)
        if waiting is not None:
            waiting.cancel()
        self._heard.set()

    async def _let_in_the_last(self, listening: asyncio.Server) -> None:
        """Close the port; who waits in its queue comes in.

        Closed by itself it would reset them. A balancer cannot send such a request to another
        process, since this one may have acted upon it.
        """
        loop = asyncio.get_running_loop()
        queues = [socket.socket(fileno=one.dup().detach()) for one in listening.sockets]
        for one in listening.sockets:
            loop.remove_reader(one.fileno())
        # Those that asyncio has accepted a moment ago would be dropped by what follows.
        for _ in range(TURNS):
            await asyncio.sleep(0)  # noqa: TID251 - a turn of the loop, no time
        listening.close()
        # Between the last that is accepted and the end of its queue nothing is done.
        for one in [one for queue in queues for one in _all_waiting(queue)]:
            await loop.connect_accepted_socket(self._let_in, one)

    async def _hear_the_last(self) -> None:
        """Wait for the first request of whoever is inside, for FIRST_REQUEST_SECONDS at most.

        aiohttp drops those whose request has not come yet.
        """
        try:
            async with asyncio.timeout(FIRST_REQUEST_SECONDS):
                while self._silent.keys() & set(self._server.connections):
                    self._heard.clear()
                    await self._heard.wait()
        except TimeoutError:
            return


def _most_connections() -> int:
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_CONNECTIONS if files < 0 else min(MOST_CONNECTIONS, files // 2)


def _all_waiting(queue: socket.socket) -> list[socket.socket]:
    """Who waits in a port's queue, which is closed then."""
    queue.settimeout(0)
    waiting: list[socket.socket] = []
    with queue:
        while True:
            try:
                one, _ = queue.accept()
            except BlockingIOError:
                return waiting
            one.settimeout(0)
            waiting.append(one)


class _Refused(asyncio.Protocol):
    """There is no room for this connection."""

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.close()


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
