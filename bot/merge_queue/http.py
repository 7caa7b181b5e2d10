"""Sends requests with httpx: bounded in time, size and origin, and repeated where that is safe."""

import asyncio
import logging
import ssl
from collections.abc import Callable, Container, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from http import HTTPStatus
from http.cookiejar import CookieJar, DefaultCookiePolicy
from itertools import count
from typing import Any
from urllib.parse import urlencode

import httpx
from pydantic import SecretStr

import bot
from bot.kernel import errors as kernel_errors
from bot.kernel.clock import Clock
from bot.kernel.metrics import UNSCRAPED, Metrics
from bot.kernel.pacing import PEOPLES_PATIENCE, USUAL_PATIENCE, Patience, http_date
from bot.kernel.proxies import proxy_towards
from bot.kernel.repository import RepositoryName
from bot.kernel.transport import NO_CONNECTION, why_lost
from bot.merge_queue import errors as merge_queue_errors
from bot.merge_queue.models import T, error_of
from bot.merge_queue.own_token import OwnToken
from bot.merge_queue.port import OnAnswer, ignore
from bot.merge_queue.silence import Silence
from bot.merge_queue.window import ServiceClock

logger = logging.getLogger(__name__)

NO_REPOSITORY = RepositoryName("")
REQUESTS_AT_ONCE = 8
KEPT_FOR_PEOPLE = 1  # Requests that the schedule leaves free, so that people don't wait behind it.
KEEPALIVE_SECONDS = 90.0  # Above the polling interval: else each poll would open a connection.
LONGEST_SERVICE_WAIT = 300.0  # If the service asks for more seconds, that may be a mistake.
LARGEST_ANSWER_BODY = 8 * 1024 * 1024  # 50,000 queued pull requests, which take 2 s to read.
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
class ApiRequest:
    """One request; `repository` decides which credential is sent."""

    repository: RepositoryName
    endpoint: str  #: a short fixed name for logs and counters
    method: str
    path: str  #: below the repository's, or below the service's address if it starts with a slash
    query: Mapping[str, Any] = field(default_factory=dict)  #: without the values that are None
    json: Mapping[str, Any] | None = None
    #: the statuses whose answers are read; all others are errors
    expected: Container[int] = SUCCESS
    on_answer: OnAnswer = ignore  #: called with the status of an answer that was read
    may_send: Callable[[], bool] | None = None  #: called just before each attempt
    largest_body: int = LARGEST_ANSWER_BODY  #: in bytes; a larger answer isn't read


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
        patience: Patience = PEOPLES_PATIENCE,
        patience_of_schedule: Patience = USUAL_PATIENCE,
        requests_at_once: int = REQUESTS_AT_ONCE,
        metrics: Metrics = UNSCRAPED,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self.clock = clock
        self.patience = patience
        self.patience_of_schedule = patience_of_schedule
        self.metrics = metrics
        self.silence = Silence(clock)
        # `scheduled` shares it, so it changes in place.
        self._service_clock = ServiceClock()
        self.refused_settings: set[str] = set()
        """The settings whose credential the service didn't know when it was last used."""
        # By setting, when a key was taken over that hasn't been used yet.
        self._untried: dict[str, str] = {}
        # The key of all under NO_REPOSITORY. `scheduled` shares all these, so they change in place.
        self._tokens = _tokens(token, own_tokens or {})
        self._known_tokens = {token.secret for token in self._tokens.values()}
        # Held during each request: `scheduled` for those of the schedule.
        self.turn: AbstractAsyncContextManager[None] = nullcontext()
        self.scheduled = asyncio.Semaphore(requests_at_once - KEPT_FOR_PEOPLE)
        proxy = proxy_towards(base_url)
        is_over_tls = httpx.URL(base_url).scheme == "https"
        verify = _certificates() if is_over_tls else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        # Redirects are not followed: the credential would go with them.
        self._clients = [
            httpx.AsyncClient(
                headers=HEADERS,
                cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
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

    def use_tokens(self, token: SecretStr, own_tokens: Mapping[RepositoryName, OwnToken]) -> None:
        """From now on, send these; logs must hide them already.

        Answers are still searched for the old ones, which are in requests on their way.
        """
        tokens = _tokens(token, own_tokens)
        new = {*tokens.values()} - {*self._tokens.values()}
        # Whether the service knows a new one shows at its first use.
        now = self.clock.now().isoformat(timespec="seconds")
        self._untried.update({token.setting: now for token in new})
        self.refused_settings.difference_update(self._untried)
        self._known_tokens |= {token.secret for token in new}
        self._tokens.clear()
        self._tokens.update(tokens)

    async def aclose(self) -> None:
        # Those of requests in flight, too.
        for client in self._clients:
            await client.aclose()

    @property
    def service_time(self) -> datetime:
        """The service's time, from the `Date` of its last answers; ours if it sends none.

        An answer that was long on its way says a time that has passed. It is never earlier than
        what the last answer said, so nothing that the service did before seems to come later.
        """
        believed = self.clock.now() + (self._service_clock.ahead or timedelta())
        last = self._service_clock.last
        if last is None or not self._service_clock.agrees:
            return believed
        return max(believed, last)

    async def call(self, call: ApiRequest, read: Callable[[httpx.Response], T]) -> T:
        """Send a request, repeat it where that is safe, and read its answer.

        Raises only MergeQueueError, and StaleReading if `may_send` returns False.
        """
        with merge_queue_errors.naming_repository(call.repository):
            return await self._call(call, read)

    async def _call(self, call: ApiRequest, read: Callable[[httpx.Response], T]) -> T:
        deadline = self.clock.monotonic() + self.patience.total
        for attempt in count(1):
            try:
                with self.silence.watched():
                    response = await self._send(call, deadline - self.clock.monotonic())
                    answer = read(response)
            except merge_queue_errors.MergeQueueUnavailable as error:
                wait = self._wait(call, error, attempt, deadline - self.clock.monotonic())
                if wait is None:
                    error.last_answer_at = self.silence.last_answer_at
                    raise
                await self.clock.sleep(wait)
            except merge_queue_errors.CredentialRefused as error:
                error.setting = self._credential(call).setting
                if error.status == HTTPStatus.UNAUTHORIZED:
                    self._key_refused(error)
                raise
            except merge_queue_errors.MergeQueueProtocolError as error:
                self.metrics.service_unreadable_answers.labels(call.endpoint).inc()
                details = {"action": "answer_unreadable", "endpoint": call.endpoint}
                details["problem"] = error.detail
                logger.warning("an answer of the service could not be read", extra=details)
                raise
            else:
                self.silence.last_answer_at = self.clock.now()
                self._key_accepted(self._credential(call).setting)
                call.on_answer(str(response.status_code))
                return answer
        raise AssertionError("the last attempt returns or raises")

    def _key_refused(self, error: merge_queue_errors.CredentialRefused) -> None:
        taken_over_at = self._untried.pop(error.setting, None)
        if error.setting not in self.refused_settings:
            extra = {"action": "key_refused", "setting": error.setting, "status": error.status}
            which = "the key" if taken_over_at is None else "the new key"
            logger.error(
                "the merge queue service refuses %s: set a valid one; "
                "in a file it takes effect immediately, elsewhere after a restart",
                which,
                extra={**extra, "detail": error.detail, "taken_over_at": taken_over_at},
            )
        self.refused_settings.add(error.setting)

    def _key_accepted(self, setting: str) -> None:
        is_new = self._untried.pop(setting, None) is not None
        was_refused = setting in self.refused_settings
        if is_new or was_refused:
            extra = {"action": "key_accepted", "setting": setting}
            which = "the new key" if is_new else "the key again"
            logger.info("the merge queue service accepts %s", which, extra=extra)
        self.refused_settings.discard(setting)

    def _wait(
        self,
        call: ApiRequest,
        error: merge_queue_errors.MergeQueueUnavailable,
        attempt: int,
        remaining: float,
    ) -> float | None:
        """Seconds until the next attempt, None for none."""
        asked = error.retry_after
        details = {"endpoint": call.endpoint, "status": error.status}
        if asked is not None and asked > LONGEST_SERVICE_WAIT:
            error.retry_after = LONGEST_SERVICE_WAIT
            cut = {"action": "wait_cut", "asked_seconds": asked, **details}
            logger.warning("the service asks for a longer wait than the bot allows", extra=cut)
        is_safe = call.method in {"GET", "OPTIONS"} or not error.arrived
        wait = self.patience.wait(attempt, error.retry_after, remaining) if is_safe else None
        if error.status == HTTPStatus.TOO_MANY_REQUESTS:
            self.metrics.service_waits.inc()
            self.metrics.service_wait_seconds.inc(wait or error.retry_after or 0.0)
        if wait is not None:
            self.metrics.service_retries.labels(call.endpoint).inc()
            details |= {"action": "request_retried", "attempt": attempt, "cause": error.cause}
            logger.debug("a request to the service is retried", extra=details)
        return wait

    def _url(self, call: ApiRequest) -> httpx.URL:
        is_of_repository = not call.path.startswith("/")
        path = f"/repos/{call.repository}/{call.path}" if is_of_repository else call.path
        sent = {name: value for name, value in call.query.items() if value is not None}
        query = urlencode(sent, doseq=True, errors="replace")
        return httpx.URL(f"{self.base_url}{path}{'?' if query else ''}{query}")

    def _credential(self, call: ApiRequest) -> OwnToken:
        return self._tokens.get(call.repository) or self._tokens[NO_REPOSITORY]

    async def _send(self, call: ApiRequest, within: float) -> httpx.Response:
        """The expected answer to one attempt of `within` seconds, with the wait for a client."""
        url = self._url(call)
        token = self._credential(call).secret
        is_sent = False
        failure: kernel_errors.MergeQueueError
        try:
            async with asyncio.timeout(within), self.turn:
                client = await self._free.get()
                try:
                    if call.may_send is not None and not call.may_send():
                        raise merge_queue_errors.StaleReading
                    is_sent = True
                    # The headers are not in a variable: a log could print it.
                    async with client.stream(
                        call.method,
                        url,
                        json=call.json,
                        timeout=httpx.Timeout(self.patience.read, connect=self.patience.connect),
                        headers={"Authorization": f"Bearer {token.get_secret_value()}"},
                    ) as response:
                        answer = await self._read(response, call.largest_body)
                finally:
                    self._free.put_nowait(client)
        except UnicodeEncodeError:
            failure = kernel_errors.InvalidRequest(None, "half of a surrogate pair is no text")
        except httpx.DecodingError:
            failure = merge_queue_errors.MergeQueueProtocolError(
                "the body is not encoded as its header says"
            )
        except (TimeoutError, httpx.HTTPError) as error:
            failure = self._lost(call, error, arrived=is_sent and not isinstance(error, _NOT_SENT))
        else:
            self._note(call, answer)
            if answer.status_code in call.expected:
                return answer
            raise error_of(answer, self.clock.now(), url)
        # Not raised `from` the library's exception: it leads to the request's headers, and a log
        # that prints local variables would print the credential with them.
        raise failure

    def _note(self, call: ApiRequest, answer: httpx.Response) -> None:
        """Count an answer, and compare its time with ours."""
        self.metrics.service_requests.labels(call.endpoint, str(answer.status_code)).inc()
        date = http_date(answer.headers.get("date"))
        if date is not None:
            self._service_clock.add(date - self.clock.now())
            self._service_clock.last = date

    def _lost(
        self, call: ApiRequest, error: TimeoutError | httpx.HTTPError, *, arrived: bool
    ) -> kernel_errors.MergeQueueError:
        outcome = "lost" if arrived else "unreachable"
        self.metrics.service_requests.labels(call.endpoint, outcome).inc()
        if isinstance(error, TimeoutError | httpx.TimeoutException):
            what = "no answer in time"
        else:
            what = "the connection was lost" if arrived else NO_CONNECTION
            why = why_lost(error)
            what += f": {why}" if why is not None else ""
        details = {"action": "request_lost", "endpoint": call.endpoint, "cause": what}
        details["said"] = " ".join(str(error).split())[:200]
        logger.debug("a request to the service got no answer", extra=details)
        return merge_queue_errors.MergeQueueUnavailable(what, arrived=arrived)

    async def _read(self, response: httpx.Response, largest: int) -> httpx.Response:
        """Read the whole body; httpx itself would read it without a limit."""
        if response.headers.get("content-encoding", "").strip().lower() not in _ENCODINGS:
            raise merge_queue_errors.MergeQueueProtocolError(
                "the body is encoded as nobody asked for"
            )
        body = bytearray()
        async for piece in response.aiter_bytes():
            if len(body) + len(piece) > largest:
                problem = f"an answer of more than {largest // 1024**2} MiB"
                raise merge_queue_errors.MergeQueueProtocolError(problem)
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


def _tokens(
    token: SecretStr, own_tokens: Mapping[RepositoryName, OwnToken]
) -> dict[RepositoryName, OwnToken]:
    default = OwnToken(merge_queue_errors.CredentialRefused.setting, token)
    return {**own_tokens, NO_REPOSITORY: default}


@cache
def _certificates() -> ssl.SSLContext:
    """Reading them takes 40 ms of CPU, so all clients share them. Raises ConfigurationError."""
    try:
        return httpx.create_ssl_context()
    except OSError as error:
        problem = f"names no file of certificates that can be read ({error.strerror})"
        raise kernel_errors.ConfigurationError({"SSL_CERT_FILE": problem}) from None
