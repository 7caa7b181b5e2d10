"""Slack's rate limits, honoured by every task of every process and not only the one they met."""

import asyncio
import logging
import math
from collections.abc import Mapping
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse
from typing_extensions import override

from bot.domain.errors import StoreUnavailable
from bot.ports import Clock, Store
from bot.ports.measures import UNMEASURED, Measures
from bot.slack.web_api.failures import FAILURES, read_failure

logger = logging.getLogger(__name__)

DEFAULT_WAIT_SECONDS = 30.0
"""When Slack refuses for its rate without saying for how long."""

HEAR_SECONDS = 1.0
"""How late what another process met is known here, at most."""


class Limits:
    """Which methods are closed to this process, and for how long."""

    def __init__(self) -> None:
        self._closed_until: dict[str, float] = {}

    def left(self, method: str) -> float:
        """Seconds until it may be called again, zero or less when it may be."""
        return self._closed_until.get(method, 0.0) - asyncio.get_running_loop().time()

    async def close(self, method: str, seconds: float) -> None:
        self._close(method, seconds)

    def _close(self, method: str, seconds: float) -> None:
        until = asyncio.get_running_loop().time() + seconds
        self._closed_until[method] = max(until, self._closed_until.get(method, until))


class SharedLimits(Limits):
    """The same for all processes on one database.

    A call asks only what this process knows: what others met is heard by `hear`, from time to time.
    """

    def __init__(self, store: Store, clock: Clock) -> None:
        super().__init__()
        self._store = store
        self._clock = clock
        self._untold: dict[str, datetime] = {}

    @override
    async def close(self, method: str, seconds: float) -> None:
        """Told to the others at once, or by the next `hear` when the database does not answer."""
        self._close(method, seconds)
        self._untold[method] = self._clock.now() + timedelta(seconds=seconds)
        try:
            await self._exchange()
        except StoreUnavailable as error:
            logger.warning(
                "a limit of Slack's is not told to other processes yet",
                extra={"action": "slack_limit_untold", "method": method, "detail": error.cause},
            )

    async def hear(self) -> None:
        """Raises StoreUnavailable; what was known before still holds then."""
        for method, until in (await self._exchange()).items():
            seconds = (until - self._clock.now()).total_seconds()
            if seconds - self.left(method) > HEAR_SECONDS:
                logger.info(
                    "another process met a limit of Slack's",
                    extra={"action": "slack_limit_heard", "method": method, "seconds": seconds},
                )
                self._close(method, seconds)

    async def _exchange(self) -> Mapping[str, datetime]:
        told = dict(self._untold)
        async with self._store.begin() as transaction:
            for method, until in sorted(told.items()):
                await transaction.slack_limits.close(method, until)
            closed = await transaction.slack_limits.closed(self._clock.now())
        self._untold = {
            method: until for method, until in self._untold.items() if told.get(method) != until
        }
        return closed


class LimitedWebClient(AsyncWebClient):
    """Asks nothing of a method that Slack has closed for a while.

    Slack counts per method and workspace (https://docs.slack.dev/apis/web-api/rate-limits); a
    call made too early is refused here as Slack would refuse it, with the time that is left.
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
        left = self._limits.left(api_method)
        if left > 0:
            raise self._refusal(api_method, left)
        try:
            return await super().api_call(api_method, **kwargs)
        except FAILURES as error:
            await self._note(api_method, error)
            raise

    async def _note(self, api_method: str, error: Exception) -> None:
        failure = read_failure(error)
        self._measures.slack_failed(api_method, failure.code)
        if failure.is_for_rate:
            wait = failure.retry_after
            seconds = DEFAULT_WAIT_SECONDS if wait is None else wait
            self._measures.slack_limited(seconds)
            logger.info(
                "Slack limits a method",
                extra={"action": "slack_limited", "method": api_method, "seconds": seconds},
            )
            await self._limits.close(api_method, seconds)

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
