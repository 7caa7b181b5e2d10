"""The work behind an acknowledgement: done once, and explained to whoever asked when it fails."""

from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.audit import Actor, Origin
from bot.domain.message import Message
from bot.domain.repository import RepositoryName
from bot.slack.inbox import Inbox
from bot.slack.once import Once
from bot.slack.replying.conversation import Conversation
from bot.slack.replying.errors import ErrorBoundary
from bot.slack.replying.replies import Replies

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Background:
    """What listeners hand their work to, and what they answer people with."""

    inbox: Inbox
    once: Once
    boundary: ErrorBoundary
    client: AsyncWebClient
    replies: Replies

    def start(
        self,
        body: Json,
        work: Coroutine[Any, Any, None],
        conversation: Conversation,
        *,
        repository: RepositoryName | None = None,
        retry: str | None = None,
    ) -> None:
        """Begin `work` soon, unless the request in `body` came before.

        `retry` is the command text that a *Try again* button would repeat.
        """
        once = self.once.act(body, work)
        guarded = self.boundary.guard(once, conversation, repository=repository, retry=retry)
        self.inbox.hand_over(guarded)

    def tell(self, body: Json, message: Message) -> None:
        """Send whoever sent `body` a message, soon."""
        conversation = self._conversation_about(body)
        told = conversation.tell_actor(message)
        self.inbox.hand_over(self.boundary.guard(told, conversation))

    @property
    def conversation(self) -> partial[Conversation]:
        """Makes a conversation of what is left: who acts, from where, where answers go."""
        return partial(Conversation, client=self.client, replies=self.replies)

    def _conversation_about(self, body: Json) -> Conversation:
        """With whoever sent `body`; nothing of it is relied upon."""
        response_url, view = body.get("response_url"), _mapping(body.get("view"))
        user = person(body)
        return self.conversation(
            actor=Actor(user, user),
            origin=Origin.BUTTON if "user" in body else Origin.COMMAND,
            trigger_id="",
            response_url=response_url if isinstance(response_url, str) else None,
            view_id=str(view["id"]) if view.get("type") == "modal" and "id" in view else None,
        )


def person(body: Json) -> str:
    """The id of whoever sent a command, or pressed or submitted something."""
    return str(body.get("user_id") or _mapping(body.get("user")).get("id"))


def _mapping(found: object) -> Mapping[str, Any]:
    return found if isinstance(found, Mapping) else {}
