"""Answers to one person: in the channel, in their form, or in a direct message."""

import logging
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from http import HTTPStatus
from typing import Any
from urllib.parse import urljoin

from aiohttp import (
    ClientError,
    ClientOSError,
    ClientSession,
    ConnectionTimeoutError,
    ServerDisconnectedError,
)
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.audit import Actor, Caller, Origin
from bot.domain.errors import NeedsClick
from bot.domain.message import Block, Message, View
from bot.messages import pause, pause_form
from bot.messages.blocks import CHART
from bot.metrics import UNSCRAPED, Metrics
from bot.ports import ChannelDirectory
from bot.slack.payloads import Said
from bot.slack.web_api.channels import fitted
from bot.slack.web_api.failures import (
    BLOCKS_CODES,
    FAILURES,
    VIEW_GONE_CODES,
    blocks_refused,
    read_failure,
)

logger = logging.getLogger(__name__)

ANSWER_KEPT = 100
REFUSED = re.compile(r'"ok"\s*:\s*false')
"""A refusal may have the status 200."""

CODE_IN_JSON = re.compile(r'"error"\s*:\s*"([a-z0-9_]{1,60})"')
CODE_ALONE = re.compile(r"\s*([a-z0-9_]{1,60})\s*")

OF_SLACK = re.compile(r"https://([a-z0-9-]+\.)*slack(-gov)?\.com/")
NOT_SLACK = "address_not_slacks"

NO_CONNECTION = (ClientOSError, ConnectionTimeoutError, ServerDisconnectedError)


def _forms(message: Message) -> Iterator[dict[str, Any]]:
    """The fields of a message, those of it without charts, and its text alone.

    If Slack refuses the blocks of one, the next one is sent, so that people always get an answer.
    """
    blocks = [dict(block) for block in message.blocks]
    plainer = [block for block in blocks if block["type"] != CHART]
    if blocks:
        yield {"text": message.text, "blocks": blocks}
    if plainer and plainer != blocks:
        yield {"text": message.text, "blocks": plainer}
    yield {"text": message.text}


async def _send_as_taken(
    method: str, send: Callable[..., Awaitable[object]], message: Message
) -> None:
    """Send the message, or if Slack refuses its blocks a plainer form. Raises FAILURES."""
    for form in _forms(message):
        try:
            await send(**form)
        except SlackApiError as error:
            code = read_failure(error).code
            if "blocks" not in form or code not in BLOCKS_CODES:
                raise
            blocks_refused(method, code)
        else:
            return


@dataclass(frozen=True, slots=True)
class Replies:
    """Posts to a `response_url`, which Slack takes five times in thirty minutes.

    Only to Slack's own hosts and the host of the Web API: with a stolen signing secret, any address
    in our network could be posted to otherwise. The SDK's AsyncWebhookClient would follow a
    redirect there.
    https://docs.slack.dev/interactivity/handling-user-interaction#message_responses
    """

    client: AsyncWebClient
    session: ClientSession
    channels: ChannelDirectory
    metrics: Metrics = UNSCRAPED

    async def send(self, response_url: str, message: Message, **how: str | bool) -> None:
        """`how`: Slack's other fields, `response_type` and `replace_original`."""
        for form in _forms(message):
            code = await self.post(response_url, {"unfurl_links": False, **form, **how})
            if code not in BLOCKS_CODES:
                return
            blocks_refused("response_url", code)

    async def post(self, response_url: str, body: dict[str, Any]) -> str | None:
        """Return None if Slack took it, else the error code, Slack's or ours.

        Retried once if there was no connection, or if it was lost before any answer, as when Slack
        closes an idle one. After a timeout it is not retried: the reply might show twice.
        """
        if not is_slacks(response_url, self.client.base_url):
            return self._failed(NOT_SLACK)
        try:
            try:
                return await self._post_once(response_url, body)
            except NO_CONNECTION as error:
                lost = type(error).__name__
                self.metrics.count_slack_error("response_url", lost)
                logger.info("reply sent again", extra={"action": "reply_again", "said": lost})
                return await self._post_once(response_url, body)
        except (ClientError, TimeoutError) as error:
            return self._failed(type(error).__name__)

    async def _post_once(self, url: str, body: dict[str, Any]) -> str | None:
        async with self.session.post(url, json=body, allow_redirects=False) as answer:
            said = (await answer.text(errors="replace"))[:ANSWER_KEPT]
        if answer.status < HTTPStatus.MULTIPLE_CHOICES and not REFUSED.search(said):
            return None
        return self._failed(refusal_code(said, answer.status))

    def _failed(self, code: str) -> str:
        self.metrics.count_slack_error("response_url", code)
        logger.warning("reply not delivered", extra={"action": "reply_failed", "said": code})
        return code


def is_slacks(response_url: str, api: str) -> bool:
    """Whether the address is on one of Slack's hosts, or on the Web API's.

    Everything before the path is compared, so that no other parser can read another host.
    """
    return bool(OF_SLACK.match(response_url)) or response_url.startswith(urljoin(api, "/"))


def refusal_code(said: str, status: int) -> str:
    """Slack's error code, else the HTTP status; never another part of the answer."""
    found = CODE_IN_JSON.search(said) or CODE_ALONE.fullmatch(said)
    return found[1] if found else f"http_{status}"


CHANGED_CODES = VIEW_GONE_CODES | {"hash_conflict"}


class Answers(Enum):
    """The place of the answer to a command that only reads."""

    TO_ACTOR = "to actor"
    IN_PLACE = "in place"
    TO_CHANNEL = "to channel"


Opened = tuple[str, str | None]
"""The id and the hash of a view on somebody's screen."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """Who asked, from where, and how to answer.

    `response_url`: for commands, and for elements of messages.
    `view_id`: for modals.
    `in_channel_message`: the element is in a message that the whole channel sees.
    `asked`: the message to answer, if it wasn't a command, button or form.
    """

    replies: Replies
    actor: Actor
    origin: Origin
    trigger_id: str = ""
    channel_id: str | None = None
    response_url: str | None = None
    view_id: str | None = None
    in_channel_message: bool = False
    answers: Answers = Answers.TO_ACTOR
    asked: Said | None = None

    @property
    def client(self) -> AsyncWebClient:
        return self.replies.client

    @property
    def caller(self) -> Caller:
        return Caller(self.actor, self.origin, self.channel_id)

    @property
    def on_private_message(self) -> bool:
        """Whether a button was pressed in a message that only the actor sees."""
        is_message = self.response_url is not None and self.view_id is None
        return self.origin is Origin.BUTTON and is_message and not self.in_channel_message

    @property
    def in_thread(self) -> bool:
        """Whether somebody asked in a thread, whose readers don't see a post in the channel."""
        return self.asked is not None and self.asked.thread_ts is not None

    async def answer(self, message: Message) -> None:
        """Answer a command that only reads, which a button may have repeated."""
        match self.answers:
            case Answers.TO_ACTOR:
                await self.reply(message)
            case Answers.IN_PLACE:
                await self.replace_message(message)
            case Answers.TO_CHANNEL:
                await self.post_in_channel(message)

    async def reply(self, message: Message) -> None:
        """Show it only to the actor: here, in their modal, or in a direct message."""
        await self._reply(message, response_type="ephemeral", replace_original=False)

    async def reply_in_place(self, message: Message) -> None:
        """The same, in place of a question that only the actor sees."""
        show = self.replace_message if self.on_private_message else self.reply
        await show(message)

    async def post_in_channel(self, message: Message) -> None:
        """Show it to the channel, even if the bot isn't in it; without a channel, to the actor."""
        if self.response_url is not None:
            how: dict[str, str | bool] = {"response_type": "in_channel", "replace_original": False}
            await self.replies.send(self.response_url, await self._fitted(message), **how)
        elif self.asked is not None:
            await self._post(self.asked.channel, await self._fitted(message), self.asked)
        else:
            await self.reply(message)

    async def replace_message(self, message: Message) -> None:
        """Replace the message or modal that the actor used."""
        if self.in_channel_message:
            message = await self._fitted(message)
        await self._reply(message, replace_original=True)

    async def remove_message(self) -> None:
        """Delete the message that the actor used; a modal, which only they can close, says so."""
        if self.view_id is not None:
            await self._reply(pause.unchanged())
        elif self.response_url is not None:
            await self.replies.post(self.response_url, {"delete_original": True})

    async def send_direct_message(self, user_id: str, message: Message) -> None:
        """Send somebody else a direct message; a refusal is logged."""
        try:
            await self._post(user_id, message)
        except FAILURES as error:
            code = read_failure(error).code
            logger.warning("person not notified", extra={"action": "not_notified", "error": code})

    async def address_of(self, message_ts: str | None) -> str | None:
        """The address of a message in this channel; None if Slack doesn't answer."""
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

    async def open_modal(self, view: View) -> Opened:
        """Slack takes the trigger once, within three seconds; raises NeedsClick without one."""
        if not self.trigger_id:
            raise NeedsClick
        answer = await self.client.views_open(trigger_id=self.trigger_id, view=dict(view.view))
        opened: dict[str, Any] = answer["view"]
        return opened["id"], opened.get("hash")

    async def show_in_modal(self, opened: Opened, view: View) -> None:
        """Unless the person closed, submitted or changed the modal meanwhile."""
        view_id, view_hash = opened
        try:
            await self.client.views_update(view_id=view_id, hash=view_hash, view=dict(view.view))
        except SlackApiError as error:
            code = read_failure(error).code
            if code not in CHANGED_CODES:
                raise
            logger.info("modal changed meanwhile", extra={"action": "modal_gone", "error": code})

    async def _reply(self, message: Message, **how: str | bool) -> None:
        if self.view_id is not None:
            await self._update_modal(self.view_id, message)
        elif self.response_url is not None:
            await self.replies.send(self.response_url, message, **how)
        elif self.asked is None:
            await self._post(self.actor.user_id, message)
        elif self.asked.is_direct:
            await self._post(self.asked.channel, message, self.asked)
        else:
            # Slack shows it in a thread only if that has replies already
            # (https://docs.slack.dev/reference/methods/chat.postEphemeral).
            post = partial(
                self.client.chat_postEphemeral,
                channel=self.asked.channel,
                user=self.actor.user_id,
                thread_ts=self.asked.thread_ts,
            )
            await _send_as_taken("chat.postEphemeral", post, message)

    async def _fitted(self, message: Message) -> Message:
        return (await fitted(self.replies.channels, self.channel_id, message))[0]

    async def _update_modal(self, view_id: str, message: Message) -> None:
        """Show the message in the modal; if it was closed meanwhile, in a direct message."""

        async def update(text: str, blocks: Sequence[Block] = ()) -> None:
            view = pause_form.result_modal(Message(text, tuple(blocks)), self.channel_id)
            await self.client.views_update(view_id=view_id, view=dict(view.view))

        try:
            await _send_as_taken("views.update", update, message)
        except SlackApiError as error:
            if read_failure(error).code not in VIEW_GONE_CODES:
                raise
            await self._post(self.actor.user_id, message)

    async def _post(self, address: str, message: Message, asked: Said | None = None) -> None:
        """`asked`: the message whose thread gets it."""
        post = partial(
            self.client.chat_postMessage,
            channel=address,
            thread_ts=asked.answered_in if asked is not None else None,
            unfurl_links=False,
        )
        await _send_as_taken("chat.postMessage", post, message)
