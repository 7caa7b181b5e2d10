"""What Slack tells by itself of channels: who joins from elsewhere, and that one has moved."""

import logging
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp
from typing_extensions import override

from bot.domain.errors import BotError
from bot.slack.handlers.subject import Shared, Subject
from bot.slack.web_api.channels import SlackChannels
from bot.usecases.preferences.rename_channel import RenameChannel

logger = logging.getLogger(__name__)


class Channels(Subject):
    """https://docs.slack.dev/reference/events/channel_shared, `channel_unshared`.

    Slack gives a channel another id, for example when it is about to be shared
    (`channel_id_changed`): what the bot keeps is moved to the new one.
    """

    def __init__(
        self, shared: Shared, channels: SlackChannels, rename_channel: RenameChannel
    ) -> None:
        super().__init__(shared)
        self._channels = channels
        self._rename_channel = rename_channel

    @override
    def register(self, app: AsyncApp) -> None:
        app.event("channel_shared")(self.on_shared)
        app.event("channel_unshared")(self.on_unshared)
        app.event("channel_id_changed")(self.on_changed)

    async def on_shared(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        self._channels.heard_shared(str(body["event"].get("channel")), is_shared=True)

    async def on_unshared(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        """Still shared where a third organisation stays."""
        await ack()
        event = body["event"]
        is_shared = bool(event.get("is_ext_shared"))
        self._channels.heard_shared(str(event.get("channel")), is_shared=is_shared)

    async def on_changed(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        old, new = body["event"]["old_channel_id"], body["event"]["new_channel_id"]
        self.background.inbox.hand_over(self._rename(body, str(old), str(new)))

    async def _rename(self, body: dict[str, Any], old: str, new: str) -> None:
        """Nobody waits for an answer: a failure is for the log."""
        try:
            work = self._rename_channel.run(old, new)
            await self.background.once.act(body, work)
        except BotError:
            logger.exception(
                "channel id not changed",
                extra={"action": "channel_not_renamed", "channel": old},
            )
