"""Make sure in advance that the bot can post in subscribed channels and read back."""

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass, field

from bot.domain.configured import Configured
from bot.ports import ChannelAccess, ChannelDirectory
from bot.store.transactions import Store

logger = logging.getLogger(__name__)

FIXES = {
    ChannelAccess.INVITE: "invite the bot to the channel",
    ChannelAccess.DIRECT: "subscribe a channel instead of a conversation between people",
    ChannelAccess.CLOSED: "unarchive the channel, or remove its subscription",
    ChannelAccess.UNKNOWN: "the record before says why; mqbot check says how to fix it",
}


ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class PrepareChannels:
    """Joins public channels, and logs those that need an invitation."""

    store: Store
    channels: ChannelDirectory
    configured: Configured
    ending: asyncio.Event = field(default_factory=asyncio.Event)

    def begin_no_more(self) -> None:
        """Stop after the current channel, because the process is about to end."""
        self.ending.set()

    async def run(self) -> None:
        """Prepare the channels; raises StoreError."""
        names = self.configured.repositories.names
        found = await self.store.run(
            lambda transaction: transaction.subscriptions.of_repositories(names)
        )
        subscribed = [one.channel_id for some in found.values() for one in some]
        await self.channels.learn()
        for channel_id in dict.fromkeys(subscribed):
            access = await self._access(channel_id)
            if self.ending.is_set():
                return
            if access is not ChannelAccess.OPEN:
                logger.warning(
                    "a subscribed channel cannot be posted to",
                    extra={
                        "action": "channel_not_open",
                        "channel": channel_id,
                        "access": access.value,
                        "fix": FIXES[access],
                    },
                )

    async def _access(self, channel_id: str) -> ChannelAccess:
        """Ask at the rate that Slack allows, and again if Slack only said "later"."""
        access = ChannelAccess.UNKNOWN
        for _ in range(ATTEMPTS):
            await self._wait(self.channels.wait(channel_id))
            if self.ending.is_set():
                break
            access = await self.channels.access(channel_id)
            if access is not ChannelAccess.UNKNOWN:
                break
        return access

    async def _wait(self, seconds: float) -> None:
        """Wait, but no longer than the process lives."""
        if seconds > 0:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self.ending.wait()
