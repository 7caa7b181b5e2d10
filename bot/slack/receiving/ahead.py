"""Commands and clicks, whose acknowledgement is empty, are acknowledged before anything else."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.audit import Actor, Origin
from bot.domain.errors import BotError
from bot.messages import actions
from bot.slack.receiving.inbox import Inbox
from bot.slack.receiving.reception import HANDLED, Json, Listen
from bot.slack.replying.conversation import Conversation
from bot.slack.replying.errors import ErrorBoundary
from bot.slack.replying.replies import Replies


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

    @property
    def is_overrun(self) -> bool:
        return self.inbox.is_overrun

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
