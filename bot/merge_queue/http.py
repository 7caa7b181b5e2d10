"""Sends requests with httpx: bounded in time, size and origin, and repeated where that is safe."""

import asyncio
import logging
import ssl
from collections.abc import Callable, Container, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from http import HTTPStatus
from http.cookiejar import CookieJar, DefaultCookiePolicy
from itertools import count
from typing import Any
from urllib.parse import urlencode

import httpx
from pydantic import SecretStr

import bot
from bot.domain import errors
from bot.domain.configured import OwnToken
from bot.domain.pacing import PATIENCE, Patience
from bot.domain.repository import RepositoryName
from bot.merge_queue.models import T, error_of
from bot.metrics import UNSCRAPED, Metrics
from bot.ports import Clock, OnAnswer, ignore
from bot.proxies import proxy_towards

logger = logging.getLogger(__name__)

NO_REPOSITORY = RepositoryName("")
REQUESTS_AT_ONCE = 8
KEPT_FOR_PEOPLE = 1  # Requests that the schedule leaves free, so that people don't wait behind it.
KEEPALIVE_SECONDS = 90.0  # Above the polling interval: else each poll would open a connection.
LONGEST_WAIT = 300.0  # If the service asks for more seconds, that may be a mistake.
LARGEST_BODY = 32 * 1024 * 1024
SHORTEST_SECRET = 8  # Shorter credentials are for trials, and occur in times and names.
HEADERS = {
    "Accept": "application/json",
    "Accept-Encoding": "gzip, deflate",
    "User-Agent": f"mqbot/{bot.__version__}",
}
# One layer at most: a few hundred bytes packed three times become gigabytes.
_ENCODINGS = frozenset({"", "identity", "gzip", "deflate"})
# Raised before the first byte of a request leaves.
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError)
SUCCESS = frozenset({HTTPStatus.OK, HTTPStatus.CREATED, HTTPStatus.NO_CONTENT})


@dataclass(frozen=True, slots=True)
class Call:
    """One request; `repository` decides which credential is sent.

    `endpoint`: a short fixed name for logs and counters.
    `path`: below the repository's, or below the service's address if it starts with a slash.
    `query`: without the values that are None.
    `expected`: the statuses whose answers are read; all others are errors.
    `on_answer`: called with the status of an answer that was read.
    `may_send`: called just before each attempt.
    """

    repository: RepositoryName
    endpoint: str
    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    json: Mapping[str, Any] | None = None
    expected: Container[int] = SUCCESS
    on_answer: OnAnswer = ignore
    may_send: Callable[[], bool] | None = None


class Http:
    """The service at `base_url`.

    `own_tokens`: the credentials of repositories that have their own. Each request in flight has an
    httpx client of its own, because httpx's pool slows down with many of them. No token is in a
    log, exception or `repr`. `transport` replaces the network.
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
        metrics: Metrics = UNSCRAPED,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self.clock = clock
        self.patience = patience
        self.metrics = metrics
        self._last_answer_at: datetime | None = None
        self._default = OwnToken(errors.CredentialRefused.setting, token)
        self._own_tokens = dict(own_tokens or {})
        self._known_tokens = {token, *(one.secret for one in self._own_tokens.values())}
        # Held during each request: `scheduled` for those of the schedule.
        self.turn: AbstractAsyncContextManager[None] = nullcontext()
        self.scheduled = asyncio.Semaphore(requests_at_once - KEPT_FOR_PEOPLE)
        proxy, verify = proxy_towards(base_url), _certificates()
        # Redirects are not followed: the credential would go with them.
        self._clients = [
            httpx.AsyncClient(
                headers=HEADERS,
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
        """Instead of a token unknown at the start, which logs would show, the old one stays."""
        known = {name: one for name, one in own_tokens.items() if one.secret in self._known_tokens}
        old = {name: one for name, one in self._own_tokens.items() if name in own_tokens}
        # In place, because `scheduled` shares them.
        self._own_tokens.clear()
        self._own_tokens.update(old | known)

    async def aclose(self) -> None:
        # Those of requests in flight, too.
        for client in self._clients:
            await client.aclose()

    async def call(self, call: Call, read: Callable[[httpx.Response], T]) -> T:
        """Send a request, repeat it where that is safe, and read its answer.

        Raises only MergeQueueError, and StaleReading if `may_send` returns False.
        """
        with errors.about(call.repository):
            return await self._call(call, read)

    async def _call(self, call: Call, read: Callable[[httpx.Response], T]) -> T:
        deadline = self.clock.monotonic() + self.patience.total
        for attempt in count(1):
            try:
                response = await self._send(call, deadline - self.clock.monotonic())
                answer = read(response)
            except errors.MergeQueueUnavailable as error:
                wait = self._wait(call, error, attempt, deadline - self.clock.monotonic())
                if wait is None:
                    error.last_answer_at = self._last_answer_at
                    raise
                await self.clock.sleep(wait)
            except errors.CredentialRefused as error:
                error.setting = self._credential(call).setting
                raise
            except errors.MergeQueueProtocolError as error:
                self.metrics.service_unreadable_answers.labels(call.endpoint).inc()
                details = {"action": "answer_unreadable", "endpoint": call.endpoint}
                details["problem"] = error.detail
                logger.warning("An answer of the service could not be read", extra=details)
                raise
            else:
                self._last_answer_at = self.clock.now()
                call.on_answer(str(response.status_code))
                return answer
        raise AssertionError("the last attempt returns or raises")

    def _wait(
        self, call: Call, error: errors.MergeQueueUnavailable, attempt: int, remaining: float
    ) -> float | None:
        """Seconds until the next attempt, None for none."""
        asked, details = error.retry_after, {"endpoint": call.endpoint, "status": error.status}
        if asked is not None and asked > LONGEST_WAIT:
            error.retry_after = LONGEST_WAIT
            cut = {"action": "wait_cut", "asked_seconds": asked, **details}
            logger.warning("The service asks for a longer wait than is granted", extra=cut)
        is_safe = call.method in {"GET", "OPTIONS"} or not error.arrived
        wait = self.patience.wait(attempt, error.retry_after, remaining) if is_safe else None
        if error.status == HTTPStatus.TOO_MANY_REQUESTS:
            self.metrics.service_waits.inc()
            self.metrics.service_wait_seconds.inc(wait or error.retry_after or 0.0)
        if wait is not None:
            self.metrics.service_retries.labels(call.endpoint).inc()
            details |= {"action": "request_retried", "attempt": attempt, "cause": error.cause}
            logger.info("A request to the service is sent again", extra=details)
        return wait

    def _url(self, call: Call) -> httpx.URL:
        is_of_repository = not call.path.startswith("/")
        path = f"/repos/{call.repository}/{call.path}" if is_of_repository else call.path
        sent = {name: one for name, one in call.query.items() if one is not None}
        query = urlencode(sent, doseq=True, errors="replace")
        return httpx.URL(f"{self.base_url}{path}{'?' if query else ''}{query}")

    def _credential(self, call: Call) -> OwnToken:
        return self._own_tokens.get(call.repository, self._default)

    async def _send(self, call: Call, within: float) -> httpx.Response:
        """The expected answer to one attempt of `within` seconds, with the wait for a client."""
        url, token, is_sent = self._url(call), self._credential(call).secret, False
        failure: errors.MergeQueueError
        try:
            async with asyncio.timeout(within), self.turn:
                client = await self._free.get()
                try:
                    if call.may_send is not None and not call.may_send():
                        raise errors.StaleReading
                    is_sent = True
                    # The headers are not in a variable: a log could print it.
                    async with client.stream(
                        call.method,
                        url,
                        json=call.json,
                        headers={"Authorization": f"Bearer {token.get_secret_value()}"},
                    ) as response:
                        answer = await self._read(response)
                finally:
                    self._free.put_nowait(client)
        except UnicodeEncodeError:
            failure = errors.InvalidRequest(None, "half of a surrogate pair is no text")
        except httpx.DecodingError:
            failure = errors.MergeQueueProtocolError("the body is not encoded as its header says")
        except (TimeoutError, httpx.HTTPError) as error:
            failure = self._lost(call, error, arrived=is_sent and not isinstance(error, _NOT_SENT))
        else:
            status = str(answer.status_code)
            self.metrics.service_requests.labels(call.endpoint, status).inc()
            if answer.status_code in call.expected:
                return answer
            raise error_of(answer, self.clock.now(), url)
        # Not raised `from` the library's exception: it leads to the request's headers, and a log
        # that prints local variables would print the credential with them.
        raise failure

    def _lost(
        self, call: Call, error: TimeoutError | httpx.HTTPError, *, arrived: bool
    ) -> errors.MergeQueueError:
        outcome = "lost" if arrived else "unreachable"
        self.metrics.service_requests.labels(call.endpoint, outcome).inc()
        if isinstance(error, TimeoutError | httpx.TimeoutException):
            what = "no answer in time"
        else:
            what = "the connection was lost" if arrived else "no connection"
        said = " ".join(str(error).split())[:200]
        return errors.MergeQueueUnavailable(f"{what}: {said}" if said else what, arrived=arrived)

    async def _read(self, response: httpx.Response) -> httpx.Response:
        """Read the whole body; httpx itself would read it without a limit."""
        if response.headers.get("content-encoding", "").strip().lower() not in _ENCODINGS:
            raise errors.MergeQueueProtocolError("the body is encoded as nobody asked for")
        body = bytearray()
        async for piece in response.aiter_bytes():
            if len(body) + len(piece) > LARGEST_BODY:
                raise errors.MergeQueueProtocolError("an answer of more than 32 MiB")
            body += piece
        headers = httpx.Headers([(name, self._hide(it)) for name, it in response.headers.raw])
        headers.pop("content-encoding", None)
        content = self._hide(bytes(body))
        return httpx.Response(response.status_code, headers=headers, content=content)

    def _hide(self, sent: bytes) -> bytes:
        """The service may quote credentials, and errors show answers."""
        for token in self._known_tokens:
            if len(token) >= SHORTEST_SECRET:
                # Not in a variable, as above.
                sent = sent.replace(token.get_secret_value().encode(), b"[credential]")
        return sent


@cache
def _certificates() -> ssl.SSLContext:
    """Reading them takes 40 ms of CPU, so all clients share them. Raises ConfigurationError."""
    try:
        return httpx.create_ssl_context()
    except OSError as error:
        problem = f"names no file of certificates that can be read ({error.strerror})"
        raise errors.ConfigurationError({"SSL_CERT_FILE": problem}) from None
