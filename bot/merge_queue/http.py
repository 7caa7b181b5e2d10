"""Sends requests with httpx: bounded in time, size and origin, and repeated where that is safe."""

import asyncio
import logging
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from copy import copy
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from http.cookiejar import CookieJar, DefaultCookiePolicy
from itertools import count
from secrets import SystemRandom
from typing import TypeVar
from urllib.parse import urlencode

import httpx
from pydantic import SecretStr

import bot
from bot.domain.configured import OwnToken
from bot.domain.errors import (
    ConfigurationError,
    CredentialRefused,
    MergeQueueError,
    MergeQueueProtocolError,
    MergeQueueUnavailable,
    StaleReading,
)
from bot.domain.pacing import retry_delay
from bot.domain.repository import RepositoryName
from bot.merge_queue.errors import error_of
from bot.merge_queue.models import Call
from bot.ports import Clock, ServiceCounts
from bot.proxies import proxy_towards

logger = logging.getLogger(__name__)

T = TypeVar("T")

REQUESTS_AT_ONCE = 8

KEPT_FOR_PEOPLE = 1
"""Requests that the schedule leaves free, so that people don't wait behind it."""

KEEPALIVE_SECONDS = 90.0
"""Well above the polling interval: otherwise each poll would open a new connection."""

LONGEST_WAIT = 300.0
"""Seconds. If the service asks for a longer wait, that may be a mistake."""

LARGEST_BODY = 32 * 1024 * 1024

SHORTEST_SECRET = 8
"""Characters. Shorter credentials are for trials, and occur in times and names."""

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
"""Seconds that must be left for another attempt."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait, in seconds, and how often to try.

    `connect`: for a connection. `read`: for the next bytes. `total`: for a call with its retries.
    `read_back`: for finding out about a write whose answer was lost, on top of `total`.
    `jitter` returns numbers from 0 to 1, which spread the waits.
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

        A write is repeated only if it certainly did not arrive. If the service asks for a wait
        beyond the `remaining` seconds, the call ends and the caller learns of it.
        """
        if attempt >= self.attempts or not (is_read or not error.arrived):
            return None
        jitter = self.jitter()
        hints = {None, error.retry_after}
        wait = max(retry_delay(attempt, hint=hint, jitter=jitter) for hint in hints)
        return wait if wait + SHORTEST_ATTEMPT < remaining else None


PATIENCE = Patience()


class Http:
    """The service at `base_url`.

    `own_tokens`: the credentials of repositories that have their own. Each request in flight has an
    httpx client of its own, because httpx's pool slows down with many of them. No token is in a
    log, exception or `repr`. `trust` replaces the usual certificates, `transport` the network.
    Raises ConfigurationError for an unusable proxy or certificate file in the environment.
    """

    def __init__(  # noqa: PLR0913 - named, and callers give three or four
        self,
        *,
        base_url: str,
        token: SecretStr,
        clock: Clock,
        own_tokens: Mapping[RepositoryName, OwnToken] | None = None,
        patience: Patience = PATIENCE,
        requests_at_once: int = REQUESTS_AT_ONCE,
        transport: httpx.AsyncBaseTransport | None = None,
        trust: ssl.SSLContext | None = None,
    ) -> None:
        self.base_url = httpx.URL(base_url.rstrip("/"))
        self.clock = clock
        self.patience = patience
        self.counts = ServiceCounts()
        self._default = OwnToken(CredentialRefused.setting, token)
        self._own_tokens = dict(own_tokens or {})
        self._known_tokens = {token, *(one.secret for one in self._own_tokens.values())}
        # The service may quote them, and errors show answers.
        secrets = [one.get_secret_value().encode() for one in self._known_tokens]
        self._secrets = {one for one in secrets if len(one) >= SHORTEST_SECRET}
        self._scheduled = asyncio.Semaphore(requests_at_once - KEPT_FOR_PEOPLE)
        self.turn: AbstractAsyncContextManager[None] = nullcontext()
        """Held during each request."""
        proxy, verify = proxy_towards(base_url), trust or _certificates()
        # Redirects are not followed: the credential would go with them.
        self._clients = [
            httpx.AsyncClient(
                headers={
                    "Accept": "application/json",
                    "Accept-Encoding": "gzip, deflate",
                    "User-Agent": f"mqbot/{bot.__version__}",
                },
                cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
                timeout=httpx.Timeout(patience.read, connect=patience.connect),
                limits=httpx.Limits(max_connections=1, keepalive_expiry=KEEPALIVE_SECONDS),
                trust_env=False,
                verify=verify,
                proxy=proxy,
                transport=transport,
            )
            for _ in range(requests_at_once)
        ]
        # The last one used goes first: its connection is open.
        self._free = asyncio.LifoQueue[httpx.AsyncClient]()
        for client in self._clients:
            self._free.put_nowait(client)

    def use_own_tokens(self, own_tokens: Mapping[RepositoryName, OwnToken]) -> None:
        """Use these from now on.

        In place of a token not known from the start, which logs would show, the old one stays.
        """
        known = {
            name: one if one.secret in self._known_tokens else self._own_tokens.get(name)
            for name, one in own_tokens.items()
        }
        # In place, because `scheduled` shares them.
        self._own_tokens.clear()
        self._own_tokens.update({name: one for name, one in known.items() if one is not None})

    async def aclose(self) -> None:
        for client in self._clients:
            await client.aclose()

    def scheduled(self) -> "Http":
        """The same for the schedule, which leaves KEPT_FOR_PEOPLE of the requests to people."""
        scheduled = copy(self)
        scheduled.turn = self._scheduled
        return scheduled

    async def call(self, call: Call, read: Callable[[httpx.Response], T]) -> T:
        """Send a request, repeat it where that is safe, and read its answer.

        Raises only MergeQueueError, and StaleReading if `may_send` returns False.
        """
        deadline = self.clock.monotonic() + self.patience.total
        for attempt in count(1):
            try:
                response = await self._send(call, deadline - self.clock.monotonic())
                if response.status_code not in call.expected:
                    raise error_of(response, self.clock.now(), self._url(call))
                answer = read(response)
            except MergeQueueProtocolError as error:
                self.counts.unreadable_answers[call.endpoint] += 1
                logger.warning(
                    "An answer of the merge queue service could not be read",
                    extra={
                        "action": "answer_unreadable",
                        "endpoint": call.endpoint,
                        "problem": error.detail,
                    },
                )
                raise
            except MergeQueueUnavailable as error:
                wait = self._wait(call, error, attempt, deadline - self.clock.monotonic())
                if wait is None:
                    error.last_answer_at = self.counts.last_answer_at
                    raise
            except CredentialRefused as error:
                error.setting = self._credential(call).setting
                raise
            else:
                self.counts.last_answer_at = self.clock.now()
                call.on_answer(str(response.status_code))
                return answer
            await self.clock.sleep(wait)
        raise AssertionError

    def _wait(
        self, call: Call, error: MergeQueueUnavailable, attempt: int, remaining: float
    ) -> float | None:
        """Seconds until the next attempt, None for none."""
        details = {"endpoint": call.endpoint, "status": error.status}
        if error.retry_after is not None and error.retry_after > LONGEST_WAIT:
            logger.warning(
                "The merge queue service asks for a longer wait than is granted",
                extra={
                    "action": "wait_cut",
                    "asked_seconds": error.retry_after,
                    "wait_seconds": LONGEST_WAIT,
                    **details,
                },
            )
            error.retry_after = LONGEST_WAIT
        wait = self.patience.wait_before_retry(
            error, is_read=call.is_read, attempt=attempt, remaining=remaining
        )
        if error.status == HTTPStatus.TOO_MANY_REQUESTS:
            self.counts.rate_limit_waits += 1
            self.counts.rate_limit_seconds += wait or error.retry_after or 0.0
        if wait is not None:
            self.counts.retries[call.endpoint] += 1
            logger.info(
                "A request to the merge queue service is sent again",
                extra={
                    "action": "request_retried",
                    "attempt": attempt,
                    "cause": error.cause,
                    "wait_seconds": round(wait, 3),
                    **details,
                },
            )
        return wait

    def _url(self, call: Call) -> httpx.URL:
        # The whole address at once: httpx would parse it again for a base and for parameters.
        query = f"?{urlencode(call.query, doseq=True)}" if call.query else ""
        return httpx.URL(f"{self.base_url}{call.path}{query}")

    def _credential(self, call: Call) -> OwnToken:
        own = self._own_tokens.get(call.repository) if call.repository is not None else None
        return own or self._default

    async def _send(self, call: Call, within: float) -> httpx.Response:
        """Make one attempt of at most `within` seconds, including the wait for a free client."""
        is_sent = False
        try:
            async with asyncio.timeout(within), self.turn, self._client() as client:
                if call.may_send is not None and not call.may_send():
                    raise StaleReading
                is_sent = True
                async with client.stream(
                    call.method,
                    self._url(call),
                    json=call.json,
                    # Not in a variable: a log could print it.
                    headers=_authorization(self._credential(call)),
                ) as response:
                    answer = await self._read(response)
        except (TimeoutError, httpx.HTTPError) as error:
            failure = _translated(error, is_sent=is_sent)
        else:
            self.counts.outcomes[call.endpoint, str(answer.status_code)] += 1
            return answer
        if isinstance(failure, MergeQueueUnavailable):
            outcome = "lost" if failure.arrived else "unreachable"
            self.counts.outcomes[call.endpoint, outcome] += 1
        # Not raised `from` the library's exception: it leads to the request's headers, and a log
        # that prints local variables would print the credential with them.
        raise failure

    @asynccontextmanager
    async def _client(self) -> AsyncIterator[httpx.AsyncClient]:
        client = await self._free.get()
        try:
            yield client
        finally:
            self._free.put_nowait(client)

    async def _read(self, response: httpx.Response) -> httpx.Response:
        """Read the whole body; httpx itself would read it without a limit."""
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
        for secret in self._secrets:
            sent = sent.replace(secret, b"[credential]")
        return sent


def _authorization(credential: OwnToken) -> Mapping[str, str]:
    return {"Authorization": f"Bearer {credential.secret.get_secret_value()}"}


def _translated(error: TimeoutError | httpx.HTTPError, *, is_sent: bool) -> MergeQueueError:
    if isinstance(error, httpx.DecodingError):
        return MergeQueueProtocolError("the body is not encoded as its header says")
    arrived = is_sent and not isinstance(error, _NOT_SENT)
    if isinstance(error, TimeoutError | httpx.TimeoutException):
        what = "no answer in time"
    else:
        what = "the connection was lost" if arrived else "no connection"
    said = " ".join(str(error).split())[:200]
    return MergeQueueUnavailable(f"{what}: {said}" if said else what, arrived=arrived)


@cache
def _certificates() -> ssl.SSLContext:
    """Reading them takes 40 ms of CPU, so all clients share them. Raises ConfigurationError."""
    try:
        return httpx.create_ssl_context()
    except OSError as error:
        problem = f"names no file of certificates that can be read ({error.strerror})"
        raise ConfigurationError({"SSL_CERT_FILE": problem}) from None
