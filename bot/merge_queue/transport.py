"""What carries requests below httpx: aiohttp, or httpx's own where there is a proxy.

Nearly all requests are looks at event logs. httpx's own way, through h11 and three layers of
streams in Python, takes more than twice the CPU of aiohttp's compiled parser.
"""

import ssl
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import NamedTuple, Protocol
from urllib.request import getproxies, proxy_bypass

import aiohttp
import httpx
from typing_extensions import override
from yarl import URL

from bot.domain.errors import ConfigurationError
from bot.domain.proxies import is_loopback, proxy_at
from bot.merge_queue.decoding import Body

_LONGEST_FIELD = 64 * 1024
"""Bytes of a header field: a Link carries a cursor and the address with all its filters."""

_AS_HTTPX = (
    (aiohttp.ConnectionTimeoutError, httpx.ConnectTimeout),
    (aiohttp.ServerTimeoutError, httpx.ReadTimeout),
    (aiohttp.ClientConnectorError, httpx.ConnectError),
    (aiohttp.ClientConnectionError, httpx.ReadError),
    (aiohttp.InvalidURL, httpx.UnsupportedProtocol),
    (aiohttp.ClientError, httpx.RemoteProtocolError),
)
"""The first that fits is meant, since most of these are kinds of others."""


class Received(NamedTuple):
    """A whole answer; `fields` are those of its header, in their order."""

    status: int
    fields: Iterable[tuple[str, str]]
    body: Body


class Transport(Protocol):
    """Sends requests as they are, each once."""

    async def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None
    ) -> Received:
        """Raises httpx.HTTPError, and MergeQueueProtocolError for a body that cannot be taken."""
        ...

    async def aclose(self) -> None:
        """Close the connections."""
        ...


def transport_to(
    address: httpx.URL,
    *,
    trust: ssl.SSLContext | None,
    connections: int,
    keepalive: float,
    connect: float,
    read: float,
) -> Transport:
    """What carries at most `connections` requests at once to the service at `address`.

    A connection is kept for `keepalive` seconds after its last request; `connect` and `read` are
    the seconds until there is one, and of one silence. A proxy and certificates named by the
    environment are wanted towards the world, but a service on this machine is not behind the
    proxy. `trust` stands for the certificates when it is given. Raises ConfigurationError when the
    environment names a proxy or certificates that cannot be used.
    """
    is_here = is_loopback(address.host)
    context = trust or _tls_context(trust_env=not is_here)
    proxy = None if is_here else _proxy_towards(address)
    if proxy is not None:
        limits = httpx.Limits(max_connections=connections, keepalive_expiry=keepalive)
        carrying = httpx.AsyncHTTPTransport(
            verify=context, limits=limits, proxy=proxy, trust_env=False
        )
        return OverHttpx(carrying, httpx.Timeout(read, connect=connect))
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=connect, sock_read=read)
    return OverAiohttp(context, timeout, connections=connections, keepalive=keepalive)


class OverHttpx(Transport):
    """By a transport of httpx's own."""

    def __init__(self, transport: httpx.AsyncBaseTransport, timeout: httpx.Timeout) -> None:
        self._transport = transport
        self._extensions = {"timeout": timeout.as_dict()}

    @override
    async def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None
    ) -> Received:
        request = httpx.Request(
            method, url, headers=headers, content=body, extensions=self._extensions
        )
        response = await self._transport.handle_async_request(request)
        try:
            taken = Body(response.headers.get("content-encoding", ""))
            async for piece in response.aiter_raw():
                taken.add(piece)
        finally:
            await response.aclose()
        return Received(response.status_code, response.headers.multi_items(), taken)

    @override
    async def aclose(self) -> None:
        await self._transport.aclose()


class OverAiohttp(Transport):
    """Tells what went wrong in httpx's exceptions.

    It makes no request of httpx's, and no answer: to take an address apart and to put headers
    together anew each time takes a third of the CPU of a look at an event log.
    """

    def __init__(
        self,
        trust: ssl.SSLContext,
        timeout: aiohttp.ClientTimeout,
        *,
        connections: int,
        keepalive: float,
    ) -> None:
        self._trust = trust
        self._timeout = timeout
        self._connections = connections
        self._keepalive = keepalive
        self._session: aiohttp.ClientSession | None = None

    @override
    async def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None
    ) -> Received:
        # Not before: a session belongs to the event loop that is running when it is made.
        self._session = self._session or self._opened()
        with _told_as_httpx_does():
            response = await self._session.request(
                method, URL(url, encoded=True), headers=headers, data=body, allow_redirects=False
            )
            try:
                taken = Body(response.headers.get("content-encoding", ""))
                async for piece in response.content.iter_any():
                    taken.add(piece)
            finally:
                # A connection of which not all was read is not used again.
                response.close()
        return Received(response.status, _fields_of(response), taken)

    def _opened(self) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=self._connections, keepalive_timeout=self._keepalive, ssl=self._trust
            ),
            timeout=self._timeout,
            middlewares=(_once,),
            cookie_jar=aiohttp.DummyCookieJar(),
            # httpx decodes by the same header, and says so when it cannot.
            auto_decompress=False,
            max_line_size=_LONGEST_FIELD,
            max_field_size=_LONGEST_FIELD,
        )

    @override
    async def aclose(self) -> None:
        if self._session is not None:
            await self._session.close()


def _fields_of(response: aiohttp.ClientResponse) -> list[tuple[str, str]]:
    """As httpx reads them: in UTF-8 if all are, else each byte a character."""
    raw = response.raw_headers
    try:
        return [(name.decode(), text.decode()) for name, text in raw]
    except UnicodeDecodeError:
        return [(name.decode("latin-1"), text.decode("latin-1")) for name, text in raw]


async def _once(
    request: aiohttp.ClientRequest, send: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    """Keep aiohttp from sending a request again by itself, as it does when a connection was lost.

    It knows a loss by exceptions of its own, so it is told httpx's. Whether a request may go twice
    is decided in bot.merge_queue.retries.
    """
    with _told_as_httpx_does():
        return await send(request)


@contextmanager
def _told_as_httpx_does() -> Iterator[None]:
    try:
        yield
    except aiohttp.ClientError as error:
        meant = next(meant for kind, meant in _AS_HTTPX if isinstance(error, kind))
        raise meant(_told(error)) from error


def _told(error: aiohttp.ClientError) -> str:
    """The host is known to whoever reads it, and how aiohttp was told of certificates no matter."""
    cause = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    return getattr(cause, "strerror", None) or str(cause)


@cache
def _tls_context(*, trust_env: bool) -> ssl.SSLContext:
    """Reading the certificates costs 40 ms of CPU: once is enough for a process.

    Raises ConfigurationError when those that the environment names cannot be read.
    """
    try:
        return httpx.create_ssl_context(trust_env=trust_env)
    except OSError as error:
        problem = f"names no file of certificates that can be read ({error.strerror})"
        raise ConfigurationError({"SSL_CERT_FILE": problem}) from None


def _proxy_towards(address: httpx.URL) -> str | None:
    """As `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` say.

    Raises ConfigurationError when it is none for HTTP.
    """
    if proxy_bypass(address.netloc.decode("ascii")):
        return None
    proxies = getproxies()
    for_what = address.scheme if proxies.get(address.scheme) else "all"
    proxy = proxies.get(for_what)
    return proxy_at(proxy, f"{for_what.upper()}_PROXY") if proxy else None
