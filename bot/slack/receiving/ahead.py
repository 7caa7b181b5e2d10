"""Commands and clicks, whose acknowledgement is empty, are acknowledged before anything else."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.audit import Actor, Origin
from bot.domain.errors import BotError
from bot.messages import actions
from bot.messages.blocks import sentence
from bot.messages.errors import TOO_FAST
from bot.slack.receiving.inbox import Inbox
from bot.slack.receiving.reception import HANDLED, Json, Listen
from bot.slack.replying.conversation import Conversation
from bot.slack.replying.errors import ErrorBoundary
from bot.slack.replying.replies import Replies

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


class Paces:
    """How fast each person sends requests; those who sent none for longest are forgotten."""

    def __init__(self) -> None:
        self._free_at: OrderedDict[str, float] = OrderedDict()
        self._told_at: dict[str, float] = {}

    def admits(self, user_id: str) -> bool:
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

    def is_to_be_told(self, user_id: str) -> bool:
        now = asyncio.get_running_loop().time()
        if now - self._told_at.get(user_id, float("-inf")) < TOLD_AGAIN_SECONDS:
            return False
        self._told_at[user_id] = now
        return True


class NotTaken(BotError):
    """No listener took what was acknowledged already; the log has why."""


@dataclass(frozen=True, slots=True)
class AcknowledgedAhead:
    """Slack waits three seconds, and shows an error then; behind this it never waits for us.

    The rest has its turn in `inbox`, as what a listener hands over has. A command that finds the
    inbox full is left to its listener, whose acknowledgement says so. A click has no such
    acknowledgement, so it is taken until the inbox is overrun.
    """

    command: str
    inbox: Inbox
    boundary: ErrorBoundary
    client: AsyncWebClient
    replies: Replies
    paces: Paces = field(default_factory=Paces)

    @property
    def is_overrun(self) -> bool:
        return self.inbox.is_overrun

    def too_fast(self, body: Json) -> BoltResponse | None:
        """The acknowledgement of what one person sends too fast, which goes no further.

        That of a command says so; who presses buttons is told once in a while.
        """
        is_command = "command" in body
        user_id = str(body.get("user_id") or _mapping(body.get("user")).get("id"))
        if not is_command and body.get("type") not in LIMITED:
            return None
        if self.paces.admits(user_id):
            return None
        is_to_be_told = self.paces.is_to_be_told(user_id)
        if is_to_be_told:
            extra = {"action": "person_too_fast", "actor": user_id}
            logger.warning("a person sends requests too fast", extra=extra)
        if is_command:
            return BoltResponse(status=HANDLED, body=TOO_FAST)
        if is_to_be_told:
            conversation = self._conversation(body)
            told = conversation.tell_actor(sentence(TOO_FAST))
            self.inbox.hand_over(self.boundary.guard(told, conversation))
        return BoltResponse(status=HANDLED)

    def takes(self, body: Json) -> bool:
        if body.get("type") == "block_actions":
            return _action_id(body).startswith(actions.PREFIX)
        return body.get("command") == self.command and not self.inbox.is_full

    def hand_over(self, body: Json, retry: str | None, listen: Listen) -> None:
        self.inbox.hand_over(self._have_heard(body, retry, listen))

    async def _have_heard(self, body: Json, retry: str | None, listen: Listen) -> None:
        await self.boundary.guard(_heard(body, retry, listen), self._conversation(body))

    def _conversation(self, body: Json) -> Conversation:
        """With whoever is to be told that it failed; nothing of the payload is relied upon."""
        user = _mapping(body.get("user"))
        user_id = str(body.get("user_id") or user.get("id"))
        view_id = _mapping(body.get("view")).get("id") if _is_of_modal(body) else None
        response_url = body.get("response_url")
        return Conversation(
            client=self.client,
            replies=self.replies,
            actor=Actor(user_id, user_id),
            origin=Origin.BUTTON if user else Origin.COMMAND,
            trigger_id="",
            response_url=response_url if isinstance(response_url, str) else None,
            view_id=view_id if isinstance(view_id, str) else None,
        )


async def _heard(body: Json, retry: str | None, listen: Listen) -> None:
    answer = await listen(body, retry)
    if answer.status != HANDLED:
        raise NotTaken(answer.status)


def _action_id(body: Json) -> str:
    pressed = body.get("actions")
    first = pressed[0] if isinstance(pressed, list) and pressed else None
    return str(_mapping(first).get("action_id", ""))


def _is_of_modal(body: Json) -> bool:
    return _mapping(body.get("view")).get("type") == "modal"


def _mapping(found: object) -> Mapping[str, Any]:
    return found if isinstance(found, Mapping) else {}
