"""How fast one person may send requests, so that nobody keeps all others waiting."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable

from slack_bolt.middleware.async_middleware import AsyncMiddleware
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from typing_extensions import override

from bot.messages.blocks import sentence
from bot.messages.errors import TOO_FAST
from bot.slack.background import Background, Json, person

logger = logging.getLogger(__name__)

BURST = 40
"""Requests that one person may send at once."""

EACH_SECONDS = 1.0
"""After that one may come in so many seconds: what people do by hand comes nowhere near."""

TOLD_AGAIN_SECONDS = 10.0
"""Who presses buttons too fast is told so no more often."""

MOST_PEOPLE = 10_000

LIMITED = ("block_actions", "shortcut", "message_action")
"""The interactions that are counted: a form takes one of these to be opened."""


class Paces(AsyncMiddleware):
    """Acknowledges what one person sends too fast, which goes no further.

    The acknowledgement of a command says so; who presses buttons is told once in a while. Those
    who sent nothing for longest are forgotten.
    """

    def __init__(self, background: Background) -> None:
        self._background = background
        self._free_at: OrderedDict[str, float] = OrderedDict()
        self._told_at: dict[str, float] = {}

    @override
    async def async_process(
        self,
        *,
        req: AsyncBoltRequest,
        resp: BoltResponse,
        next: Callable[[], Awaitable[BoltResponse]],
    ) -> BoltResponse:
        is_command = "command" in req.body
        is_limited = is_command or req.body.get("type") in LIMITED
        if not is_limited or self._admits(person(req.body)):
            return await next()
        is_told_now = self._tell(req.body)
        if is_command:
            return BoltResponse(status=200, body=TOO_FAST)
        if is_told_now:
            self._background.tell(req.body, sentence(TOO_FAST))
        return BoltResponse(status=200)

    def _admits(self, user_id: str) -> bool:
        now = asyncio.get_running_loop().time()
        free_at = max(self._free_at.get(user_id, now), now)
        if free_at - now > (BURST - 1) * EACH_SECONDS:
            return False
        self._free_at[user_id] = free_at + EACH_SECONDS
        self._free_at.move_to_end(user_id)
        if len(self._free_at) > MOST_PEOPLE:
            forgotten, _ = self._free_at.popitem(last=False)
            self._told_at.pop(forgotten, None)
        return True

    def _tell(self, body: Json) -> bool:
        """Log it, and say whether it is time to tell the person."""
        user_id, now = person(body), asyncio.get_running_loop().time()
        if now - self._told_at.get(user_id, float("-inf")) < TOLD_AGAIN_SECONDS:
            return False
        self._told_at[user_id] = now
        extra = {"action": "person_too_fast", "actor": user_id}
        logger.warning("a person sends requests too fast", extra=extra)
        return True
