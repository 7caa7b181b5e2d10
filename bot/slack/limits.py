"""Slack's rate limits, honoured by every task of the process and not only the one that met them."""

import asyncio
import math
from typing import Any

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse
from typing_extensions import override

from bot.ports.measures import UNMEASURED, Measures
from bot.slack.failures import FAILURES, RATE_LIMITED, read_failure

TOO_MANY_REQUESTS = 429
DEFAULT_WAIT_SECONDS = 30.0
"""When Slack refuses for its rate without saying for how long."""


class LimitedWebClient(AsyncWebClient):
    """Asks nothing of a method that Slack has closed for a while.

    Slack counts per method and workspace (https://docs.slack.dev/apis/web-api/rate-limits); a
    call made too early is refused here as Slack would refuse it, with the time that is left.
    """

    @override
    def __init__(self, *args: Any, measures: Measures = UNMEASURED, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._measures = measures
        self._closed_until: dict[str, float] = {}

    @override
    async def api_call(self, api_method: str, **kwargs: Any) -> AsyncSlackResponse:
        left = self._closed_until.get(api_method, 0.0) - asyncio.get_running_loop().time()
        if left > 0:
            raise self._refusal(api_method, left)
        try:
            return await super().api_call(api_method, **kwargs)
        except FAILURES as error:
            self._note(api_method, error)
            raise

    def _note(self, api_method: str, error: Exception) -> None:
        failure = read_failure(error)
        self._measures.slack_failed(api_method, failure.code)
        if failure.status == TOO_MANY_REQUESTS or failure.code in RATE_LIMITED:
            wait = failure.retry_after
            seconds = DEFAULT_WAIT_SECONDS if wait is None else wait
            self._closed_until[api_method] = asyncio.get_running_loop().time() + seconds
            self._measures.slack_limited(seconds)

    def _refusal(self, api_method: str, left: float) -> SlackApiError:
        response = AsyncSlackResponse(
            client=self,
            http_verb="POST",
            api_url=api_method,
            req_args={},
            data={"ok": False, "error": "ratelimited"},
            headers={"Retry-After": str(math.ceil(left))},
            status_code=TOO_MANY_REQUESTS,
        )
        return SlackApiError("closed for its rate", response)  # type: ignore[no-untyped-call]  # the SDK leaves it untyped
