"""The HTTP server that hands Slack's signed requests to the Bolt app."""

import asyncio
import logging
import select
import time
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from urllib.parse import parse_qsl

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.typedefs import Handler
from aiohttp.web_protocol import RequestHandler
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest

logger = logging.getLogger(__name__)

EVENTS_PATH = "/slack/events"

KEPT_SECONDS = 75.0
"""How long an idle connection is kept: load balancers reuse theirs within a minute."""

LARGEST_BODY = 1024 * 1024
"""Slack's largest payloads, modals with their state, have a few hundred thousand bytes."""

MOST_FIELDS = 100
"""Fields of a form. Bolt parses the body before it checks the signature."""

HEADER_SECONDS = 15.0
"""A new connection without a whole request is closed after that."""

READ_SECONDS = 3.0
"""Time for a body; Slack gives up after that."""

LINGERING_SECONDS = 1.0
"""Time for the rest of a body that has already been answered."""

FIRST_REQUEST_SECONDS = 1.0
"""At shutdown, the time for the first request of a connection; spare connections send none."""

DRAIN_SECONDS = 4.0
"""Longer than a body may take, so that no request is cut off."""

MOST_CONNECTIONS = 400
"""At a time."""

TURNS = 5
"""Of the event loop at a time."""

LAST_LOOKS = 100
"""How often to look for connections that wait, at shutdown; a flood doesn't hold it up."""

SELDOM_SECONDS = 60.0

STRANGERS_LOGGERS = ("asyncio", "aiohttp.server")
"""Loggers of libraries that log what strangers send."""

CERTIFICATE_CHECK = "ssl_check"
"""The field of a request that is answered without a signature; nothing else happens."""

UNREADABLE = (AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""Bolt's errors for a body that isn't one of Slack's payloads."""


class HttpServer:
    """Listens for Slack on one path.

    It listens before `serve`, so that the process counts as alive, and answers 503 until then. It
    closes connections that send no whole request; if there are too many, the oldest first.
    """

    def __init__(self) -> None:
        self._app: AsyncApp | None = None
        self._runner: web.AppRunner | None = None
        self._listening: asyncio.Server | None = None
        self._silent: dict[RequestHandler, asyncio.TimerHandle] = {}
        self._last_request = asyncio.Event()
        self._seldom = Seldom()
        self.port = 0
        """The port, once open."""

    async def open(self, host: str, port: int, routes: Iterable[web.RouteDef] = ()) -> None:
        """Listen; port 0 lets the system choose. Raises OSError if the address is taken.

        `routes`: other routes on this port.
        """
        application = web.Application(client_max_size=LARGEST_BODY, middlewares=(self._receive,))
        application.router.add_post(EVENTS_PATH, self._on_request)
        application.add_routes(routes)
        self._runner = web.AppRunner(
            application,
            access_log=None,
            shutdown_timeout=DRAIN_SECONDS,
            # Slack compresses nothing, so nothing is decompressed before the signature is checked.
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
        extra = {"action": "http_open", "host": host, "port": self.port}
        logger.info("listening for Slack", extra=extra)

    def serve(self, app: AsyncApp) -> None:
        """From now on, hand requests to `app`, which verifies them."""
        self._app = app

    async def close(self) -> None:
        """Accept no more connections, and answer those that exist. May be called twice."""
        listening, self._listening = self._listening, None
        if listening is not None:
            await _let_in_the_last(listening)
            with suppress(TimeoutError):
                async with asyncio.timeout(FIRST_REQUEST_SECONDS):
                    # aiohttp would drop connections that have not sent a request yet.
                    while self._silent.keys() & set(self._server.connections):
                        self._last_request.clear()
                        await self._last_request.wait()
        if self._runner is not None:
            await self._runner.cleanup()
        for name in STRANGERS_LOGGERS:
            logging.getLogger(name).removeFilter(self._seldom)

    # Requests

    @web.middleware
    async def _receive(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Read the body, which aiohttp keeps, within its limits of size and time."""
        try:
            try:
                async with asyncio.timeout(READ_SECONDS):
                    await request.read()
            except (TimeoutError, ConnectionResetError):
                raise web.HTTPRequestTimeout from None
            self._forget(request.protocol)
            answer = await handler(request)
        except web.HTTPException as refusal:
            refusal.force_close()
            raise
        if request.path != EVENTS_PATH:
            answer.force_close()
        return answer

    async def _on_request(self, request: web.Request) -> web.Response:
        if self._app is None:
            raise web.HTTPServiceUnavailable
        length = request.content_length
        try:
            received = await _read(request)
        except UNREADABLE:
            self._seldom.warn("request_unreadable", "a request was not understood", length=length)
            raise web.HTTPBadRequest from None
        answer = await to_aiohttp_response(await self._app.async_dispatch(received))
        if answer.status == web.HTTPUnauthorized.status_code:
            where = {"remote": request.remote, "length": length}
            said = "a request that is not Slack's was refused"
            self._seldom.warn("signature_refused", said, **where)
        if answer.status != web.HTTPOk.status_code or CERTIFICATE_CHECK in received.body:
            # Connections are limited: only accepted senders keep theirs.
            answer.force_close()
        return answer

    # Connections

    def _let_in(self) -> asyncio.Protocol:
        connection, seconds = self._server(), HEADER_SECONDS
        connected = set(self._server.connections)
        if len(connected) >= MOST_CONNECTIONS:
            self._seldom.warn("connections_full", "too many connections at once")
            oldest = next((one for one in self._silent if one in connected), None)
            if oldest is None:
                seconds = 0.0
            else:
                self._put_out(oldest)
        loop = asyncio.get_running_loop()
        self._silent[connection] = loop.call_later(seconds, self._put_out, connection)
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
        self._last_request.set()


async def _read(request: web.Request) -> AsyncBoltRequest:
    """Raises UNREADABLE."""
    text = await request.text()
    is_form = request.content_type != "application/json" and not text.startswith("{")
    if is_form and text.count("&") >= MOST_FIELDS:
        raise ValueError("too many fields")
    received = await to_bolt_request(request)
    if not received.body:
        # Bolt reads no fields in a form that has “payload” in a text.
        received.body = dict(parse_qsl(text, keep_blank_values=True))
    return received


async def _let_in_the_last(listening: asyncio.Server) -> None:
    """Close the port when no connection waits in its queue.

    Closing would reset those, and a load balancer can't send their requests to another process,
    because this one may have carried them out.
    """
    for _ in range(LAST_LOOKS):
        await _let_the_loop_turn()
        if not select.select(listening.sockets, (), (), 0)[0]:
            break
    listening.close()
    await _let_the_loop_turn()


async def _let_the_loop_turn() -> None:
    """After three turns, the server knows a connection that was accepted in the first."""
    for _ in range(TURNS):
        await asyncio.sleep(0)  # noqa: TID251 - a turn of the loop, no time


class Seldom:
    """Logs each action once a minute, with the number left out in between.

    Anybody can connect to this port, and must not be able to fill the log.
    """

    def __init__(self) -> None:
        self._logged_at: dict[str, float] = {}
        self._left_out = Counter[str]()

    def warn(self, action: str, message: str, **fields: object) -> None:
        now = time.monotonic()
        if now - self._logged_at.get(action, float("-inf")) < SELDOM_SECONDS:
            self._left_out[action] += 1
            return
        self._logged_at[action] = now
        left_out = self._left_out.pop(action, 0)
        logger.warning(message, extra={"action": action, "left_out": left_out, **fields})

    def filter(self, record: logging.LogRecord) -> bool:
        """Replace the libraries' records that strangers cause by one a minute."""
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, HttpProcessingError):
            self.warn("request_malformed", "a request was not HTTP", error=type(error).__name__)
        elif record.getMessage().startswith("socket.accept() out of system resource"):
            self.warn("no_files", "no more connections can be opened")
        else:
            return True
        return False
