"""Posts to channels, at most one request a post, and finds a post again by its delivery id."""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient
from typing_extensions import override

from bot.domain.channels import is_person
from bot.domain.errors import PostInDoubt
from bot.domain.message import Message, Thread
from bot.ports import ChannelPoster
from bot.slack.tracing import tracing
from bot.slack.web_api.channels import SlackChannels
from bot.slack.web_api.directs import DirectChannels
from bot.slack.web_api.failures import FAILURES, THREAD_CODES, post_error, read_failure
from bot.slack.web_api.recipients import Recipients
from bot.slack.web_api.shared_channels import fit_for_channel

METADATA_TYPE = "mqbot_delivery"
CLOCK_ALLOWANCE = timedelta(hours=1)
"""Slack's clock gives a message its `ts`; ours may run ahead of it."""

PAGE = 200
PAGES = 25
"""More than an hour of one message a second."""


class SlackPoster(ChannelPoster):
    """The delivery id travels in the message's metadata and in its first block's id.

    https://docs.slack.dev/messaging/message-metadata
    """

    def __init__(
        self,
        client: AsyncWebClient,
        channels: SlackChannels,
        bot_id: str,
        recipients: Recipients | None = None,
    ) -> None:
        """`recipients` decides on direct messages; without it everybody is written to."""
        self._recipients = recipients
        self._client = client
        self._channels = channels
        self._directs = DirectChannels(client)
        self._bot_id = bot_id

    @override
    async def post(
        self, channel_id: str, message: Message, delivery_id: str, thread: Thread | None = None
    ) -> str:
        with tracing(delivery_id=delivery_id):
            return await self._post(channel_id, message, delivery_id, thread)

    async def _post(
        self, channel_id: str, message: Message, delivery_id: str, thread: Thread | None
    ) -> str:
        channel, message = await self._addressed(channel_id, message)
        try:
            answer = await self._client.chat_postMessage(
                channel=channel,
                text=message.text,
                blocks=_marked(message, delivery_id),
                metadata={
                    "event_type": METADATA_TYPE,
                    "event_payload": {"delivery_id": delivery_id, "told": message.told},
                },
                unfurl_links=False,
                unfurl_media=False,
                thread_ts=thread.ts if thread is not None else None,
                reply_broadcast=thread.broadcast if thread is not None else None,
            )
        except FAILURES as error:
            raise post_error(error) from error
        ts = answer.get("ts")
        if not isinstance(ts, str):
            raise PostInDoubt("answer_without_ts")
        return ts

    @override
    async def find(
        self, channel_id: str, delivery_id: str, since: datetime, thread_ts: str | None = None
    ) -> str | None:
        """Raises PostError when the history cannot be read; joins a public channel for that.

        History does not list replies, and a reply may have been posted to the channel instead.
        """
        channel_id = await self._directs.channel(channel_id)
        oldest = f"{(since - CLOCK_ALLOWANCE).timestamp():.6f}"
        found = await self._find(channel_id, delivery_id, oldest)
        if found is None and thread_ts is not None:
            found = await self._find(channel_id, delivery_id, oldest, thread_ts)
        return found

    async def _find(
        self, channel_id: str, delivery_id: str, oldest: str, thread_ts: str | None = None
    ) -> str | None:
        cursor: str | None = None
        for _ in range(PAGES):
            page = await self._history(channel_id, oldest, cursor, thread_ts)
            for message in page.get("messages", []):
                if self._carries(message, delivery_id):
                    return str(message["ts"])
            cursor = (page.get("response_metadata") or {}).get("next_cursor")
            if not cursor:
                return None
        raise PostInDoubt("history_too_long")

    @override
    async def update(self, channel_id: str, message_ts: str, message: Message) -> None:
        """The metadata stays; `parse` has to be said, chat.update would link names by itself."""
        channel, message = await self._addressed(channel_id, message)
        try:
            await self._client.chat_update(
                channel=channel,
                ts=message_ts,
                text=message.text,
                blocks=[dict(block) for block in message.blocks],
                parse="none",
                link_names=False,
            )
        except FAILURES as error:
            raise post_error(error) from error

    async def _addressed(self, channel_id: str, message: Message) -> tuple[str, Message]:
        """The channel to post to, with what is fit for it."""
        if self._recipients is not None and is_person(channel_id):
            await self._recipients.require(channel_id)
        direct = await self._directs.channel(channel_id)
        if direct != channel_id:
            # Nobody but the person themselves reads the bot's messages to them.
            return direct, message
        return channel_id, await fit_for_channel(message, channel_id, self._channels)

    async def _history(
        self, channel_id: str, oldest: str, cursor: str | None, thread_ts: str | None
    ) -> Mapping[str, Any]:
        try:
            return await self._read(channel_id, oldest, cursor, thread_ts)
        except FAILURES as error:
            if read_failure(error).code in THREAD_CODES:
                # Nothing can have been posted there.
                return {}
            if read_failure(error).code != "not_in_channel":
                raise post_error(error) from error
        await self._channels.join(channel_id)
        try:
            return await self._read(channel_id, oldest, cursor, thread_ts)
        except FAILURES as error:
            raise post_error(error) from error

    async def _read(
        self, channel_id: str, oldest: str, cursor: str | None, thread_ts: str | None
    ) -> Mapping[str, Any]:
        asked: dict[str, Any] = {
            "channel": channel_id,
            "oldest": oldest,
            "inclusive": True,
            "include_all_metadata": True,
            "limit": PAGE,
        }
        if cursor:
            asked["cursor"] = cursor
        if thread_ts is None:
            answer = await self._client.conversations_history(**asked)
        else:
            answer = await self._client.conversations_replies(ts=thread_ts, **asked)
        return answer.data if isinstance(answer.data, dict) else {}

    def _carries(self, message: Mapping[str, Any], delivery_id: str) -> bool:
        if message.get("bot_id") != self._bot_id:
            return False
        payload = (message.get("metadata") or {}).get("event_payload") or {}
        if payload.get("delivery_id") == delivery_id:
            return True
        blocks = message.get("blocks") or [{}]
        return bool(blocks[0].get("block_id") == _block_id(delivery_id))


def _marked(message: Message, delivery_id: str) -> list[dict[str, Any]] | None:
    if not message.blocks:
        return None
    first, *rest = message.blocks
    return [{**first, "block_id": _block_id(delivery_id)}, *(dict(block) for block in rest)]


def _block_id(delivery_id: str) -> str:
    return f"mq:{re.sub('[^0-9A-Za-z]', '', delivery_id)}"
