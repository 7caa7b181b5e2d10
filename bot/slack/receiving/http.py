"""HTTP mode: Slack's signed requests go to the reception."""

import asyncio
import json
import logging
from collections.abc import Iterable
from urllib.parse import parse_qsl

from aiohttp import web
from aiohttp.typedefs import Handler
from pydantic import SecretStr
from slack_bolt.adapter.aiohttp import to_aiohttp_response

from bot.ports import Clock
from bot.slack.receiving.door import Door, Seldom
from bot.slack.receiving.once import RETRY
from bot.slack.receiving.reception import Json, Reception
from bot.slack.receiving.signature import NotSlack, Signature

logger = logging.getLogger(__name__)

EVENTS_PATH = "/slack/events"

KEPT_SECONDS = 75.0
"""A connection without requests is kept that long: balancers reuse theirs within a minute."""

STRANGERS_LOGGERS = ("asyncio", "aiohttp.server")
"""Where libraries log what anybody can cause who connects."""

LARGEST_BODY = 1024 * 1024
"""Bytes. Slack's largest payloads, a modal with its state, are a few hundred thousand."""

RETRY_REASON = "x-slack-retry-reason"

MOST_FIELDS = 100
READ_SECONDS = 3.0
"""Slack gives up after that, so nobody waits for the rest of a body."""

DRAIN_SECONDS = 4.0
"""Longer than a body may take, so that no request under way is cut off."""


class HttpServer:
    """Listens for Slack on one path, from the first moment, so that the process counts as alive.

    Until `serve` is called it turns Slack away; Slack sends events again.
    """

    def __init__(self, signing_secret: SecretStr, clock: Clock) -> None:
        self._signature = Signature(signing_secret, clock)
        self._reception: Reception | None = None
        self._runner: web.AppRunner | None = None
        self._door: Door | None = None
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
        )
        await self._runner.setup()
        server = self._runner.server
        if server is None:
            raise ValueError("a runner that is set up has a server")
        for name in STRANGERS_LOGGERS:
            logging.getLogger(name).addFilter(self._seldom)
        self._door = Door(server, self._seldom)
        self.port = await self._door.open(host, port)
        logger.info(
            "listening for Slack", extra={"action": "http_open", "host": host, "port": self.port}
        )

    def serve(self, reception: Reception) -> None:
        """Hand requests to `reception` from now on."""
        self._reception = reception

    async def close(self) -> None:
        """Take no more connections; who has one already is still answered. May be called twice."""
        if self._door is not None:
            await self._door.close()
        if self._runner is not None:
            await self._runner.cleanup()
        for name in STRANGERS_LOGGERS:
            logging.getLogger(name).removeFilter(self._seldom)

    @web.middleware
    async def _hear(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if self._door is not None:
            self._door.heard(request.protocol)
        try:
            answer = await handler(request)
        except web.HTTPException as refusal:
            # Only who is let in keeps a connection: the number of them is limited.
            refusal.force_close()
            raise
        if request.path != EVENTS_PATH:
            answer.force_close()
        return answer

    async def _on_request(self, request: web.Request) -> web.Response:
        try:
            async with asyncio.timeout(READ_SECONDS):
                raw = await request.read()
        except TimeoutError:
            raise web.HTTPRequestTimeout from None
        try:
            self._signature.require(request.headers, raw)
        except NotSlack as error:
            # Never the body: an address to answer to, or what a person typed, may be in it.
            self._seldom.warn(
                error.reason,
                "a request that is not Slack's was refused",
                {
                    "action": "signature_refused",
                    "reason": error.reason,
                    "remote": request.remote,
                    "length": len(raw),
                },
            )
            raise web.HTTPUnauthorized from None
        body = read_body(request.content_type, raw.decode())
        if body is None:
            logger.warning("a request was not understood", extra={"action": "request_unreadable"})
            raise web.HTTPBadRequest
        if self._reception is None:
            raise web.HTTPServiceUnavailable
        retry = request.headers.get(RETRY)
        if retry is not None:
            _log_retry(retry, request.headers.get(RETRY_REASON, ""))
        return await to_aiohttp_response(await self._reception.acknowledge(body, retry))


def read_body(content_type: str, text: str) -> Json | None:
    """What Slack sends: JSON for events, a form for commands, JSON in a form for interactions.

    None for anything else.
    """
    try:
        found = json.loads(text) if content_type == "application/json" else _of_form(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and found else None


def _of_form(text: str) -> object:
    fields = dict(
        parse_qsl(text, keep_blank_values=True, strict_parsing=True, max_num_fields=MOST_FIELDS)
    )
    return json.loads(fields["payload"]) if "payload" in fields else fields


def _log_retry(number: str, reason: str) -> None:
    logger.info(
        "Slack tries again",
        extra={"action": "slack_retries", "number": number[:10], "reason": reason[:40]},
    )
