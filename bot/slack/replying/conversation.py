"""The exchange with one person: where their words came from and where answers go."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.audit import Actor, Origin
from bot.domain.message import Message, View
from bot.messages import pause
from bot.slack.replying.replies import Replies, plainer_and_plainer
from bot.slack.web_api.failures import (
    FAILURES,
    VIEW_GONE_CODES,
    are_blocks_refused,
    blocks_refused,
    read_failure,
)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Conversation:
    """`response_url` is there for commands and for elements of messages, `view_id` for modals.

    `in_channel_message`: the element stood in a message that the whole channel sees.
    """

    client: AsyncWebClient
    replies: Replies
    actor: Actor
    origin: Origin
    trigger_id: str
    channel_id: str | None = None
    response_url: str | None = None
    view_id: str | None = None
    in_channel_message: bool = False

    @property
    def on_private_message(self) -> bool:
        """Whether a button was pressed in a message that nobody else sees, to be replaced."""
        return (
            self.origin is Origin.BUTTON
            and self.response_url is not None
            and self.view_id is None
            and not self.in_channel_message
        )

    async def tell_actor(self, message: Message) -> None:
        """Only the actor sees it: here, in their modal, or else in a direct message."""
        if self.view_id is not None:
            await self._update_modal(message)
        elif self.response_url is not None:
            await self.replies.to_actor(self.response_url, message)
        else:
            await self._direct(message)

    async def tell_person(self, user_id: str, message: Message) -> None:
        """In a direct message to somebody else; one that Slack refuses is logged."""
        try:
            await self._or_text_alone("chat.postMessage", partial(self._post_to, user_id), message)
        except FAILURES as error:
            code = read_failure(error).code
            logger.warning("person not notified", extra={"action": "not_notified", "error": code})

    async def tell_channel(self, message: Message) -> None:
        """Everybody here sees it; without a channel the actor alone."""
        if self.response_url is not None:
            await self.replies.to_channel(self.response_url, message, self.channel_id)
        else:
            await self.tell_actor(message)

    async def put_in_place(self, message: Message) -> None:
        """The message or modal that the actor acted on becomes this one."""
        if self.view_id is not None:
            await self._update_modal(message)
        elif self.response_url is not None:
            seen_in = self.channel_id if self.in_channel_message else None
            await self.replies.in_place(self.response_url, message, seen_in)
        else:
            await self._direct(message)

    async def take_away(self) -> None:
        """The message that the actor acted on goes; a modal, which only they can close, says so."""
        if self.view_id is not None:
            await self._update_modal(pause.unchanged())
        elif self.response_url is not None:
            await self.replies.take_away(self.response_url)

    async def address_of(self, message_ts: str | None) -> str | None:
        """The address of a message in this channel; None when Slack does not tell it."""
        if self.channel_id is None or message_ts is None:
            return None
        try:
            answer = await self.client.chat_getPermalink(
                channel=self.channel_id, message_ts=message_ts
            )
        except FAILURES as error:
            code = read_failure(error).code
            logger.warning("address not known", extra={"action": "no_permalink", "error": code})
            return None
        return str(answer["permalink"])

    async def open_modal(self, view: View) -> "OpenedModal":
        """Slack takes the trigger once, within three seconds."""
        answer = await self.client.views_open(trigger_id=self.trigger_id, view=dict(view.view))
        opened: dict[str, Any] = answer["view"]
        return OpenedModal(self.client, opened["id"], opened.get("hash"))

    async def publish_home(self, view: View) -> None:
        await self.client.views_publish(user_id=self.actor.user_id, view=dict(view.view))

    async def _update_modal(self, message: Message) -> None:
        """Whoever has closed the modal meanwhile is told in a direct message."""
        try:
            await self._or_text_alone("views.update", self._show_in_modal, message)
        except SlackApiError as error:
            if read_failure(error).code not in VIEW_GONE_CODES:
                raise
            await self._direct(message)

    async def _direct(self, message: Message) -> None:
        await self._or_text_alone("chat.postMessage", self._post_directly, message)

    async def _or_text_alone(
        self, method: str, send: Callable[[Message], Awaitable[None]], message: Message
    ) -> None:
        """People are told, always: when the blocks are refused, the text goes alone."""
        for attempt in plainer_and_plainer(message):
            try:
                return await send(attempt)
            except SlackApiError as error:
                if not attempt.blocks or not are_blocks_refused(error):
                    raise
                blocks_refused(method, read_failure(error).code)
        return None

    async def _show_in_modal(self, message: Message) -> None:
        view = pause.result_modal(message, self.channel_id)
        await self.client.views_update(view_id=self.view_id, view=dict(view.view))

    async def _post_directly(self, message: Message) -> None:
        await self._post_to(self.actor.user_id, message)

    async def _post_to(self, user_id: str, message: Message) -> None:
        await self.client.chat_postMessage(
            channel=user_id,
            text=message.text,
            blocks=[dict(block) for block in message.blocks] or None,
            unfurl_links=False,
        )


@dataclass(frozen=True, slots=True)
class OpenedModal:
    """A modal on the actor's screen."""

    client: AsyncWebClient
    view_id: str
    view_hash: str | None

    async def show(self, view: View) -> None:
        """Put `view` in its place, unless it has changed meanwhile (`hash_conflict`)."""
        await self.client.views_update(
            view_id=self.view_id, hash=self.view_hash, view=dict(view.view)
        )
