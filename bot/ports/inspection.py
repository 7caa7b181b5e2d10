"""What an inspection of the installation asks of the outside world."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Protocol

from bot.domain.inspection import BotStanding, ChannelStanding
from bot.ports import MergeQueue


class InspectedMergeQueue(MergeQueue, Protocol):
    """What an inspection of the installation asks of the service besides."""

    async def clock_ahead(self) -> timedelta | None:
        """How far our clock is ahead of the service's; None when it does not tell the time."""
        ...


class SlackInspection(Protocol):
    """How the app stands in Slack. Every method raises only InspectionFailed, changes nothing."""

    async def bot(self) -> BotStanding: ...

    async def app_token(self) -> bool:
        """Return when the app-level token opens connections; False when none is used."""
        ...

    async def channels(self) -> Mapping[str, ChannelStanding]:
        """All that the bot is in, by their ids, in few calls."""
        ...

    async def channel(self, channel_id: str) -> ChannelStanding:
        """One channel; waits as long as Slack asks for because of its rate."""
        ...
