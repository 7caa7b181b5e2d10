"""The exchange with one person: where their words came from and where answers go."""

import logging
import re
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
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
from bot.domain.message import Message, View
from bot.messages import pause, pause_form
from bot.messages.blocks import CHART, has_controls, without_controls
from bot.ports import UNMEASURED, ChannelDirectory, Measures
from bot.slack.web_api.failures import (
    BLOCKS_CODES,
    FAILURES,
    VIEW_GONE_CODES,
    are_blocks_refused,
    blocks_refused,
    read_failure,
)

logger = logging.getLogger(__name__)

ANSWER_KEPT = 100
REFUSED = re.compile(r'"ok"\s*:\s*false')
"""A refusal may come with the status 200, as those of the Web API do."""

CODE_IN_JSON = re.compile(r'"error"\s*:\s*"([a-z0-9_]{1,60})"')
CODE_ALONE = re.compile(r"\s*([a-z0-9_]{1,60})\s*")

OF_SLACK = re.compile(r"https://([a-z0-9-]+\.)*slack(-gov)?\.com/")
NOT_SLACK = "address_not_slacks"

CHANGED_CODES = VIEW_GONE_CODES | {"hash_conflict"}

NO_CONNECTION = (ClientOSError, ConnectionTimeoutError, ServerDisconnectedError)


@dataclass(frozen=True, slots=True)
class Replies:
    """Posts to `response_url` over our own session: at most five times in thirty minutes.

    Only to Slack's own hosts and to where `api` is, the address of the Web API: whoever has learnt
    the signing secret could else have any address on our network posted to. The SDK's
    AsyncWebhookClient would follow a redirection to one.
    https://docs.slack.dev/interactivity/handling-user-interaction#message_responses
    """

    session: ClientSession
    channels: ChannelDirectory
    api: str
    measures: Measures = UNMEASURED

    async def send(self, response_url: str, message: Message, **how: str | bool) -> None:
        """`how` is what Slack takes besides: `response_type`, `replace_original`."""
        for attempt in plainer_and_plainer(message):
            body: dict[str, Any] = {"text": attempt.text, "unfurl_links": False, **how}
            if attempt.blocks:
                body["blocks"] = [dict(block) for block in attempt.blocks]
            refusal = await self.post(response_url, body)
            if refusal is None or not any(code in refusal for code in BLOCKS_CODES):
                return
            blocks_refused("response_url", refusal)

    async def post(self, response_url: str, body: dict[str, Any]) -> str | None:
        """None when Slack took it, else what Slack said.

        Tried once more when no connection came about, or when it was lost before anything was
        answered, as with one that Slack closed while it was idle: nobody else answers the person.
        What was sent and not answered in time is never tried again: it might show twice.
        """
        said = NOT_SLACK
        code: str | None = NOT_SLACK
        try:
            if is_slacks(response_url, self.api):
                said, code = await self._post_or_again(response_url, body)
        except (ClientError, TimeoutError) as error:
            said = code = type(error).__name__
        if code is None:
            return None
        self.measures.slack_failed("response_url", code)
        logger.warning("reply not delivered", extra={"action": "reply_failed", "said": said})
        return said

    async def _post_or_again(self, url: str, body: dict[str, Any]) -> tuple[str, str | None]:
        try:
            return await self._post_once(url, body)
        except NO_CONNECTION as error:
            lost = type(error).__name__
            self.measures.slack_failed("response_url", lost)
            logger.info("reply sent again", extra={"action": "reply_again", "said": lost})
            return await self._post_once(url, body)

    async def _post_once(self, url: str, body: dict[str, Any]) -> tuple[str, str | None]:
        """What Slack said, and its code when that is a refusal."""
        async with self.session.post(url, json=body, allow_redirects=False) as answer:
            said = (await answer.text(errors="replace"))[:ANSWER_KEPT]
            if answer.status < HTTPStatus.MULTIPLE_CHOICES and not REFUSED.search(said):
                return said, None
            return said, refusal_code(said, answer.status)


def is_slacks(response_url: str, api: str) -> bool:
    """Whether it leads to one of Slack's hosts, or to where the Web API is.

    All of the address up to its path is compared, so that no two readers can differ about it.
    """
    return bool(OF_SLACK.match(response_url)) or response_url.startswith(urljoin(api, "/"))


def refusal_code(said: str, status: int) -> str:
    """What Slack calls it, else the HTTP status: never a piece of whatever else was answered."""
    found = CODE_IN_JSON.search(said) or CODE_ALONE.fullmatch(said)
    return found[1] if found else f"http_{status}"


def plainer_and_plainer(message: Message) -> Iterator[Message]:
    """The message, the same for a workspace that takes no charts, and the text alone.

    People get an answer, always: the next one goes when the blocks of one are refused.
    """
    yield message
    plainer = tuple(block for block in message.blocks if block["type"] != CHART)
    if plainer and plainer != message.blocks:
        yield replace(message, blocks=plainer)
    if message.blocks:
        yield replace(message, blocks=())


class Answers(Enum):
    """Where the answer to a question goes."""

    TO_ACTOR = "to actor"
    IN_PLACE = "in place"
    TO_CHANNEL = "to channel"


@dataclass(frozen=True, slots=True)
class Conversation:
    """`response_url` is there for commands and for elements of messages, `view_id` for modals.

    `in_channel_message`: the element stood in a message that the whole channel sees.
    """

    client: AsyncWebClient
    replies: Replies
    actor: Actor
    origin: Origin
    trigger_id: str = ""
    channel_id: str | None = None
    response_url: str | None = None
    view_id: str | None = None
    in_channel_message: bool = False
    answers: Answers = Answers.TO_ACTOR

    @property
    def caller(self) -> Caller:
        return Caller(self.actor, self.origin, self.channel_id)

    @property
    def on_private_message(self) -> bool:
        """Whether a button was pressed in a message that nobody else sees, to be replaced."""
        return (
            self.origin is Origin.BUTTON
            and self.response_url is not None
            and self.view_id is None
            and not self.in_channel_message
        )

    async def answer(self, message: Message) -> None:
        """To a question, which may be asked again by a button; whoever acts gets `tell_actor`."""
        match self.answers:
            case Answers.TO_ACTOR:
                await self.tell_actor(message)
            case Answers.IN_PLACE:
                await self.put_in_place(message)
            case Answers.TO_CHANNEL:
                await self.tell_channel(message)

    async def tell_actor(self, message: Message) -> None:
        """Only the actor sees it: here, in their modal, or else in a direct message."""
        await self._reply(message, response_type="ephemeral", replace_original=False)

    async def tell_channel(self, message: Message) -> None:
        """Everybody here sees it, also where the bot is no member; without a channel the actor."""
        if self.response_url is None:
            await self.tell_actor(message)
            return
        message = await self._fit_for_channel(message)
        await self.replies.send(
            self.response_url, message, response_type="in_channel", replace_original=False
        )

    async def put_in_place(self, message: Message) -> None:
        """The message or modal that the actor acted on becomes this one."""
        if self.in_channel_message:
            message = await self._fit_for_channel(message)
        await self._reply(message, replace_original=True)

    async def take_away(self) -> None:
        """The message that the actor acted on goes; a modal, which only they can close, says so."""
        if self.view_id is not None:
            await self._update_modal(pause.unchanged())
        elif self.response_url is not None:
            await self.replies.post(self.response_url, {"delete_original": True})

    async def tell_person(self, user_id: str, message: Message) -> None:
        """In a direct message to somebody else; one that Slack refuses is logged."""
        try:
            await self._direct(message, user_id)
        except FAILURES as error:
            code = read_failure(error).code
            logger.warning("person not notified", extra={"action": "not_notified", "error": code})

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

    async def _reply(self, message: Message, **how: str | bool) -> None:
        if self.view_id is not None:
            await self._update_modal(message)
        elif self.response_url is not None:
            await self.replies.send(self.response_url, message, **how)
        else:
            await self._direct(message, self.actor.user_id)

    async def _fit_for_channel(self, message: Message) -> Message:
        """No buttons in an externally shared channel; what is pressed all the same is checked.

        Slack is asked only for messages that have buttons.
        https://docs.slack.dev/apis/slack-connect
        """
        if not has_controls(message.blocks):
            return message
        if self.channel_id is not None:
            is_shared = await self.replies.channels.is_shared(self.channel_id)
            if is_shared is False:
                return message
        return without_controls(message)

    async def _update_modal(self, message: Message) -> None:
        """Whoever has closed the modal meanwhile gets a direct message."""
        try:
            await _or_text_alone("views.update", self._show_in_modal, message)
        except SlackApiError as error:
            if read_failure(error).code not in VIEW_GONE_CODES:
                raise
            await self._direct(message, self.actor.user_id)

    async def _show_in_modal(self, message: Message) -> None:
        view = pause_form.result_modal(message, self.channel_id)
        await self.client.views_update(view_id=self.view_id, view=dict(view.view))

    async def _direct(self, message: Message, user_id: str) -> None:
        await _or_text_alone("chat.postMessage", partial(self._post, user_id), message)

    async def _post(self, user_id: str, message: Message) -> None:
        await self.client.chat_postMessage(
            channel=user_id,
            text=message.text,
            blocks=[dict(block) for block in message.blocks] or None,
            unfurl_links=False,
        )


async def _or_text_alone(
    method: str, send: Callable[[Message], Awaitable[None]], message: Message
) -> None:
    for attempt in plainer_and_plainer(message):
        try:
            return await send(attempt)
        except SlackApiError as error:
            if not attempt.blocks or not are_blocks_refused(error):
                raise
            blocks_refused(method, read_failure(error).code)
    return None


@dataclass(frozen=True, slots=True)
class OpenedModal:
    """A modal on the actor's screen."""

    client: AsyncWebClient
    view_id: str
    view_hash: str | None

    async def show(self, view: View) -> None:
        """Put `view` in its place, unless the person closed, submitted or changed it meanwhile."""
        try:
            await self.client.views_update(
                view_id=self.view_id, hash=self.view_hash, view=dict(view.view)
            )
        except SlackApiError as error:
            code = read_failure(error).code
            if code not in CHANGED_CODES:
                raise
            logger.info("modal changed meanwhile", extra={"action": "modal_gone", "error": code})
