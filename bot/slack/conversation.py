"""Answers to one person: in the channel, in their form, or in a direct message."""

import asyncio
import itertools
import logging
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial
from http import HTTPStatus
from typing import Any
from urllib.parse import urljoin

from aiohttp import (
    ClientConnectorError,
    ClientError,
    ClientOSError,
    ClientSession,
    ConnectionTimeoutError,
    ServerDisconnectedError,
)
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.blocks import modal
from bot.blocks.blocks import CHART
from bot.blocks.controls import Repeat
from bot.blocks.message import Block, Message, View
from bot.blocks.plainer import plain_alert, plainer_views
from bot.kernel.actor import Actor, Caller, Origin
from bot.kernel.clock import Clock
from bot.kernel.metrics import UNSCRAPED, Metrics
from bot.slack.errors import PostPostponed, PostRefused, SlackRefused
from bot.slack.payloads import SaidToBot
from bot.slack.ports import ChannelDirectory
from bot.slack.web_api.channels import fitted
from bot.slack.web_api.failures import (
    BLOCKS_CODES,
    FAILURES,
    TRIGGER_USED,
    UNREADABLE,
    VIEW_CODES,
    blocks_refused,
    field_of,
    post_error,
    read_failure,
)
from bot.slack.web_api.poster import is_in_thread

logger = logging.getLogger(__name__)

ANSWER_KEPT = 100
REFUSED = re.compile(r'"ok"\s*:\s*false')
"""A refusal may have the status 200."""

CODE_IN_JSON = re.compile(r'"error"\s*:\s*"([a-z0-9_]{1,60})"')
CODE_ALONE = re.compile(r"\s*([a-z0-9_]{1,60})\s*")

OF_SLACK = re.compile(r"https://([a-z0-9-]+\.)*slack(-gov)?\.com/")
NOT_SLACK = "address_not_slacks"

NEVER_SENT = (ClientConnectorError, ConnectionTimeoutError)
CONNECTION_ERRORS = (ClientOSError, ConnectionTimeoutError, ServerDisconnectedError)

IN_CHANNEL = "in_channel"

ATTEMPTS = 3
"""Of one way to send a message."""

LONGEST_REPLY_WAIT = 20.0
"""In seconds; if Slack asks for a longer wait, the answer goes another way."""

UNSAID_WAIT = 1.0
"""The seconds to wait if Slack limits requests and doesn't say for how long."""


def _forms(message: Message) -> Iterator[dict[str, Any]]:
    """The fields of a message, those of it without charts and alerts, and its text alone.

    If Slack refuses the blocks of one, the next one is sent, so that people always get an answer.
    """
    blocks = [dict(block) for block in message.blocks]
    plainer = [plain_alert(block) for block in blocks if block["type"] != CHART]
    if blocks:
        yield {"text": message.text, "blocks": blocks}
    if plainer and plainer != blocks:
        yield {"text": message.text, "blocks": plainer}
    yield {"text": message.text}


@dataclass(frozen=True, slots=True)
class NotShown:
    """Why a message was not shown, or may not have been."""

    code: str  #: Slack's error code, or ours
    is_unclear: bool = False  #: Slack may have taken it all the same
    retry_after: float | None = None  #: the wait in seconds that Slack asks for

    def worth_waiting(self, attempt: int) -> float | None:
        """The seconds to wait before it is sent the same way again; None if another way is better.

        Only what Slack clearly didn't take is sent again.
        """
        wait = self.retry_after
        if wait is None or self.is_unclear or attempt == ATTEMPTS or wait > LONGEST_REPLY_WAIT:
            return None
        return wait


async def insist(send: Callable[[], Awaitable[NotShown | None]], clock: Clock) -> NotShown | None:
    """Send a message, and again where Slack says when; None once it is shown."""
    for attempt in range(1, ATTEMPTS + 1):
        lost = await send()
        wait = lost.worth_waiting(attempt) if lost is not None else None
        if wait is None:
            return lost
        await clock.sleep(wait)
    raise AssertionError("the last attempt returns")


async def _send_as_taken(
    method: str, send: Callable[..., Awaitable[object]], message: Message
) -> NotShown | None:
    """Send the message, or if Slack refuses its blocks a plainer form; None once it is shown."""
    lost: NotShown | None = None
    for form in _forms(message):
        lost = await _try_to_send(send, **form)
        if lost is None or "blocks" not in form or lost.code not in BLOCKS_CODES:
            return lost
        blocks_refused(method, lost.code)
    return lost


async def _try_to_send(send: Callable[..., Awaitable[object]], **form: Any) -> NotShown | None:  # noqa: ANN401 - a message's fields
    try:
        await send(**form)
    except FAILURES as error:
        failure = read_failure(error)
        is_unclear = not isinstance(post_error(error), PostRefused | PostPostponed)
        wait = failure.retry_after if failure.is_for_rate else None
        return NotShown(failure.code, is_unclear=is_unclear, retry_after=wait)
    return None


async def show_view(
    method: str,
    show: Callable[..., Awaitable[AsyncSlackResponse]],
    view: View,
    *,
    is_plainest: bool = False,
) -> AsyncSlackResponse:
    """Show a form or a tab, or if Slack refuses its blocks a plainer one. Raises FAILURES.

    `is_plainest`: try the plainest only. Slack doesn't say whether a trigger that opened nothing
    can be used again; if not, the refusal of the blocks is raised.
    """
    forms = list(plainer_views(view))
    refusals: list[SlackApiError] = []
    for form in forms[-1:] if is_plainest else forms:
        try:
            return await show(view=form)
        except SlackApiError as error:
            code = read_failure(error).code
            if refusals and code == TRIGGER_USED:
                break
            if code not in VIEW_CODES:
                raise
            blocks_refused(method, code)
            refusals.append(error)
    raise refusals[-1]


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
    clock: Clock
    metrics: Metrics = UNSCRAPED

    async def send(self, response_url: str, message: Message, **how: str | bool) -> NotShown | None:
        """Return None if Slack took it.

        `how`: Slack's other fields, `response_type` and `replace_original`.
        """
        lost: NotShown | None = None
        for form in _forms(message):
            body = {"unfurl_links": False, **form, **how}
            lost = await self.post(response_url, body)
            if lost is None or lost.code not in BLOCKS_CODES:
                return lost
            blocks_refused("response_url", lost.code)
        return lost

    async def post(self, response_url: str, body: dict[str, Any]) -> NotShown | None:
        """Return None if Slack took it.

        What only one person sees is sent again if the connection was lost before any answer, as
        when Slack closes an idle one: twice is better than never. What a channel sees is sent again
        only if there was no connection.
        """
        if not is_slacks(response_url, self.client.base_url):
            return self._failed(NotShown(NOT_SLACK))
        is_public = body.get("response_type") == IN_CHANNEL
        try:
            try:
                return await self._post_once(response_url, body)
            except CONNECTION_ERRORS as error:
                if is_public and not isinstance(error, NEVER_SENT):
                    raise
                lost = type(error).__name__
                self.metrics.count_slack_error("response_url", lost)
                logger.info("reply retried", extra={"action": "reply_again", "said": lost})
                return await self._post_once(response_url, body)
        except (ClientError, TimeoutError) as error:
            is_unclear = not isinstance(error, NEVER_SENT)
            return self._failed(NotShown(type(error).__name__, is_unclear=is_unclear))

    async def _post_once(self, url: str, body: dict[str, Any]) -> NotShown | None:
        async with self.session.post(url, json=body, allow_redirects=False) as answer:
            said = (await answer.text(errors="replace"))[:ANSWER_KEPT]
            wait = answer.headers.get("Retry-After", "")
        if answer.status < HTTPStatus.MULTIPLE_CHOICES and not REFUSED.search(said):
            # A page is a proxy's; Slack says "ok".
            is_page = said.lstrip().startswith("<")
            return self._failed(NotShown(UNREADABLE, is_unclear=True)) if is_page else None
        lost = NotShown(refusal_code(said, answer.status))
        if answer.status == HTTPStatus.TOO_MANY_REQUESTS:
            lost = replace(lost, retry_after=float(wait) if wait.isdecimal() else UNSAID_WAIT)
        elif answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            lost = replace(lost, is_unclear=True)
        return self._failed(lost)

    def _failed(self, lost: NotShown) -> NotShown:
        self.metrics.count_slack_error("response_url", lost.code)
        logger.warning("reply not delivered", extra={"action": "reply_failed", "said": lost.code})
        return lost


def is_slacks(response_url: str, api: str) -> bool:
    """Whether the address is on one of Slack's hosts, or on the Web API's.

    Everything before the path is compared, so that no other parser can read another host.
    """
    return bool(OF_SLACK.match(response_url)) or response_url.startswith(urljoin(api, "/"))


def refusal_code(said: str, status: int) -> str:
    """Slack's error code, else the HTTP status; never another part of the answer."""
    found = CODE_IN_JSON.search(said) or CODE_ALONE.fullmatch(said)
    return found[1] if found else f"http_{status}"


class Answers(Enum):
    """The place of the answer to a command that only reads."""

    TO_ACTOR = "to actor"
    IN_PLACE = "in place"
    TO_CHANNEL = "to channel"


@dataclass(slots=True)
class RequestProgress:
    """A request that is being carried out: what its person saw so far, and what repeats it."""

    is_shown: bool = False  #: something that says so, or the answer itself
    #: held while one is sent, so that an answer never overtakes it
    sending: asyncio.Lock = field(default_factory=asyncio.Lock)
    #: the channel and the `ts` of a message that goes when the answer comes
    posted: tuple[str, str] | None = None
    repeat: Repeat | None = None  #: the button that asks for the same again if it fails
    #: the `ts` of the latest answer in direct messages, which can be deleted
    answered_ts: str | None = None


Way = Callable[[], Awaitable[NotShown | None]]
"""Shows a message; returns why it was not shown, or may not have been."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """Who asked, from where, and how to answer."""

    replies: Replies
    actor: Actor
    origin: Origin
    trigger_id: str = ""
    channel_id: str | None = None
    response_url: str | None = None  #: for commands, and for elements of messages
    view_id: str | None = None  #: for modals
    in_channel_message: bool = False  #: the element is in a message that the whole channel sees
    answers: Answers = Answers.TO_ACTOR
    asked: SaidToBot | None = None  #: the message to answer, if it wasn't a command, button or form
    #: shared by all copies of this conversation
    progress: RequestProgress = field(default_factory=RequestProgress)
    request: str | None = None  #: identifies the request while its answer is owed; None if none is
    pressed_ts: str = ""  #: the `ts` of the message whose button was pressed, empty for none
    #: the `ts` of the first message of the thread with that button; None outside of threads
    pressed_in: str | None = None

    @property
    def client(self) -> AsyncWebClient:
        return self.replies.client

    @property
    def caller(self) -> Caller:
        return Caller(self.actor, self.origin, self.channel_id, self.request)

    @property
    def on_private_message(self) -> bool:
        """Whether a button was pressed in a message that only the actor sees."""
        is_message = self.response_url is not None and self.view_id is None
        return self.origin is Origin.BUTTON and is_message and not self.in_channel_message

    @property
    def is_direct(self) -> bool:
        """Whether it is in the direct messages of the actor and the bot, or of several people."""
        return (self.channel_id or "").startswith("D")

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

    async def show_progress(self, message: Message, *, replaces: bool = True) -> None:
        """Show it where `reply_in_place` would; nothing depends on it, and an answer follows."""
        self.progress.is_shown = True
        replaces = replaces and self.on_private_message
        how: dict[str, str | bool] = {"replace_original": replaces}
        if not replaces:
            how["response_type"] = "ephemeral"
        for way in itertools.islice(self._ways(message, how), 1):
            await way()

    async def say_still_working(self) -> None:
        """Unless the person sees already that it takes a while. An answer follows.

        It goes when the answer comes, where Slack lets us: it takes nothing back that was sent to
        a `response_url` or to one person in a channel.
        """
        async with self.progress.sending:
            if self.progress.is_shown:
                return
            self.progress.is_shown = True
            message = modal.still_working()
            if self.asked is not None and self.asked.is_direct:
                await self._post_progress(self.asked, message)
            elif self.view_id or self.response_url or self.asked is not None:
                await self.show_progress(message, replaces=False)

    async def _post_progress(self, asked: SaidToBot, message: Message) -> None:
        with suppress(*FAILURES):
            answer = await self.client.chat_postMessage(
                channel=asked.channel, text=message.text, thread_ts=asked.answered_in
            )
            self.progress.posted = str(field_of(answer, "channel")), str(field_of(answer, "ts"))

    async def begin_answer(self) -> None:
        """From now on the person sees something, so nothing says any more that it takes a while."""
        async with self.progress.sending:
            self.progress.is_shown = True

    async def end_progress(self) -> None:
        """Remove what said that it takes a while."""
        posted = self.progress.posted
        self.progress.posted = None
        if posted is not None:
            channel_id, ts = posted
            with suppress(*FAILURES):
                await self.client.chat_delete(channel=channel_id, ts=ts)

    async def post_in_channel(self, message: Message) -> None:
        """Show it to the channel, even if the bot isn't in it; without a channel, to the actor.

        Never twice: if Slack may have taken it, or takes it in no way, the actor gets it alone.
        """
        ways = await self._ways_to_channel(message)
        await self.begin_answer()
        for way in ways:
            lost = await insist(way, self.replies.clock)
            if lost is None:
                return
            if lost.is_unclear:
                break
        if ways:
            await self._show_by_any(self._other_ways(message))
        else:
            await self.reply(message)

    async def _ways_to_channel(self, message: Message) -> Sequence[Way]:
        """None where there is no channel."""
        if self.response_url is not None:
            how: dict[str, str | bool] = {"response_type": IN_CHANNEL, "replace_original": False}
            fitting = await self._fitted(message)
            ways: list[Way] = [partial(self.replies.send, self.response_url, fitting, **how)]
            if self.channel_id is not None:
                ways.append(partial(self._post, self.channel_id, fitting))
            return ways
        if self.asked is not None:
            fitting = await self._fitted(message)
            return [partial(self._post, self.asked.channel, fitting, self.asked)]
        if self.channel_id is not None and self.view_id is None:
            return [partial(self._post, self.channel_id, await self._fitted(message))]
        return []

    async def replace_message(self, message: Message) -> None:
        """Replace the message or modal that the actor used."""
        if self.in_channel_message:
            message = await self._fitted(message)
        await self._reply(message, replace_original=True)

    async def remove_message(self) -> None:
        """Delete the message that the actor used; a modal, which only they can close, says so."""
        if self.view_id is not None:
            await self._reply(modal.nothing_changed())
        elif self.response_url is not None:
            await self.replies.post(self.response_url, {"delete_original": True})

    async def delete_answer(self, ts: str) -> None:
        """Delete a message of the bot in this channel; somebody may have done so before."""
        with suppress(*FAILURES):
            await self.client.chat_delete(channel=self.channel_id or "", ts=ts)

    async def send_direct_message(self, user_id: str, message: Message) -> bool:
        """Send somebody else a direct message; return whether Slack took it, and log if not."""
        lost = await self._post(user_id, message)
        if lost is not None:
            extra = {"action": "not_notified", "error": lost.code}
            logger.warning("person not notified", extra=extra)
        return lost is None

    async def address_of(self, message_ts: str | None) -> str | None:
        """The address of a message in this channel; None if Slack doesn't answer."""
        if self.channel_id is None or message_ts is None:
            return None
        try:
            answer = await self.client.chat_getPermalink(
                channel=self.channel_id, message_ts=message_ts
            )
            return str(field_of(answer, "permalink"))
        except FAILURES as error:
            code = read_failure(error).code
            logger.warning("no link to a message", extra={"action": "no_permalink", "error": code})
            return None

    async def _reply(self, message: Message, **how: str | bool) -> None:
        await self._show_by_any(self._ways(message, how))

    async def _show_by_any(self, ways: Iterator[Way]) -> None:
        """Try each way until the message is shown; raises SlackRefused.

        What Slack may have taken goes another way as well: only one person sees it, and twice is
        better than never.
        """
        await self.begin_answer()
        lost: NotShown | None = None
        for way in ways:
            lost = await insist(way, self.replies.clock)
            if lost is None:
                return
            extra = {"action": "answer_not_shown", "error": lost.code, "channel": self.channel_id}
            logger.info("sending an answer another way", extra=extra)
        raise SlackRefused(lost.code if lost is not None else "no_way")

    def _ways(self, message: Message, how: Mapping[str, str | bool]) -> Iterator[Way]:
        """The ways to show it to the actor, the usual one first."""
        if self.view_id is not None:
            yield partial(self._update_modal, self.view_id, message)
            yield partial(self._post, self.actor.user_id, message)
        elif self.response_url is not None:
            yield partial(self.replies.send, self.response_url, message, **how)
        elif self.asked is not None and self.asked.is_direct:
            yield partial(self._post, self.asked.channel, message, self.asked)
        yield from self._other_ways(message)

    def _other_ways(self, message: Message) -> Iterator[Way]:
        """Without Slack's address for answers: in the channel, else in a direct message."""
        place = self.asked.channel if self.asked is not None else self.channel_id
        if place is not None and not (self.asked is not None and self.asked.is_direct):
            yield partial(self._post_privately, place, message)
        yield partial(self._post, self.actor.user_id, message)

    async def _post_privately(self, channel_id: str, message: Message) -> NotShown | None:
        # Slack shows it in a thread only if that has replies already
        # (https://docs.slack.dev/reference/methods/chat.postEphemeral).
        post = partial(
            self.client.chat_postEphemeral,
            channel=channel_id,
            user=self.actor.user_id,
            thread_ts=self.asked.thread_ts if self.asked is not None else None,
        )
        return await _send_as_taken("chat.postEphemeral", post, message)

    async def _fitted(self, message: Message) -> Message:
        fitting = await fitted(self.replies.channels, self.channel_id, message)
        return fitting.message

    async def _update_modal(self, view_id: str, message: Message) -> NotShown | None:
        """Show the message in the modal, unless it was closed meanwhile."""

        async def update(text: str, blocks: Sequence[Block] = ()) -> None:
            view = modal.result_modal(Message(text, tuple(blocks)), self.channel_id)
            await self.client.views_update(view_id=view_id, view=dict(view.view))

        return await _send_as_taken("views.update", update, modal.in_form(message))

    async def _post(
        self, address: str, message: Message, asked: SaidToBot | None = None
    ) -> NotShown | None:
        """`asked`: the message whose thread gets it."""
        post = partial(
            self._post_in_thread,
            channel=address,
            thread_ts=asked.answered_in if asked is not None else None,
            unfurl_links=False,
        )
        return await _send_as_taken("chat.postMessage", post, message)

    async def _post_in_thread(self, *, channel: str, thread_ts: str | None, **form: Any) -> None:  # noqa: ANN401 - as the SDK
        """Post it; if the message it answers was deleted, show it only to the actor."""
        answer = await self.client.chat_postMessage(channel=channel, thread_ts=thread_ts, **form)
        is_direct = self.asked is not None and self.asked.is_direct
        if is_direct and channel == self.channel_id:
            self.progress.answered_ts = str(field_of(answer, "ts"))
        if thread_ts is None or is_direct or is_in_thread(answer):
            return
        logger.info("the message to answer was deleted", extra={"action": "answered_privately"})
        with suppress(*FAILURES):
            await self.client.chat_delete(channel=channel, ts=str(answer.get("ts")))
        form.pop("unfurl_links", None)
        await self.client.chat_postEphemeral(channel=channel, user=self.actor.user_id, **form)
