"""Answers to the person who acts, over the address that came with what they did."""

import logging
from dataclasses import dataclass
from typing import Any

from aiohttp import ClientError, ClientSession

from bot.domain.message import Message
from bot.ports import ChannelDirectory
from bot.slack.shared_channels import fit_for_channel

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Replies:
    """Posts to `response_url` over our own session: at most five times in thirty minutes.

    https://docs.slack.dev/interactivity/handling-user-interaction#message_responses
    """

    session: ClientSession
    channels: ChannelDirectory

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
        body: dict[str, Any] = {"text": message.text, "unfurl_links": False, **how}
        if message.blocks:
            body["blocks"] = [dict(block) for block in message.blocks]
        refusal = await self._post(response_url, body)
        if refusal is not None and "invalid_blocks" in refusal:
            # People are told, always: when the blocks are refused, the text goes alone.
            body.pop("blocks", None)
            await self._post(response_url, body)

    async def _post(self, response_url: str, body: dict[str, Any]) -> str | None:
        """None when Slack took it, else what Slack said. Never tried again: it might show twice."""
        try:
            async with self.session.post(response_url, json=body) as answer:
                if answer.ok:
                    return None
                said = (await answer.text())[:100]
        except (ClientError, TimeoutError) as error:
            said = type(error).__name__
        logger.warning("reply not delivered", extra={"action": "reply_failed", "said": said})
        return said
