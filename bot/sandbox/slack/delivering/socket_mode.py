"""Socket Mode: connections, envelopes, acknowledgements, and events sent again."""

import asyncio
import contextlib
import json
import random
import secrets
import time
import uuid
from dataclasses import dataclass, field
from functools import partial

from aiohttp import WSCloseCode, WSMsgType, web

from bot.sandbox.slack.delivering.background import Background, FirstFate, settle
from bot.sandbox.slack.delivering.delivery import (
    NOT_CONNECTED,
    TIMEOUT,
    AcknowledgementMissed,
    AppNotConnected,
    Payload,
    Terms,
)
from bot.sandbox.slack.faults import LOSE_PAYLOAD, REPEAT_PAYLOAD
from bot.sandbox.slack.wire import Json

CONNECTIONS_LIMIT = 10
TICKET_SECONDS = 30.0
CONNECTION_SECONDS = 18_060
DEBUG_CONNECTION_SECONDS = 360
_WARNING_SECONDS = 10
_REFUSED_HANDSHAKE = 408
LONGEST_FRAME = 20_480
"""Bytes of a frame from the app; Slack closes the connection for a longer one, with code 1009.

Seen in production: https://github.com/revelrylabs/slax/pull/614.
"""


@dataclass(eq=False)
class Connection:
    """One open WebSocket of the app."""

    id: str
    socket: web.WebSocketResponse
    transport: asyncio.Transport | None
    is_half_open: bool = False  #: nothing goes through it in either direction, without an error
    is_quiet: bool = False  #: nothing has come over it since the last ping
    timers: list[asyncio.TimerHandle] = field(default_factory=list)


class SocketMode:
    """Sends each payload to any one open connection and waits for its acknowledgement."""

    def __init__(self, app_id: str, chance: random.Random, terms: Terms) -> None:
        self._app_id = app_id
        self._chance = chance
        self._terms = terms
        self._tickets: dict[str, float] = {}
        self._connections: list[Connection] = []
        self._waiting: dict[str, tuple[Connection, asyncio.Future[Json]]] = {}
        self._background = Background()

    @property
    def connections(self) -> int:
        return len(self._connections)

    def new_ticket(self) -> str:
        """Mint a ticket, good for one handshake within half a minute."""
        now = time.monotonic()
        self._tickets = {each: until for each, until in self._tickets.items() if until > now}
        ticket = secrets.token_urlsafe(24)
        self._tickets[ticket] = now + TICKET_SECONDS
        return ticket

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Serve one connection from its handshake to its end."""
        until = self._tickets.pop(request.match_info["ticket"], 0.0)
        if self._terms.faults.take(frozenset({"refuse_handshake"})) or until < time.monotonic():
            return web.Response(status=_REFUSED_HANDSHAKE, text="Request Timeout")
        # Pings are ours to send and to answer: a half-open connection does neither.
        socket = web.WebSocketResponse(autoping=False, max_msg_size=0)
        await socket.prepare(request)
        connection = Connection(uuid.uuid4().hex[:12], socket, request.transport)
        if len(self._connections) >= CONNECTIONS_LIMIT:
            await self._disconnect(connection, "too_many_websockets")
            return socket
        self._connections.append(connection)
        self._terms.on_connections()
        pinging = asyncio.create_task(self._keep_pinging(connection))
        try:
            await self._greet(connection, debug="debug_reconnects" in request.query)
            await self._listen(connection)
        finally:
            pinging.cancel()
            self._forget(connection)
        return socket

    async def _greet(self, connection: Connection, *, debug: bool) -> None:
        seconds = DEBUG_CONNECTION_SECONDS if debug else CONNECTION_SECONDS
        await connection.socket.send_json(
            {
                "type": "hello",
                "num_connections": len(self._connections),
                "debug_info": {
                    "host": f"sandbox-{connection.id}",
                    "build_number": 1,
                    "approximate_connection_time": seconds,
                },
                "connection_info": {"app_id": self._app_id},
            }
        )
        loop = asyncio.get_running_loop()
        for delay, reason in (
            (seconds - _WARNING_SECONDS, "warning"),
            (seconds, "refresh_requested"),
        ):
            timer = loop.call_later(delay, self._start_disconnect, connection, reason)
            connection.timers.append(timer)

    async def _listen(self, connection: Connection) -> None:
        async for frame in connection.socket:
            connection.is_quiet = False
            if connection.is_half_open:
                continue
            if frame.type is WSMsgType.TEXT and len(frame.data.encode()) > LONGEST_FRAME:
                said = f"Max frame length of {LONGEST_FRAME} has been exceeded."
                await connection.socket.close(
                    code=WSCloseCode.MESSAGE_TOO_BIG, message=said.encode()
                )
                return
            if frame.type is WSMsgType.TEXT:
                self._take_answer(frame.data)
            elif frame.type is WSMsgType.PING:
                await connection.socket.pong(frame.data)

    async def _keep_pinging(self, connection: Connection) -> None:
        """Break a connection that says nothing between two pings, unless it is half-open."""
        with contextlib.suppress(ConnectionError):
            while True:
                await asyncio.sleep(self._terms.ping_seconds)
                if connection.is_half_open:
                    return
                if connection.is_quiet and connection.transport is not None:
                    connection.transport.abort()
                    return
                connection.is_quiet = True
                await connection.socket.ping()

    def _take_answer(self, text: str) -> None:
        """Take an acknowledgement, on whichever connection it comes; ignore anything else."""
        with contextlib.suppress(ValueError):
            frame = json.loads(text)
            envelope_id = frame.get("envelope_id") if isinstance(frame, dict) else None
            if isinstance(envelope_id, str) and envelope_id in self._waiting:
                _, answer = self._waiting[envelope_id]
                content = frame.get("payload")
                if not answer.done():
                    answer.set_result(content if isinstance(content, dict) else {})

    def _forget(self, connection: Connection) -> None:
        for timer in connection.timers:
            timer.cancel()
        if connection in self._connections:
            self._connections.remove(connection)
            self._terms.on_connections()

    async def deliver(self, payload: Payload) -> Json:
        """Send a payload to any one connection, once (see `Delivery`)."""
        return await self._send(payload, {})

    async def _send(self, payload: Payload, extra: Json) -> Json:
        open_now = [each for each in self._connections if not each.socket.closed]
        if not open_now:
            raise AppNotConnected
        connection = self._chance.choice(open_now)
        envelope_id = str(uuid.UUID(int=self._chance.getrandbits(128), version=4))
        envelope = {
            "envelope_id": envelope_id,
            "payload": payload.body,
            "type": payload.kind,
            "accepts_response_payload": payload.answerable,
            **extra,
        }
        answer: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._waiting[envelope_id] = (connection, answer)
        try:
            if not self._terms.faults.take(LOSE_PAYLOAD) and not connection.is_half_open:
                await connection.socket.send_json(envelope)
            if self._terms.faults.take(REPEAT_PAYLOAD) and not connection.is_half_open:
                await connection.socket.send_json(envelope)
            content = await asyncio.wait_for(answer, self._terms.ack_seconds)
        except (TimeoutError, ConnectionError):
            raise AcknowledgementMissed from None
        finally:
            del self._waiting[envelope_id]
        return content if payload.answerable else {}

    def announce(self, payload: Payload) -> asyncio.Future[str | None]:
        """Send an event in the background and up to three times more (see `Delivery`)."""
        return self._background.announce(partial(self._announce, payload))

    async def _announce(self, payload: Payload, first: FirstFate) -> None:
        extra: Json = {"retry_attempt": 0, "retry_reason": ""}
        for attempt, delay in enumerate((*self._terms.event_retry_seconds, None), 1):
            try:
                await self._send(payload, extra)
            except AppNotConnected:
                reason = "connection_failed"
                error = NOT_CONNECTED
            except AcknowledgementMissed:
                reason = "timeout"
                error = TIMEOUT
            else:
                settle(first, None)
                return
            settle(first, error)
            if delay is None:
                return
            await asyncio.sleep(delay)
            extra = {"retry_attempt": attempt, "retry_reason": reason}

    def disconnect_all(self, reason: str) -> int:
        """Ask every connection to reconnect, as Slack does; return how many there were."""
        warned = list(self._connections)
        for connection in warned:
            self._start_disconnect(connection, reason)
        return len(warned)

    def drop_all(self) -> int:
        """Break every connection without a word; gives how many there were."""
        dropped = list(self._connections)
        for connection in dropped:
            self._forget(connection)
            _abort(connection)
        return len(dropped)

    def let_go_half_open(self) -> int:
        """Make one connection deaf and mute; it stays counted until its hours are over."""
        usable = [each for each in self._connections if not each.is_half_open]
        if not usable:
            return 0
        connection = self._chance.choice(usable)
        connection.is_half_open = True
        if connection.transport is not None:
            # Not even the end of the connection is seen from here on.
            connection.transport.pause_reading()
        return 1

    def _start_disconnect(self, connection: Connection, reason: str) -> None:
        self._background.start(self._disconnect(connection, reason))

    async def _disconnect(self, connection: Connection, reason: str) -> None:
        if connection.is_half_open:
            self._forget(connection)
            _abort(connection)
            return
        host = {"host": f"sandbox-{connection.id}"}
        frame = {"type": "disconnect", "reason": reason, "debug_info": host}
        with contextlib.suppress(ConnectionError):
            await connection.socket.send_json(frame)
            if reason == "warning":
                # The connection stays usable until the refresh ten seconds later.
                return
            self._forget(connection)
            await connection.socket.close()

    async def stop(self) -> None:
        """End every connection and what is still being sent."""
        await self._background.stop()
        for connection in list(self._connections):
            self._forget(connection)
            if connection.is_half_open:
                _abort(connection)
            else:
                await connection.socket.close()


def _abort(connection: Connection) -> None:
    if connection.transport is not None:
        connection.transport.abort()
