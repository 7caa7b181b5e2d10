"""The httpx client: bounds answers in time, size and origin, and sends again what is safe."""

import asyncio
import logging
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from copy import copy
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from http.cookiejar import CookieJar, DefaultCookiePolicy
from itertools import count
from secrets import SystemRandom
from typing import Any, TypeVar
from urllib.parse import urlencode
from urllib.request import getproxies, proxy_bypass

import httpx
from pydantic import SecretStr
from typing_extensions import override

import bot
from bot.domain.errors import (
    ConfigurationError,
    LookedTooLongAgo,
    MergeQueueError,
    MergeQueueProtocolError,
    MergeQueueUnavailable,
)
from bot.domain.pacing import retry_delay
from bot.domain.proxies import is_loopback, proxy_at
from bot.merge_queue.errors import error_of
from bot.merge_queue.models import Call
from bot.merge_queue.statistics import Statistics
from bot.ports import Clock

logger = logging.getLogger(__name__)

T = TypeVar("T")

REQUESTS_AT_ONCE = 8
"""Requests in flight by default."""

KEPT_FOR_PEOPLE = 1
"""Of them, the schedule never takes so many: what people ask does not wait behind it."""

KEEPALIVE_SECONDS = 90.0
"""Well above the polling interval: otherwise each poll would open a new connection."""

LONGEST_WAIT = 300.0
"""Seconds. A service that asks for more is asked again all the same: it may be a mistake."""

LARGEST_BODY = 32 * 1024 * 1024

SHORTEST_SECRET = 8
"""Characters; a shorter credential is one of a trial, and stands in times and names."""

_ENCODINGS = frozenset({"", "identity", "gzip", "deflate"})
"""One layer at most: a few hundred bytes packed three times become gigabytes."""

_NOT_SENT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
    httpx.LocalProtocolError,
)
"""Raised before the first byte of a request leaves."""


SHORTEST_ATTEMPT = 0.5
"""Seconds that must be left for another attempt to make sense."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait, in seconds, and how often to try.

    `connect` and `read` bound one connection and one silence of the service, `total` a whole
    call with its retries: a person waits for the answer. `read_back` bounds the look at what
    became of a write whose answer was lost, and comes on top of `total`. `jitter` gives numbers
    from 0 to 1, which spread the waits.
    """

    connect: float = 3.0
    read: float = 5.0
    total: float = 8.0
    read_back: float = 4.0
    attempts: int = 3
    jitter: Callable[[], float] = SystemRandom().random

    def wait_before_retry(
        self, error: MergeQueueUnavailable, *, is_read: bool, attempt: int, remaining: float
    ) -> float | None:
        """Seconds to wait after the `attempt`-th attempt (1 for the first), None to give up.

        A write is sent again only when it certainly did not arrive. The service's own wait is
        honoured, but not beyond the `remaining` seconds: the caller is told of it instead.
        """
        if attempt >= self.attempts or not (is_read or not error.arrived):
            return None
        jitter = self.jitter()
        wait = retry_delay(attempt, hint=None, jitter=jitter)
        if error.retry_after is not None:
            wait = max(wait, retry_delay(attempt, hint=error.retry_after, jitter=jitter))
        return wait if wait + SHORTEST_ATTEMPT < remaining else None


PATIENCE = Patience()


class Http:
    """The service at `base_url`, over one httpx client for the whole process.

    `base_url` and `token` are as the settings take them; the token is in no log, exception or
    `repr`. `trust` replaces the usual certificates, `transport` the network. Raises
    ConfigurationError when a proxy or certificates that the environment names cannot be used.
    """

    def __init__(  # noqa: PLR0913  # told by name, and callers give three or four
        self,
        *,
        base_url: str,
        token: SecretStr,
        clock: Clock,
        patience: Patience = PATIENCE,
        requests_at_once: int = REQUESTS_AT_ONCE,
        transport: httpx.AsyncBaseTransport | None = None,
        trust: ssl.SSLContext | None = None,
    ) -> None:
        self.base_url = httpx.URL(base_url.rstrip("/"))
        self.clock = clock
        self.patience = patience
        self.statistics = Statistics()
        # A service may quote it, and errors show answers.
        secret = token.get_secret_value().encode()
        self._secret = secret if len(secret) >= SHORTEST_SECRET else b""
        self._in_flight = asyncio.Semaphore(requests_at_once)
        self._scheduled = asyncio.Semaphore(requests_at_once - KEPT_FOR_PEOPLE)
        self.turn: AbstractAsyncContextManager[None] = nullcontext()
        """Held during each request, besides one of the `requests_at_once`."""
        is_here = is_loopback(self.base_url.host)
        verify = trust or _certificates(trust_env=not is_here)
        is_behind_proxy = not is_here and _is_behind_proxy(self.base_url)
        if transport is None and not is_behind_proxy:
            transport = Connections(requests_at_once, verify=verify, keepalive=KEEPALIVE_SECONDS)
        self._client = httpx.AsyncClient(
            # It stays with the configured address: no redirection is followed.
            headers={
                "Authorization": f"Bearer {token.get_secret_value()}",
                "Accept": "application/json",
                "Accept-Encoding": "gzip, deflate",
                "User-Agent": f"mqbot/{bot.__version__}",
            },
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
            timeout=httpx.Timeout(patience.read, connect=patience.connect),
            limits=httpx.Limits(
                max_connections=requests_at_once, keepalive_expiry=KEEPALIVE_SECONDS
            ),
            verify=verify,
            trust_env=is_behind_proxy,
            transport=transport,
        )

    async def aclose(self) -> None:
        await self._client.aclose()

    def scheduled(self) -> "Http":
        """The same for the schedule, which leaves KEPT_FOR_PEOPLE of the requests to people."""
        scheduled = copy(self)
        scheduled.turn = self._scheduled
        return scheduled

    async def call(
        self, call: Call, read: Callable[[httpx.Response], T], *, total: float | None = None
    ) -> T:
        """Send a request, again where that is safe, and read its answer.

        `total` is in seconds, that of `patience` by default. Raises only MergeQueueError, and
        LookedTooLongAgo when `may_send` says no.
        """
        deadline = self.clock.monotonic() + (self.patience.total if total is None else total)
        for attempt in count(1):
            try:
                response = await self._send(call, deadline - self.clock.monotonic())
                if response.status_code not in call.expected:
                    raise error_of(response, self.clock.now(), self._url(call))
                answer = read(response)
            except MergeQueueProtocolError as error:
                self.statistics.unreadable_answers[call.endpoint] += 1
                text = "An answer of the merge queue service could not be read"
                _log(logging.WARNING, text, "answer_unreadable", call, problem=error.detail)
                raise
            except MergeQueueUnavailable as error:
                wait = self._wait(call, error, attempt, deadline - self.clock.monotonic())
                if wait is None:
                    error.last_answer_at = self.statistics.last_answer_at
                    raise
            else:
                self.statistics.last_answer_at = self.clock.now()
                return answer
            await self.clock.sleep(wait)
        raise AssertionError

    def _wait(
        self, call: Call, error: MergeQueueUnavailable, attempt: int, remaining: float
    ) -> float | None:
        """Seconds until the next attempt, None for none."""
        asked = error.retry_after
        if asked is not None and asked > LONGEST_WAIT:
            error.retry_after = LONGEST_WAIT
            cut = {"status": error.status, "asked_seconds": asked, "wait_seconds": LONGEST_WAIT}
            text = "The merge queue service asks for a longer wait than is granted"
            _log(logging.WARNING, text, "wait_cut", call, **cut)
        wait = self.patience.wait_before_retry(
            error, is_read=call.is_read, attempt=attempt, remaining=remaining
        )
        if error.status == HTTPStatus.TOO_MANY_REQUESTS:
            self.statistics.rate_limit_waits += 1
            self.statistics.rate_limit_seconds += wait or error.retry_after or 0.0
        if wait is not None:
            self.statistics.retries[call.endpoint] += 1
            told = {"attempt": attempt, "cause": error.cause, "status": error.status}
            text = "A request to the merge queue service is sent again"
            _log(logging.INFO, text, "request_retried", call, wait_seconds=round(wait, 3), **told)
        return wait

    def _url(self, call: Call) -> httpx.URL:
        # The whole address at once: httpx would parse it again for a base and for parameters.
        query = f"?{urlencode(call.query, doseq=True)}" if call.query else ""
        return httpx.URL(f"{self.base_url}{call.path}{query}")

    async def _send(self, call: Call, within: float) -> httpx.Response:
        """One attempt of at most `within` seconds, waiting for its turn included."""
        url = self._url(call)
        is_sent = False
        try:
            async with asyncio.timeout(within), self.turn, self._in_flight:
                if call.may_send is not None and not call.may_send():
                    raise LookedTooLongAgo
                is_sent = True
                async with self._client.stream(call.method, url, json=call.json) as response:
                    answer = await self._read(response)
        except TimeoutError:
            failure: MergeQueueError = MergeQueueUnavailable("no answer in time", arrived=is_sent)
        except httpx.HTTPError as error:
            failure = _translated(error)
        else:
            self.statistics.outcomes[call.endpoint, str(answer.status_code)] += 1
            return answer
        if isinstance(failure, MergeQueueUnavailable):
            outcome = "lost" if failure.arrived else "unreachable"
            self.statistics.outcomes[call.endpoint, outcome] += 1
        # Raised here and not `from`: the library's exception leads to the request's headers,
        # and a log that prints local variables would print the credential with them.
        raise failure

    async def _read(self, response: httpx.Response) -> httpx.Response:
        """The same with its whole body, which httpx itself would read without a limit."""
        if response.headers.get("content-encoding", "").strip().lower() not in _ENCODINGS:
            raise MergeQueueProtocolError("the body is encoded as nobody asked for")
        body = bytearray()
        async for piece in response.aiter_bytes():
            if len(body) + len(piece) > LARGEST_BODY:
                raise MergeQueueProtocolError("an answer of more than 32 MiB")
            body += piece
        headers = httpx.Headers([(name, self._hide(it)) for name, it in response.headers.raw])
        headers.pop("content-encoding", None)
        content = self._hide(bytes(body))
        return httpx.Response(response.status_code, headers=headers, content=content)

    def _hide(self, sent: bytes) -> bytes:
        return sent.replace(self._secret, b"[credential]") if self._secret else sent


def _translated(error: httpx.HTTPError) -> MergeQueueError:
    if isinstance(error, httpx.DecodingError):
        return MergeQueueProtocolError("the body is not encoded as its header says")
    if isinstance(error, httpx.TimeoutException):
        what = "no answer in time"
    elif isinstance(error, _NOT_SENT):
        what = "no connection"
    else:
        what = "the connection was lost"
    said = " ".join(str(error).split())[:200]
    return MergeQueueUnavailable(
        f"{what}: {said}" if said else what, arrived=not isinstance(error, _NOT_SENT)
    )


def _log(level: int, text: str, action: str, call: Call, **told: Any) -> None:  # noqa: ANN401 - anything that a log can show
    logger.log(level, text, extra={"action": action, "endpoint": call.endpoint, **told})


@cache
def _certificates(*, trust_env: bool) -> ssl.SSLContext:
    """Reading them costs 40 ms of CPU: once is enough for a process.

    Raises ConfigurationError when those that the environment names cannot be read.
    """
    try:
        return httpx.create_ssl_context(trust_env=trust_env)
    except OSError as error:
        problem = f"names no file of certificates that can be read ({error.strerror})"
        raise ConfigurationError({"SSL_CERT_FILE": problem}) from None


def _is_behind_proxy(base_url: httpx.URL) -> bool:
    """Whether the environment's proxies are for this address, which httpx then finds itself.

    Raises ConfigurationError when httpx could not use one of them.
    """
    if proxy_bypass(base_url.netloc.decode("ascii")):
        return False
    proxies = getproxies()
    for scheme in ("http", "https", "all"):
        if proxies.get(scheme):
            proxy_at(proxies[scheme], f"{scheme.upper()}_PROXY")
    return True


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
            stream=_Body(response, transport, self._free),
            extensions=response.extensions,
        )

    @override
    async def aclose(self) -> None:
        for transport in self._all:
            await transport.aclose()


class _Body(httpx.AsyncByteStream):
    """Gives its connection back when it has been read, or given up."""

    def __init__(
        self,
        response: httpx.Response,
        transport: httpx.AsyncHTTPTransport,
        free: list[httpx.AsyncHTTPTransport],
    ) -> None:
        self._response = response
        self._transport = transport
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
            self._free.append(self._transport)
