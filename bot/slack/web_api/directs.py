"""The bot's conversations with single people."""

import asyncio

from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.channels import is_person
from bot.domain.errors import PostInDoubt, PostPostponed
from bot.slack.web_api.failures import FAILURES, post_error

REMEMBERED_CONVERSATIONS = 10_000
OPEN_SECONDS = 5.0
"""The post itself follows, within the time that its claim lasts."""


class DirectChannels:
    """Opened once and remembered: what one person's conversation is called never changes.

    A post may be addressed to the person, but only the conversation's own id can be read back
    (https://docs.slack.dev/reference/methods/conversations.open).
    """

    def __init__(self, client: AsyncWebClient) -> None:
        self._client = client
        self._known: dict[str, str] = {}

    async def channel(self, address: str) -> str:
        """The conversation with a person; a channel's id as it is. Raises PostError."""
        if not is_person(address):
            return address
        known = self._known.get(address)
        if known is None:
            known = await self._open(address)
            if len(self._known) >= REMEMBERED_CONVERSATIONS:
                self._known.clear()
            self._known[address] = known
        return known

    async def _open(self, user_id: str) -> str:
        try:
            async with asyncio.timeout(OPEN_SECONDS):
                answer = await self._client.conversations_open(users=user_id)
        except FAILURES as error:
            failure = post_error(error)
            if isinstance(failure, PostInDoubt):
                # Whether the conversation is open now or not: nothing was posted.
                raise PostPostponed(failure.code) from error
            if isinstance(failure, PostPostponed):
                # A limit of this method's own: Slack takes posts to everybody else.
                raise PostPostponed(failure.code, retry_after=failure.retry_after) from error
            raise failure from error
        channel_id = (answer.get("channel") or {}).get("id")
        if not isinstance(channel_id, str):
            raise PostPostponed("answer_without_channel")
        return channel_id
