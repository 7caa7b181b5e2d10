"""Health, readiness and metrics over HTTP, for monitoring."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AsyncExitStack
from http import HTTPStatus

from aiohttp import web

from bot.http.server import HttpServer

logger = logging.getLogger(__name__)

HEALTH_PATH = "/healthz"
READINESS_PATH = "/readyz"
METRICS_PATH = "/metrics"

UNRESPONSIVE = "does not answer"

Check = Callable[[], str | Awaitable[str | None] | None]
"""What is wrong, in a few fixed words, or None. One that raises, or takes too long,
counts as wrong; the answer does not wait for its end."""

Scrape = Callable[[], Awaitable[bytes]]


class Health:
    """The checks by name. Until `begin` is called the process is healthy but not ready."""

    def __init__(self, seconds: float) -> None:
        """`seconds`: the time for a check."""
        self.seconds = seconds
        self._checks: dict[str, Check] = {"started": lambda: "still starting"}
        self._running: dict[str, asyncio.Task[str | None]] = {}

    def add(self, name: str, check: Check) -> None:
        self._checks[name] = check

    def begin(self) -> None:
        """Start-up is complete."""
        del self._checks["started"]

    def end(self) -> None:
        """The process is stopping and should get no more requests."""
        self._checks["stopping"] = lambda: "stopping"

    def routes(self) -> list[web.RouteDef]:
        return [web.get(HEALTH_PATH, _on_health), web.get(READINESS_PATH, self._on_readiness)]

    def public_routes(self) -> list[web.RouteDef]:
        """The same without the reasons, which name settings and faults of the database."""
        readiness = web.get(READINESS_PATH, self._on_public_readiness)
        return [web.get(HEALTH_PATH, _on_health), readiness]

    async def _on_public_readiness(self, request: web.Request) -> web.Response:
        status = (await self._on_readiness(request)).status
        return web.json_response({"ready": status == HTTPStatus.OK}, status=status)

    async def _on_readiness(self, _request: web.Request) -> web.Response:
        names = list(self._checks)
        answers = await asyncio.gather(*(self._ask(name) for name in names))
        problems = {name: said for name, said in zip(names, answers, strict=True) if said}
        known = {name: name not in problems for name in names}
        return web.json_response(
            {"ready": not problems, "checks": known, "problems": problems},
            status=503 if problems else 200,
        )

    async def _ask(self, name: str) -> str | None:
        check = self._running.get(name)
        if check is None or check.done():
            check = self._running[name] = asyncio.create_task(_said_by(name, self._checks[name]))
        # Not cancelled: the transaction runs to its end, and requests meanwhile share it.
        done, _ = await asyncio.wait([check], timeout=self.seconds)
        if not done:
            _complain(name, "TimeoutError")
            return UNRESPONSIVE
        return check.result()


async def _said_by(name: str, check: Check) -> str | None:
    try:
        said = check()
        return await said if isinstance(said, Awaitable) else said
    except Exception as error:  # noqa: BLE001 - any failure means “not ready”
        _complain(name, type(error).__name__)
        return UNRESPONSIVE


def _complain(name: str, error: str) -> None:
    extra = {"action": "not_ready", "check": name, "error": error}
    logger.warning("not ready", extra=extra)


async def _on_health(_request: web.Request) -> web.Response:
    """The process answers, without the database: a slow one must not restart the process."""
    return web.json_response({"healthy": True})


async def open_port(
    stack: AsyncExitStack, host: str, port: int, routes: Iterable[web.RouteDef]
) -> int:
    """Listen for monitoring until `stack` closes, and return the port; 0 lets the system choose.

    Raises OSError when the address is in use.
    """
    server = HttpServer()
    stack.push_async_callback(server.close)
    await server.open(host, port, routes)
    extra = {"action": "health_open", "host": host, "port": server.port}
    logger.info("health port open", extra=extra)
    return server.port


def metrics_route(scrape: Scrape, content_type: str) -> web.RouteDef:
    """`/metrics` in the format that `content_type` names."""

    async def on_metrics(_request: web.Request) -> web.Response:
        return web.Response(body=await scrape(), headers={"Content-Type": content_type})

    return web.get(METRICS_PATH, on_metrics)
