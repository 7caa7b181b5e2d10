"""What Slack tells of its channels, remembered for a minute."""

import asyncio
import logging
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient
from typing_extensions import override

from bot.domain.channels import ChannelAccess
from bot.domain.people import Unanswered
from bot.ports import ChannelDirectory, Clock
from bot.slack.web_api.failures import CHANNEL_CODES, FAILURES, read_failure
from bot.slack.web_api.remembered import REMEMBERED_MOST, Remembered

logger = logging.getLogger(__name__)

LOOKUP_SECONDS = 2.0
"""How long a post waits to hear whether its channel is shared."""


class SlackChannels(ChannelDirectory):
    """Reads `conversations.info`; joins public channels to be able to read back what it posted.

    https://docs.slack.dev/reference/methods/conversations.info
    """

    def __init__(self, client: AsyncWebClient, clock: Clock) -> None:
        self._client = client
        self._access = Remembered(self._ask_access, clock, keeps=_is_open)
        self._shared = Remembered(self._ask_shared, clock)
        self._shared_before: dict[str, bool] = {}

    @override
    async def access(self, channel_id: str) -> ChannelAccess:
        access = await self._access.get(channel_id)
        return ChannelAccess.UNKNOWN if isinstance(access, Unanswered) else access

    @override
    async def is_shared(self, channel_id: str) -> bool:
        # What cannot be looked at counts as shared: private channels that the bot is not in, and
        # the conversations of other people. A moment without an answer makes no channel so, or a
        # card would be without its buttons until its next edit.
        shared = await self._shared.get(channel_id)
        if isinstance(shared, Unanswered):
            if shared.code in CHANNEL_CODES:
                self._shared_before.pop(channel_id, None)
            return self._shared_before.get(channel_id, True)
        if len(self._shared_before) >= REMEMBERED_MOST:
            self._shared_before.clear()
        self._shared_before[channel_id] = shared
        return shared

    async def join(self, channel_id: str) -> bool:
        """Join a public channel; False when Slack refuses."""
        try:
            await self._client.conversations_join(channel=channel_id)
        except FAILURES as error:
            logger.warning(
                "channel not joined",
                extra={
                    "action": "channel_not_joined",
                    "channel": channel_id,
                    "error": read_failure(error).code,
                },
            )
            return False
        return True

    async def _ask_shared(self, channel_id: str) -> bool | Unanswered:
        try:
            async with asyncio.timeout(LOOKUP_SECONDS):
                answer = await self._client.conversations_info(channel=channel_id)
        except FAILURES as error:
            return Unanswered(read_failure(error).code)
        channel: dict[str, Any] = answer.get("channel") or {}
        return bool(channel.get("is_ext_shared") or channel.get("is_pending_ext_shared"))

    async def _ask_access(self, channel_id: str) -> ChannelAccess | Unanswered:
        try:
            answer = await self._client.conversations_info(channel=channel_id)
        except FAILURES as error:
            return self._refused(channel_id, read_failure(error).code)
        channel: dict[str, Any] = answer.get("channel") or {}
        if channel.get("is_archived"):
            return ChannelAccess.CLOSED
        if channel.get("is_im") or channel.get("is_member"):
            return ChannelAccess.OPEN
        if channel.get("is_private") or channel.get("is_mpim"):
            return ChannelAccess.INVITE
        return ChannelAccess.OPEN if await self.join(channel_id) else ChannelAccess.INVITE

    def _refused(self, channel_id: str, code: str) -> ChannelAccess | Unanswered:
        if code == "channel_not_found":
            # Slack hides private channels and other people's conversations from a bot outside.
            is_direct = channel_id.startswith("D")
            return ChannelAccess.DIRECT if is_direct else ChannelAccess.INVITE
        logger.warning(
            "channel not read",
            extra={"action": "channel_not_read", "channel": channel_id, "error": code},
        )
        return Unanswered(code)


def _is_open(access: ChannelAccess) -> bool:
    """What keeps the bot out may be mended at any moment, and is asked about anew."""
    return access is ChannelAccess.OPEN
