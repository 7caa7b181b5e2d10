"""A small load balancer: it passes requests on, to the next process if one refuses."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self
from urllib.parse import parse_qsl

import aiohttp
from aiohttp import web

PASSED_ON = ("Content-Type", "X-Slack-Signature", "X-Slack-Request-Timestamp", "X-Slack-Retry-Num")
FORWARD_SECONDS = 10.0


@dataclass(frozen=True, slots=True, eq=False)
class Taken:
    """A request that the process with this port has answered; the fields of its form, if any."""

    port: int
    fields: dict[str, str]


@dataclass
class LoadBalancer:
    """Shares requests out in turn; a connection that is refused goes to the next process.

    What was sent to a process is never sent again: it may have been acted upon.
    """

    ports: list[int] = field(default_factory=list)
    refused: int = 0
    taken: list[Taken] = field(default_factory=list, init=False)
    port: int = field(default=0, init=False)
    _turns: Iterator[int] = field(default_factory=itertools.count, init=False)

    async def __aenter__(self) -> Self:
        timeout = aiohttp.ClientTimeout(total=FORWARD_SECONDS)
        # No connection is kept: one that its process closes meanwhile is not “refused”.
        self._session = aiohttp.ClientSession(
            timeout=timeout, connector=aiohttp.TCPConnector(force_close=True)
        )
        application = web.Application()
        application.router.add_post("/{path:.*}", self._forward)
        self._runner = web.AppRunner(application, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._runner.cleanup()
        await self._session.close()

    async def _forward(self, request: web.Request) -> web.Response:
        body = await request.read()
        headers = {name: request.headers[name] for name in PASSED_ON if name in request.headers}
        for port in self._under_lock():
            url = f"http://127.0.0.1:{port}{request.path_qs}"
            try:
                async with self._session.post(url, data=body, headers=headers) as answer:
                    given = await answer.read()
                    self.taken.append(Taken(port, dict(parse_qsl(body.decode()))))
                    return web.Response(
                        status=answer.status, body=given, content_type=answer.content_type
                    )
            except aiohttp.ClientConnectorError:
                self.refused += 1
        return web.Response(status=502)

    def _under_lock(self) -> list[int]:
        ports = list(self.ports)
        first = next(self._turns) % max(1, len(ports))
        return [*ports[first:], *ports[:first]]
