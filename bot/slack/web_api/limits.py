"""Slack's rate limits, honoured by all tasks of all processes."""

import asyncio
import logging
import math
from collections.abc import Mapping
from dataclasses import replace
from http import HTTPStatus
from typing import Any

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse
from typing_extensions import override

from bot.domain.errors import StoreUnavailable
from bot.domain.outages import SlackObservation
from bot.ports import UNMEASURED, Clock, Count, Measures
from bot.slack.web_api.failures import FAILURES, LONGEST_SECONDS, Failure, read_failure
from bot.store.transactions import Store, Transaction

logger = logging.getLogger(__name__)

DEFAULT_WAIT_SECONDS = 30.0
"""If Slack limits a method without saying for how long."""

SYNC_SECONDS = 1.0
"""How often to read the limits that other processes met."""

POSTING = "chat.postMessage"
"""Slack limits posts in each channel and in the workspace, and doesn't say which limit it was."""

CHANNELS_OF_A_WORKSPACE = 3
"""If posts are limited in so many channels at a time, the limit is the workspace's."""


class Limits:
    """How long Slack has closed which methods, or posting to which channels.

    With a `store`, all processes on one database share their limits: each tells the others
    immediately, and reads theirs in `sync`.
    """

    def __init__(self, store: Store | None = None) -> None:
        self._store = store
        self._closed_until: dict[str, float] = {}
        self._unshared: dict[str, float] = {}

    def left(self, method: str, channel: str = "") -> float:
        """Seconds until the method may be called again; zero or less if it may be called now."""
        return max(self._left(method), self._left(f"{method} {channel}"))

    async def close(self, method: str, seconds: float, channel: str = "") -> None:
        """Close it for a while. If the database doesn't answer, the next `sync` stores that."""
        name = f"{method} {channel}" if channel else method
        self._unshared[name] = self._close(name, seconds)
        if channel and self._channels_closed(method) >= CHANNELS_OF_A_WORKSPACE:
            self._unshared[method] = self._close(method, seconds)
        try:
            await self._exchange()
        except StoreUnavailable as error:
            extra = {"action": "slack_limit_not_shared", "method": method, "detail": error.cause}
            logger.warning("a limit of Slack's is not stored yet", extra=extra)

    async def sync(self) -> None:
        """Read the limits that others met. Raises StoreUnavailable; known limits stay."""
        for name, shared in (await self._exchange()).items():
            seconds = min(shared, LONGEST_SECONDS)
            if seconds - self._left(name) > SYNC_SECONDS:
                extra = {"action": "slack_limit_shared", "method": name, "seconds": seconds}
                logger.info("another process met a limit of Slack's", extra=extra)
                self._close(name, seconds)

    def _left(self, name: str) -> float:
        return self._closed_until.get(name, 0.0) - asyncio.get_running_loop().time()

    def _close(self, name: str, seconds: float) -> float:
        until = asyncio.get_running_loop().time() + seconds
        self._closed_until[name] = max(until, self._closed_until.get(name, until))
        return self._closed_until[name]

    def _channels_closed(self, method: str) -> int:
        self._closed_until = {
            name: until for name, until in self._closed_until.items() if self._left(name) > 0
        }
        return sum(name.startswith(f"{method} ") for name in self._closed_until)

    async def _exchange(self) -> Mapping[str, float]:
        if self._store is None:
            return {}
        shared = dict(self._unshared)
        now = asyncio.get_running_loop().time()
        left = {name: until - now for name, until in sorted(shared.items()) if until > now}
        closed = await self._store.run(_exchange, left)
        self._unshared = {
            name: until for name, until in self._unshared.items() if shared.get(name) != until
        }
        return closed


def _exchange(transaction: Transaction, left: Mapping[str, float]) -> Mapping[str, float]:
    for name, seconds in left.items():
        transaction.expiring_keys.close(name, seconds)
    return transaction.expiring_keys.closed()


class Reach:
    """Whether Slack answers this process; a refusal is an answer."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.seen = SlackObservation()

    def failed(self) -> None:
        now = self._clock.now()
        self.seen = SlackObservation(self.seen.failing_since or now, failed_at=now)

    def answered(self) -> None:
        self.seen = replace(self.seen, failing_since=None)


class LimitedWebClient(AsyncWebClient):
    """Refuses calls of a method that Slack has closed, as Slack would, with the time left.

    Slack limits each method in a workspace, and posts in each channel as well
    (https://docs.slack.dev/apis/web-api/rate-limits).
    """

    @override
    def __init__(
        self,
        *args: Any,
        measures: Measures = UNMEASURED,
        limits: Limits | None = None,
        reach: Reach | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self._measures = measures
        self._limits = limits or Limits()
        self._reach = reach

    @override
    async def api_call(self, api_method: str, **kwargs: Any) -> AsyncSlackResponse:
        channel = str(kwargs["json"]["channel"]) if api_method == POSTING else ""
        left = self._limits.left(api_method, channel)
        if left > 0:
            raise self._refusal(api_method, left)
        try:
            answer = await super().api_call(api_method, **kwargs)
        except FAILURES as error:
            await self._note(api_method, channel, read_failure(error))
            raise
        if self._reach is not None and self._reach.seen.failing_since is not None:
            self._reach.answered()
        return answer

    async def _note(self, api_method: str, channel: str, failure: Failure) -> None:
        if self._reach is not None:
            note = self._reach.answered if failure.is_answer else self._reach.failed
            note()
        self._measures.count(Count.SLACK_ERRORS, api_method, failure.code)
        if failure.is_for_rate:
            wait = failure.retry_after
            seconds = DEFAULT_WAIT_SECONDS if wait is None else wait
            self._measures.count(Count.SLACK_WAITS)
            self._measures.count(Count.SLACK_WAIT_SECONDS, by=seconds)
            where = {"method": api_method, "channel": channel, "seconds": seconds}
            logger.info("Slack limits a method", extra={"action": "slack_limited", **where})
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
