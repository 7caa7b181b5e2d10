"""Slack's rate limits, honoured by every task of every process and not only the one they met."""

import asyncio
import logging
import math
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse
from typing_extensions import override

from bot.domain.errors import StoreUnavailable
from bot.ports import UNMEASURED, Measures
from bot.slack.web_api.failures import FAILURES, LONGEST_SECONDS, read_failure
from bot.store.transactions import Store, Transaction

logger = logging.getLogger(__name__)

DEFAULT_WAIT_SECONDS = 30.0
"""When Slack refuses for its rate without saying for how long."""

HEAR_SECONDS = 1.0
"""How late what another process met is known here, at most."""

POSTING = "chat.postMessage"
"""Slack counts posts by channel, and all of a workspace's beside that, and does not say which of
the two limits was met."""

CHANNELS_OF_A_WORKSPACE = 3
"""Posts refused in so many channels at a time: it is the limit of the workspace."""


class Limits:
    """Which methods are closed to this process, or posting to which channels, and for how long."""

    def __init__(self) -> None:
        self._closed_until: dict[str, float] = {}

    def left(self, method: str, channel: str = "") -> float:
        """Seconds until it may be called again, zero or less when it may be."""
        return max(self._left(method), self._left(_name(method, channel)))

    async def close(self, method: str, seconds: float, channel: str = "") -> None:
        self._close(method, seconds, channel)

    def _left(self, name: str) -> float:
        return self._closed_until.get(name, 0.0) - asyncio.get_running_loop().time()

    def _close(self, method: str, seconds: float, channel: str = "") -> Sequence[str]:
        """Return what is closed with that."""
        names = [_name(method, channel)]
        self._close_name(names[0], seconds)
        if channel and self._channels_closed(method) >= CHANNELS_OF_A_WORKSPACE:
            names.append(method)
            self._close_name(method, seconds)
        return names

    def _channels_closed(self, method: str) -> int:
        over = [name for name in self._closed_until if self._left(name) <= 0]
        for name in over:
            del self._closed_until[name]
        return sum(name.startswith(f"{method} ") for name in self._closed_until)

    def _close_name(self, name: str, seconds: float) -> None:
        until = asyncio.get_running_loop().time() + seconds
        self._closed_until[name] = max(until, self._closed_until.get(name, until))


class SharedLimits(Limits):
    """The same for all processes on one database.

    A call asks only what this process knows: what others met is heard by `hear`, from time to time.
    """

    def __init__(self, store: Store) -> None:
        super().__init__()
        self._store = store
        self._untold: dict[str, float] = {}

    @override
    async def close(self, method: str, seconds: float, channel: str = "") -> None:
        """Told to the others at once, or by the next `hear` when the database does not answer."""
        until = asyncio.get_running_loop().time() + seconds
        for name in self._close(method, seconds, channel):
            self._untold[name] = until
        try:
            await self._exchange()
        except StoreUnavailable as error:
            logger.warning(
                "a limit of Slack's is not told to other processes yet",
                extra={"action": "slack_limit_untold", "method": method, "detail": error.cause},
            )

    async def hear(self) -> None:
        """Raises StoreUnavailable; what was known before still holds then."""
        for name, told in (await self._exchange()).items():
            seconds = min(told, LONGEST_SECONDS)
            if seconds - self._left(name) > HEAR_SECONDS:
                logger.info(
                    "another process met a limit of Slack's",
                    extra={"action": "slack_limit_heard", "method": name, "seconds": seconds},
                )
                self._close_name(name, seconds)

    async def _exchange(self) -> Mapping[str, float]:
        told = dict(self._untold)
        now = asyncio.get_running_loop().time()
        left = {name: until - now for name, until in sorted(told.items()) if until > now}
        closed = await self._store.run(_exchange, left)
        self._untold = {
            name: until for name, until in self._untold.items() if told.get(name) != until
        }
        return closed


def _exchange(transaction: Transaction, left: Mapping[str, float]) -> Mapping[str, float]:
    for name, seconds in left.items():
        transaction.slack_limits.close(name, seconds)
    return transaction.slack_limits.closed()


def _name(method: str, channel: str) -> str:
    return f"{method} {channel}" if channel else method


class LimitedWebClient(AsyncWebClient):
    """Asks nothing of a method that Slack has closed for a while.

    Slack counts per method and workspace (https://docs.slack.dev/apis/web-api/rate-limits); a
    call made too early is refused here as Slack would refuse it, with the time that is left.
    Posting is counted by channel as well.
    """

    @override
    def __init__(
        self,
        *args: Any,
        measures: Measures = UNMEASURED,
        limits: Limits | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self._measures = measures
        self._limits = limits or Limits()

    @override
    async def api_call(self, api_method: str, **kwargs: Any) -> AsyncSlackResponse:
        channel = _posted_to(api_method, kwargs)
        left = self._limits.left(api_method, channel)
        if left > 0:
            raise self._refusal(api_method, left)
        try:
            return await super().api_call(api_method, **kwargs)
        except FAILURES as error:
            await self._note(api_method, channel, error)
            raise

    async def _note(self, api_method: str, channel: str, error: Exception) -> None:
        failure = read_failure(error)
        self._measures.slack_failed(api_method, failure.code)
        if failure.is_for_rate:
            wait = failure.retry_after
            seconds = DEFAULT_WAIT_SECONDS if wait is None else wait
            self._measures.slack_limited(seconds)
            logger.info(
                "Slack limits a method",
                extra={
                    "action": "slack_limited",
                    "method": api_method,
                    "channel": channel,
                    "seconds": seconds,
                },
            )
            await self._limits.close(api_method, seconds, channel)

    def _refusal(self, api_method: str, left: float) -> SlackApiError:
        response = AsyncSlackResponse(
            client=self,
            http_verb="POST",
            api_url=api_method,
            req_args={},
            data={"ok": False, "error": "ratelimited"},
            headers={"Retry-After": str(math.ceil(left))},
            status_code=HTTPStatus.TOO_MANY_REQUESTS,
        )
        return SlackApiError("closed for its rate", response)  # type: ignore[no-untyped-call]  # the SDK leaves it untyped


def _posted_to(api_method: str, arguments: Mapping[str, Any]) -> str:
    """The channel that a post is for; empty for all other calls."""
    if api_method != POSTING:
        return ""
    given = arguments.get("json") or arguments.get("params") or arguments.get("data") or {}
    return str(given.get("channel") or "")
