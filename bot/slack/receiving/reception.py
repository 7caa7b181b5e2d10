"""A payload's way to its acknowledgement and to Bolt's listeners, whichever way it came."""

import asyncio
from collections.abc import Sequence
from typing import Any, Protocol

from slack_bolt.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse

from bot.ports.measures import UNMEASURED, Measures
from bot.slack.receiving.once import KEY, RETRY, request_key
from bot.slack.tracing import tracing

Json = dict[str, Any]

HANDLED = 200
NO_ROOM = 503


class Listen(Protocol):
    """Gives a payload to Bolt."""

    async def __call__(self, body: Json, retry: str | None) -> BoltResponse: ...


class Ahead(Protocol):
    """Knows what may be acknowledged before Bolt has seen it."""

    @property
    def is_overrun(self) -> bool:
        """Whether there is no room for anything more."""
        ...

    def too_fast(self, body: Json) -> BoltResponse | None:
        """The answer to somebody who sends too much; None for everybody else."""
        ...

    def takes(self, body: Json) -> bool:
        """Whether the acknowledgement of this is empty, whatever a listener makes of it."""
        ...

    def hand_over(self, body: Json, retry: str | None, listen: Listen) -> None:
        """Have it listened to, soon; whoever waits for an answer gets one."""
        ...


class Reception:
    """Says what to acknowledge a payload with.

    What `ahead` takes is acknowledged first and listened to afterwards, so that no one's
    acknowledgement waits for what another's payload is made into. Everything else, forms and
    events, has the acknowledgement that its listener gives. What finds no room has none: Slack
    shows an error to whoever acted, and sends events again.
    """

    def __init__(
        self, app: AsyncApp, measures: Measures = UNMEASURED, ahead: Ahead | None = None
    ) -> None:
        self._app = app
        self._measures = measures
        self._ahead = ahead

    async def acknowledge(self, body: Json, retry: str | None) -> BoltResponse:
        """The answer for Slack; how long it took is measured.

        `retry` counts what Slack has sent again. A parsed body is what Socket Mode gives; over
        HTTP it is parsed before it comes here. Bolt's own reading of a form takes any command in
        whose text the word “payload” stands for a request without fields.
        """
        loop = asyncio.get_running_loop()
        begun = loop.time()
        if self._ahead is not None and self._ahead.is_overrun:
            return BoltResponse(status=NO_ROOM)
        refused = self._ahead.too_fast(body) if self._ahead is not None else None
        if refused is not None:
            return refused
        if self._ahead is not None and self._ahead.takes(body):
            self._ahead.hand_over(body, retry, self._listen)
            answer = BoltResponse(status=HANDLED)
        else:
            answer = await self._listen(body, retry)
        self._measures.acknowledged(loop.time() - begun)
        return answer

    async def _listen(self, body: Json, retry: str | None) -> BoltResponse:
        # A digest, taken once: the log and the listeners' guard both know the request by that.
        key = request_key(body)
        known = {} if key is None else {"request": key.short}
        # Of the headers nothing else is asked for, and Bolt would copy each of them.
        headers: dict[str, str | Sequence[str]] = {} if retry is None else {RETRY: retry}
        request = AsyncBoltRequest(
            mode="socket_mode", body=body, headers=headers, context={KEY: key}
        )
        with tracing(**known):
            return await self._app.async_dispatch(request)
