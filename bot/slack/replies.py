"""Posts to a `response_url`, and sends a plainer message where Slack refuses the blocks."""

import logging
import re
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
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

from bot.domain.message import Message
from bot.messages.blocks import CHART
from bot.ports import UNMEASURED, ChannelDirectory, Measures
from bot.slack.web_api.failures import (
    BLOCKS_CODES,
    are_blocks_refused,
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


def content(message: Message) -> dict[str, Any]:
    """The fields of a message, as Slack's methods take them."""
    return {"text": message.text, "blocks": [dict(block) for block in message.blocks] or None}


async def send_as_taken(
    method: str, send: Callable[[Message], Awaitable[object]], message: Message
) -> None:
    """Send the message, or if Slack refuses its blocks a plainer form. Raises FAILURES."""
    for form in plainer_and_plainer(message):
        try:
            await send(form)
        except SlackApiError as error:
            if not form.blocks or not are_blocks_refused(error):
                raise
            blocks_refused(method, read_failure(error).code)
        else:
            return


@dataclass(frozen=True, slots=True)
class Replies:
    """Posts to a `response_url`, which Slack takes five times in thirty minutes.

    Only to Slack's own hosts and the host of `api`, the Web API: with a stolen signing secret, any
    address in our network could be posted to otherwise. The SDK's AsyncWebhookClient would follow
    a redirect there.
    https://docs.slack.dev/interactivity/handling-user-interaction#message_responses
    """

    session: ClientSession
    channels: ChannelDirectory
    api: str
    measures: Measures = UNMEASURED

    async def send(self, response_url: str, message: Message, **how: str | bool) -> None:
        """`how`: Slack's other fields, `response_type` and `replace_original`."""
        for form in plainer_and_plainer(message):
            given = {name: part for name, part in content(form).items() if part is not None}
            code = await self.post(response_url, {"unfurl_links": False, **given, **how})
            if code not in BLOCKS_CODES:
                return
            blocks_refused("response_url", code)

    async def post(self, response_url: str, body: dict[str, Any]) -> str | None:
        """Return None if Slack took it, else the error code, Slack's or ours.

        Retried once if there was no connection, or if it was lost before any answer, as when Slack
        closes an idle one. After a timeout it is not retried: the reply might show twice.
        """
        if not is_slacks(response_url, self.api):
            return self._failed(NOT_SLACK)
        try:
            return await self._post_or_again(response_url, body)
        except (ClientError, TimeoutError) as error:
            return self._failed(type(error).__name__)

    async def _post_or_again(self, url: str, body: dict[str, Any]) -> str | None:
        try:
            return await self._post_once(url, body)
        except NO_CONNECTION as error:
            lost = type(error).__name__
            self.measures.slack_failed("response_url", lost)
            logger.info("reply sent again", extra={"action": "reply_again", "said": lost})
            return await self._post_once(url, body)

    async def _post_once(self, url: str, body: dict[str, Any]) -> str | None:
        async with self.session.post(url, json=body, allow_redirects=False) as answer:
            said = (await answer.text(errors="replace"))[:ANSWER_KEPT]
        if answer.status < HTTPStatus.MULTIPLE_CHOICES and not REFUSED.search(said):
            return None
        return self._failed(refusal_code(said, answer.status))

    def _failed(self, code: str) -> str:
        self.measures.slack_failed("response_url", code)
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


def plainer_and_plainer(message: Message) -> Iterator[Message]:
    """The message, the message without charts, and the text alone.

    If Slack refuses the blocks of one, the next one is sent, so that people always get an answer.
    """
    yield message
    plainer = tuple(block for block in message.blocks if block["type"] != CHART)
    if plainer and plainer != message.blocks:
        yield replace(message, blocks=plainer)
    if message.blocks:
        yield replace(message, blocks=())
