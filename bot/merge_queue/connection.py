"""The HTTP connections: send a request once and hand back the bytes of the answer."""

import asyncio
import ssl
from contextlib import nullcontext
from urllib.parse import urlsplit

import httpx
from pydantic import SecretStr
from typing_extensions import override

import bot
from bot.domain.errors import (
    LookedTooLongAgo,
    MergeQueueError,
    MergeQueueProtocolError,
    MergeQueueUnavailable,
)
from bot.merge_queue.answer import Answer, collect_headers
from bot.merge_queue.decoding import ACCEPTED
from bot.merge_queue.requests import Request
from bot.merge_queue.retries import Patience
from bot.merge_queue.transport import OverHttpx, transport_to
from bot.ports import Clock

GATE = 8
"""Requests in flight, where it is not said otherwise."""

FOR_PEOPLE = 1
"""Of them so many are never taken by the schedule: what people ask does not wait behind it."""

KEEPALIVE_SECONDS = 90.0
"""Well above the interval of polls, which would otherwise connect anew each time."""

SHORTEST_SECRET = 8
"""Characters; a credential with fewer is one of a trial."""

LONGEST_REDIRECTION = 3
_REDIRECTS = frozenset({301, 302, 303, 307, 308})

_NOT_SENT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
    httpx.LocalProtocolError,
)
"""Raised before the first byte of a request leaves."""


class Connection:
    """Requests and answers as httpx has them, and the only holder of the credential."""

    def __init__(  # noqa: PLR0913  # told by name, by one caller
        self,
        *,
        base_url: str,
        token: SecretStr,
        clock: Clock,
        patience: Patience,
        requests_at_once: int,
        transport: httpx.AsyncBaseTransport | None,
        trust: ssl.SSLContext | None,
    ) -> None:
        self._base = _checked_base_url(base_url)
        self._credential = _Credential(token)
        self._headers = _Headers(
            {
                "Accept": "application/json",
                "Accept-Encoding": ACCEPTED,
                "User-Agent": f"mqbot/{bot.__version__}",
                "Authorization": self._credential.field,
            }
        )
        self._clock = clock
        self._gate = asyncio.Semaphore(requests_at_once)
        self._scheduled = asyncio.Semaphore(requests_at_once - FOR_PEOPLE)
        self._transport = (
            transport_to(
                self._base,
                trust=trust,
                connections=requests_at_once,
                keepalive=KEEPALIVE_SECONDS,
                connect=patience.connect,
                read=patience.read,
            )
            if transport is None
            else OverHttpx(transport, httpx.Timeout(patience.read, connect=patience.connect))
        )

    async def aclose(self) -> None:
        await self._transport.aclose()

    @property
    def address(self) -> str:
        return str(self._base)

    async def exchange(
        self, request: Request, *, within: float, behind_people: bool = False
    ) -> Answer:
        """One attempt of at most `within` seconds, waiting for the gate included.

        With `behind_people` it leaves FOR_PEOPLE of the requests in flight to others. Raises
        LookedTooLongAgo when the request may not be sent any more, MergeQueueUnavailable when no
        whole answer came, MergeQueueProtocolError when the answer is too large, cannot be decoded,
        or sends us to another address.
        """
        left = False
        try:
            async with (
                asyncio.timeout(within),
                self._scheduled if behind_people else nullcontext(),
                self._gate,
            ):
                if request.may_send is not None and not request.may_send():
                    raise LookedTooLongAgo
                left = True
                return await self._follow(request)
        except TimeoutError:
            failure: MergeQueueError = MergeQueueUnavailable("no answer in time", arrived=left)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            failure = _translated(error)
        # Raised here and not `from`: the library's exception leads to the request's headers,
        # and a log that prints local variables would print the credential with them.
        raise failure

    async def _follow(self, request: Request) -> Answer:
        """Follow a read to another path of the same origin; the credential goes nowhere else."""
        url = f"{self._base}{request.target}"
        for _ in range(LONGEST_REDIRECTION + 1):
            answer = await self._send(request, url)
            location = answer.header("location")
            if answer.status not in _REDIRECTS or location is None:
                return answer
            target = httpx.URL(url).join(location)
            if not request.is_read or _origin(target) != _origin(self._base):
                raise MergeQueueProtocolError(f"a redirection to {target.host or 'nowhere'}")
            url = str(target.copy_with(fragment=None))
        raise MergeQueueProtocolError("too many redirections")

    async def _send(self, request: Request, url: str) -> Answer:
        """By the transport itself: of what httpx's client adds to it, nothing is wanted.

        It keeps cookies, follows redirections to any host and has hooks, for a quarter of the
        CPU of a request.
        """
        received = await self._transport.send(
            request.method, url, self._headers_of(request), request.body
        )
        return Answer(
            received.status,
            self._clock.now(),
            collect_headers(received.fields),
            self._credential.redacted(bytes(received.body.content)),
        )

    def _headers_of(self, request: Request) -> "_Headers":
        if request.body is None:
            return self._headers
        return _Headers({**self._headers, "Content-Type": "application/json"})


class _Headers(dict[str, str]):
    """A log that prints local variables does not print the credential."""

    @override
    def __repr__(self) -> str:
        return f"{{{', '.join(self)}: …}}"


class _Credential:
    """Of either kind, as a Bearer token (API document, Authentication)."""

    def __init__(self, token: SecretStr) -> None:
        secret = token.get_secret_value()
        if not secret or not secret.isascii() or not secret.isprintable() or " " in secret:
            msg = "the credential has characters that no token has"
            raise ValueError(msg)
        self._token = token

    @override
    def __repr__(self) -> str:
        return "Bearer(…)"

    @property
    def field(self) -> str:
        """Of the header `Authorization`."""
        return f"Bearer {self._token.get_secret_value()}"

    def redacted(self, body: bytes) -> bytes:
        """Without the credential: a service may quote it, and answers are told of in errors.

        A shorter one than any secret is left: it stands in times and names that are none of it.
        """
        secret = self._token.get_secret_value().encode()
        return body.replace(secret, b"[credential]") if len(secret) >= SHORTEST_SECRET else body


def _translated(error: httpx.HTTPError | httpx.InvalidURL) -> MergeQueueError:
    if isinstance(error, httpx.InvalidURL):
        return MergeQueueProtocolError("a redirection to an address that is none")
    if isinstance(error, httpx.TimeoutException):
        what = "no answer in time"
    elif isinstance(error, _NOT_SENT):
        what = "no connection"
    else:
        what = "the connection was lost"
    told = " ".join(str(error).split())[:200]
    return MergeQueueUnavailable(
        f"{what}: {told}" if told else what, arrived=not isinstance(error, _NOT_SENT)
    )


def _checked_base_url(base_url: str) -> httpx.URL:
    """The service's address without a slash at its end; ValueError when it cannot be one."""
    try:
        # httpx lets ports of six digits and half brackets pass; these two lines do not.
        _ = urlsplit(base_url).port
        url = httpx.URL(base_url.rstrip("/"))
    except (ValueError, httpx.InvalidURL):
        url = httpx.URL()
    if url.scheme not in {"http", "https"} or not url.host:
        msg = "the service's address is http:// or https://, a host, perhaps a port, and a path"
        raise ValueError(msg)
    if url.userinfo or url.query or url.fragment:
        msg = "the service's address has no user, query or fragment"
        raise ValueError(msg)
    return url


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    """Comparable: the default port of a scheme is left out by httpx."""
    return url.scheme, url.host, url.port
