"""Answers to the person who acts, over the address that came with what they did."""

import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any

from aiohttp import (
    ClientError,
    ClientOSError,
    ClientSession,
    ConnectionTimeoutError,
    ServerDisconnectedError,
)
from yarl import URL

from bot.domain.message import Message
from bot.messages.blocks import CHART
from bot.ports import UNMEASURED, ChannelDirectory, Measures
from bot.slack.web_api.failures import BLOCKS_CODES, blocks_refused
from bot.slack.web_api.shared_channels import fit_for_channel

logger = logging.getLogger(__name__)

ANSWER_KEPT = 100
REFUSED = re.compile(r'"ok"\s*:\s*false')
"""A refusal may come with the status 200, as those of the Web API do."""

CODE_IN_JSON = re.compile(r'"error"\s*:\s*"([a-z0-9_]{1,60})"')
CODE_ALONE = re.compile(r"\s*([a-z0-9_]{1,60})\s*")

SLACKS_HOSTS = ("slack.com", "slack-gov.com")
NOT_SLACKS = "address_not_slacks"

NO_CONNECTION = (ClientOSError, ConnectionTimeoutError, ServerDisconnectedError)


@dataclass(frozen=True, slots=True)
class Replies:
    """Posts to `response_url` over our own session: at most five times in thirty minutes.

    Only to Slack's own hosts and to where `api` is, the address of the Web API: whoever has learnt
    the signing secret could else have any address on our network posted to.
    https://docs.slack.dev/interactivity/handling-user-interaction#message_responses
    """

    session: ClientSession
    channels: ChannelDirectory
    api: str
    measures: Measures = UNMEASURED

    async def to_actor(self, response_url: str, message: Message) -> None:
        """Only the person sees it."""
        await self._send(response_url, message, response_type="ephemeral", replace_original=False)

    async def to_channel(self, response_url: str, message: Message, channel_id: str | None) -> None:
        """Everybody in the channel sees it; works where the bot is not a member."""
        message = await fit_for_channel(message, channel_id, self.channels)
        await self._send(response_url, message, response_type="in_channel", replace_original=False)

    async def in_place(self, response_url: str, message: Message, channel_id: str | None) -> None:
        """The message the person acted on becomes this one.

        `channel_id` is None when nobody else sees it.
        """
        if channel_id is not None:
            message = await fit_for_channel(message, channel_id, self.channels)
        await self._send(response_url, message, replace_original=True)

    async def take_away(self, response_url: str) -> None:
        """The message the person acted on goes away."""
        await self._post(response_url, {"delete_original": True})

    async def _send(self, response_url: str, message: Message, **how: str | bool) -> None:
        # People are told, always: when the blocks are refused, without what is new among them,
        # and then the text alone.
        for attempt in plainer_and_plainer(message):
            body: dict[str, Any] = {"text": attempt.text, "unfurl_links": False, **how}
            if attempt.blocks:
                body["blocks"] = [dict(block) for block in attempt.blocks]
            refusal = await self._post(response_url, body)
            if refusal is None or not any(code in refusal for code in BLOCKS_CODES):
                return
            blocks_refused("response_url", refusal)

    async def _post(self, response_url: str, body: dict[str, Any]) -> str | None:
        """None when Slack took it, else what Slack said.

        Tried once more when no connection came about, or when it was lost before anything was
        answered, as with one that Slack closed while it was idle: nobody else answers the person.
        What was sent and not answered in time is never tried again: it might show twice.
        """
        url = slacks_address(response_url, self.api)
        try:
            said, code = await self._post_or_again(url, body)
        except (ClientError, TimeoutError) as error:
            said = code = type(error).__name__
        if code is None:
            return None
        self.measures.slack_failed("response_url", code)
        logger.warning("reply not delivered", extra={"action": "reply_failed", "said": said})
        return said

    async def _post_or_again(self, url: URL | None, body: dict[str, Any]) -> tuple[str, str | None]:
        if url is None:
            return NOT_SLACKS, NOT_SLACKS
        try:
            return await self._post_once(url, body)
        except NO_CONNECTION as error:
            lost = type(error).__name__
            self.measures.slack_failed("response_url", lost)
            logger.info("reply sent again", extra={"action": "reply_again", "said": lost})
            return await self._post_once(url, body)

    async def _post_once(self, url: URL, body: dict[str, Any]) -> tuple[str, str | None]:
        """What Slack said, and its code when that is a refusal."""
        async with self.session.post(url, json=body, allow_redirects=False) as answer:
            said = (await answer.text(errors="replace"))[:ANSWER_KEPT]
            if answer.status < HTTPStatus.MULTIPLE_CHOICES and not REFUSED.search(said):
                return said, None
            return said, refusal_code(said, answer.status)


def slacks_address(response_url: str, api: str) -> URL | None:
    """As it is posted to, read once by whoever posts; None when it leads elsewhere."""
    try:
        url = URL(response_url)
        if url.origin() == URL(api).origin():
            return url
    except ValueError:
        return None
    host = url.host or ""
    is_slacks = any(host == one or host.endswith(f".{one}") for one in SLACKS_HOSTS)
    return url if is_slacks and url.scheme == "https" else None


def refusal_code(said: str, status: int) -> str:
    """What Slack calls it, else the HTTP status: never a piece of whatever else was answered."""
    found = CODE_IN_JSON.search(said) or CODE_ALONE.fullmatch(said)
    return found[1] if found else f"http_{status}"


def plainer_and_plainer(message: Message) -> Iterator[Message]:
    """The message, the same for a workspace that takes no charts, and the text alone."""
    yield message
    plainer = tuple(block for block in message.blocks if block["type"] != CHART)
    if plainer and plainer != message.blocks:
        yield replace(message, blocks=plainer)
    if message.blocks:
        yield replace(message, blocks=())
