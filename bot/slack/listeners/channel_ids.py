"""Slack gives a channel another id, for example when it is about to be shared."""

import logging
from dataclasses import dataclass
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.domain.errors import BotError
from bot.slack.payloads import ChannelIdChanged
from bot.slack.receiving.inbox import Inbox
from bot.slack.receiving.once import Once
from bot.usecases.preferences.rename_channel import RenameChannel

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ChannelIds:
    """Hears of each change and has what the bot keeps moved to the new id."""

    rename_channel: RenameChannel
    inbox: Inbox
    once: Once

    def register(self, app: AsyncApp) -> None:
        app.event("channel_id_changed")(self.on_changed)

    async def on_changed(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        changed = ChannelIdChanged.model_validate(body["event"])
        self.inbox.hand_over(self._rename(body, changed))

    async def _rename(self, body: dict[str, Any], changed: ChannelIdChanged) -> None:
        """Nobody waits for an answer: a failure is for the log."""
        try:
            work = self.rename_channel.run(changed.old_channel_id, changed.new_channel_id)
            await self.once.act(body, work)
        except BotError:
            logger.exception(
                "channel id not changed",
                extra={"action": "channel_not_renamed", "channel": changed.old_channel_id},
            )
