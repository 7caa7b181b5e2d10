"""A transport for httpx with a pool of one connection for each request in flight.

httpx looks at each idle connection of a pool with every request, which takes as much CPU as the
request itself when eight are kept.
"""

import ssl
from collections.abc import AsyncIterator, Callable

import httpx
from typing_extensions import override


class Connections(httpx.AsyncBaseTransport):
    """Takes at most `amount` requests at once, the caller's concern; the last used goes first."""

    def __init__(self, amount: int, *, verify: ssl.SSLContext, keepalive: float) -> None:
        limits = httpx.Limits(max_connections=1, keepalive_expiry=keepalive)
        self._all = [httpx.AsyncHTTPTransport(verify=verify, limits=limits) for _ in range(amount)]
        self._free = list(self._all)

    @override
    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        transport = self._free.pop()
        try:
            response = await transport.handle_async_request(request)
        except BaseException:
            self._free.append(transport)
            raise
        return httpx.Response(
            response.status_code,
            headers=response.headers,
            stream=_Body(response, lambda: self._free.append(transport)),
            extensions=response.extensions,
        )

    @override
    async def aclose(self) -> None:
        for transport in self._all:
            await transport.aclose()


class _Body(httpx.AsyncByteStream):
    """Tells when the connection is free again."""

    def __init__(self, response: httpx.Response, free: Callable[[], None]) -> None:
        self._response = response
        self._free = free

    @override
    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._response.aiter_raw():
            yield piece

    @override
    async def aclose(self) -> None:
        try:
            await self._response.aclose()
        finally:
            self._free()
