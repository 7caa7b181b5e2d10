"""The connection to Slack's Web API: one session, and a client that keeps to Slack's limits."""

import asyncio
import logging
import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from http import HTTPStatus
from types import MappingProxyType
from typing import Any

from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, TCPConnector
from pydantic import SecretStr
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse
from typing_extensions import override

from bot.kernel.clock import Clock
from bot.kernel.errors import BotError
from bot.kernel.metrics import UNSCRAPED, Metrics
from bot.kernel.pacing import http_date, retry_delay
from bot.slack.errors import CREDENTIAL_CODES
from bot.slack.observation import SlackObservation
from bot.slack.web_api.failures import (
    FAILURES,
    LONGEST_RETRY_AFTER,
    TOKEN_CODES,
    Failure,
    field_of,
    read_failure,
)
from bot.store.slack_limits import SlackLimits
from bot.store.transaction import Transaction
from bot.store.transactions import Store

logger = logging.getLogger(__name__)

Client = AsyncWebClient
"""For code outside `bot.slack`, which may not import the SDK."""

_MAY_BE_MISSING = "a post may be missing if Slack's answer to it was lost."

LOST_WITHOUT: Mapping[str, str] = {
    "app_mentions:read": "Commands in messages that mention the bot aren't answered.",
    "channels:history": f"In public channels, {_MAY_BE_MISSING}",
    "channels:join": "The bot has to be invited to public channels.",
    "chat:write.public": "Posts in a public channel wait until the bot is in it.",
    "groups:history": f"In private channels, {_MAY_BE_MISSING}",
    "groups:read": "Posts in private channels have no buttons.",
    "im:history": f"Commands in direct messages aren't answered. In those, {_MAY_BE_MISSING}",
    "im:read": "Answers in direct messages have no buttons.",
    "im:write": "Nobody gets reminders and notifications as direct messages.",
    "usergroups:read": "Members of user groups in MQBOT_WHO_MAY_PAUSE are refused.",
    "users.profile:read": "Logins in the profile field of MQBOT_LOGIN_FIELD give no right.",
}
"""What the bot can't do without each optional scope of the manifest."""

POSTING = "chat.postMessage"
"""Slack limits posts in each channel and in the workspace, and doesn't say which limit it was."""

DEFAULT_WAIT_SECONDS = 30.0
"""If Slack limits a method without saying for how long."""

TOTAL_SECONDS = 10.0
"""For one call."""

NOT_UNDERSTOOD = (AttributeError, LookupError, RecursionError, ValueError)
"""What the SDK raises for a text or a list in place of an object, for a wrong or unknown encoding,
for a nesting too deep, and for a number too long."""

SAID_KEPT = 200

SYNC_SECONDS = 1.0
"""How often processes exchange the limits that they met."""

CHANNELS_OF_A_WORKSPACE = 3
"""If posts are limited in so many channels at a time, the limit is the workspace's."""


def open_session(proxy: str | None = None) -> ClientSession:
    """One session for all calls to Slack.

    Without it, the SDK opens a connection for each call; with it, the SDK ignores its `timeout`.
    """
    return ClientSession(
        proxy=proxy,
        connector=TCPConnector(limit=20, keepalive_timeout=90.0),
        timeout=ClientTimeout(total=TOTAL_SECONDS, sock_connect=3.0, sock_read=8.0),
        cookie_jar=DummyCookieJar(),
    )


OF_APP_TOKEN = frozenset({"apps.connections.open"})
"""The methods that are called with the app-level token."""

TOKEN_SECONDS = 60.0
"""How often to try the bot token, which Slack may have revoked."""


class Limits:
    """How long Slack has closed which methods, or posting to which channels.

    With a `store`, `sync` shares them among all processes on one database.
    """

    def __init__(self, store: Store | None = None) -> None:
        self._store = store
        self._closed_until: dict[str, float] = {}
        self._unshared: set[str] = set()

    def left(self, method: str, channel: str = "") -> float:
        """Seconds until the method may be called again; zero or less if it may be called now."""
        return max(self._left(method), self._left(f"{method} {channel}"))

    def close(self, method: str, seconds: float, channel: str = "") -> None:
        name = f"{method} {channel}" if channel else method
        self._close(name, seconds)
        self._unshared.add(name)
        others = [key for key in self._closed_until if key.startswith(f"{method} ")]
        if channel and sum(self._left(other) > 0 for other in others) >= CHANNELS_OF_A_WORKSPACE:
            self.close(method, seconds)

    async def sync(self) -> None:
        """Exchange limits with other processes. Raises StoreUnavailable; known limits stay."""
        if self._store is None:
            return
        ends = {name: self._closed_until[name] for name in sorted(self._unshared)}
        left = {name: seconds for name in ends if (seconds := self._left(name)) > 0}
        if left:
            closed = await self._store.run(_exchange, left)
        else:
            closed = await self._store.read(_closed)
        for name, shared in closed.items():
            seconds = min(shared, LONGEST_RETRY_AFTER)
            if seconds - self._left(name) > SYNC_SECONDS:
                extra = {"action": "slack_limit_shared", "method": name, "seconds": seconds}
                logger.info("Slack rate limits another process", extra=extra)
                self._close(name, seconds)
        # A longer wait may have been met during the exchange.
        self._unshared -= {name for name, end in ends.items() if self._closed_until[name] == end}

    def _left(self, name: str) -> float:
        return self._closed_until.get(name, 0.0) - asyncio.get_running_loop().time()

    def _close(self, name: str, seconds: float) -> None:
        until = asyncio.get_running_loop().time() + seconds
        self._closed_until[name] = max(until, self._closed_until.get(name, until))


def _exchange(transaction: Transaction, left: Mapping[str, float]) -> Mapping[str, float]:
    for name, seconds in left.items():
        SlackLimits(transaction).close(name, seconds)
    return SlackLimits(transaction).closed()


def _closed(transaction: Transaction) -> Mapping[str, float]:
    return SlackLimits(transaction).closed()


class LimitedWebClient(AsyncWebClient):
    """Keeps to Slack's rate limits, `limits` or its own, and never retries.

    While Slack has closed a method, it refuses calls as Slack would, with the time left. Slack
    limits each method in a workspace, and posts in each channel as well
    (https://docs.slack.dev/apis/web-api/rate-limits).
    """

    def __init__(
        self,
        session: ClientSession,
        clock: Clock,
        *,
        token: SecretStr,
        base_url: str,
        metrics: Metrics = UNSCRAPED,
        limits: Limits | None = None,
    ) -> None:
        super().__init__(
            token=token.get_secret_value(),
            base_url=base_url,
            session=session,
            # The SDK's handler would repeat a post if the connection is lost after Slack took it.
            retry_handlers=[],
            # The SDK asks this logger, not its parents, whether to log; `bot.runtime.logs` sets it.
            logger=logging.getLogger("slack_sdk"),
        )
        # The session has the proxy; the SDK's would apply to this machine's own addresses, too.
        self.proxy = None
        self.limits = limits or Limits()
        self.seen = SlackObservation()
        """Whether Slack answers this process; a refusal is an answer."""
        self.refusal: str | None = None
        """Slack's code if it refused the bot token when it was last used."""
        self.clock_ahead = timedelta()
        """How far this machine's clock was ahead of Slack's at its last answer."""
        self._clock = clock
        self._metrics = metrics

    async def try_token(self) -> None:
        """Use the bot token, so that `refusal` is up to date; never raises.

        https://docs.slack.dev/reference/methods/auth.test
        """
        with suppress(*FAILURES):
            await self.auth_test()

    @override
    async def api_call(self, api_method: str, **kwargs: Any) -> AsyncSlackResponse:
        channel = str(kwargs["json"]["channel"]) if api_method == POSTING else ""
        left = self.limits.left(api_method, channel)
        if left > 0:
            raise self._refusal(api_method, left)
        try:
            try:
                answer = await super().api_call(api_method, **kwargs)
            except NOT_UNDERSTOOD as error:
                # The SDK takes any text for a JSON object.
                if isinstance(error, FAILURES):
                    raise
                raise self._not_understood(api_method, error) from error
            # It takes any gzip file for a success.
            if not isinstance(answer.data, Mapping) or answer.data.get("ok") is not True:
                raise self._failure(api_method, "unreadable", {}, HTTPStatus.OK)
        except FAILURES as error:
            self._note(api_method, channel, read_failure(error))
            raise
        self.seen = replace(self.seen, failing_since=None)
        if api_method not in OF_APP_TOKEN:
            self.refusal = None
        served = served_at(answer)
        if served is not None:
            self.clock_ahead = self._clock.now() - served
        return answer

    def _not_understood(self, api_method: str, error: Exception) -> SlackApiError:
        said = f"{type(error).__name__}: {error}"[:SAID_KEPT]
        extra = {"action": "slack_unreadable", "method": api_method, "said": said}
        logger.warning("unreadable answer in place of Slack's", extra=extra)
        return self._failure(api_method, "unreadable", {}, HTTPStatus.OK)

    def _note(self, api_method: str, channel: str, failure: Failure) -> None:
        if failure.is_answer:
            self.seen = replace(self.seen, failing_since=None)
        else:
            now = self._clock.now()
            self.seen = SlackObservation(self.seen.failing_since or now, failed_at=now)
        if failure.code in TOKEN_CODES and api_method not in OF_APP_TOKEN:
            self.refusal = failure.code
        self._metrics.count_slack_error(api_method, failure.code)
        if failure.is_for_rate:
            wait = failure.retry_after
            seconds = DEFAULT_WAIT_SECONDS if wait is None else wait
            self._metrics.slack_waits.inc()
            self._metrics.slack_wait_seconds.inc(seconds)
            where = {"method": api_method, "channel": channel, "seconds": seconds}
            logger.info("Slack rate limits a method", extra={"action": "slack_limited", **where})
            self.limits.close(api_method, seconds, channel)

    def _refusal(self, api_method: str, left: float) -> SlackApiError:
        data = {"ok": False, "error": "ratelimited"}
        wait = {"Retry-After": str(math.ceil(left))}
        status = HTTPStatus.TOO_MANY_REQUESTS
        return self._failure(api_method, "closed for its rate", data, status, wait)

    def _failure(
        self,
        api_method: str,
        said: str,
        data: dict[str, object],
        status: HTTPStatus,
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> SlackApiError:
        response = AsyncSlackResponse(
            client=self,
            http_verb="POST",
            api_url=api_method,
            req_args={},
            data=data,
            headers={**headers},
            status_code=status,
        )
        return SlackApiError(said, response)  # type: ignore[no-untyped-call]  # the SDK leaves it untyped


@dataclass(frozen=True, slots=True)
class Identity:
    """The bot's own ids in Slack, from `auth.test`."""

    team_id: str
    enterprise_id: str | None
    user_id: str
    bot_id: str
    name: str
    scopes: frozenset[str] | None = None
    """What the token may do; None if Slack didn't say."""

    @property
    def home_ids(self) -> frozenset[str]:
        """The ids that mark people of this organisation."""
        ids = {self.team_id, self.enterprise_id}
        return frozenset(team_id for team_id in ids if team_id is not None)


class TokenRefused(BotError):
    """Slack refuses a token; `code` is Slack's."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


async def identify(client: AsyncWebClient, clock: Clock) -> Identity:
    """Ask Slack for the bot's ids, and retry until it answers; raises TokenRefused.

    https://docs.slack.dev/reference/methods/auth.test
    """
    attempt = 0
    while True:
        try:
            answer = await client.auth_test()
            if answer.get("is_enterprise_install"):
                await _choose_workspace(client)
            return Identity(
                team_id=str(field_of(answer, "team_id")),
                enterprise_id=answer.get("enterprise_id"),
                user_id=str(field_of(answer, "user_id")),
                bot_id=str(field_of(answer, "bot_id")),
                name=str(field_of(answer, "user")),
                scopes=granted_scopes(answer),
            )
        except FAILURES as error:
            failure = read_failure(error)
        if failure.code in CREDENTIAL_CODES:
            raise TokenRefused(failure.code)
        attempt += 1
        logger.warning(
            "Slack cannot be reached",
            extra={"action": "slack_refused", "error": failure.code, "attempt": attempt},
        )
        await clock.sleep(retry_delay(attempt, hint=failure.retry_after, jitter=0.5))


async def _choose_workspace(client: AsyncWebClient) -> None:
    """Name a workspace in every call: with an organisation's token, some methods need one.

    https://docs.slack.dev/reference/methods/auth.teams.list
    """
    answer = await client.auth_teams_list(limit=1000)
    workspaces = sorted(str(team["id"]) for team in answer.get("teams") or ())
    if workspaces:
        client.default_params["team_id"] = workspaces[0]
    logger.info(
        "installed for the whole organisation",
        extra={"action": "org_wide", "workspaces": ", ".join(workspaces)},
    )


def granted_scopes(answer: AsyncSlackResponse) -> frozenset[str] | None:
    """The scopes of the token that made the call, from a header; None if Slack didn't say."""
    scopes = answer.headers.get("X-OAuth-Scopes")
    if scopes is None:
        return None
    return frozenset(scope.strip() for scope in scopes.split(",") if scope.strip())


def served_at(answer: AsyncSlackResponse) -> datetime | None:
    """When Slack answered, by its own clock."""
    return http_date(answer.headers.get("Date"))
