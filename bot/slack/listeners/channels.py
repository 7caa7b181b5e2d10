"""What Slack tells by itself of channels: that other organisations come and go."""

from dataclasses import dataclass
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.slack.web_api.channels import SlackChannels


@dataclass(frozen=True, slots=True)
class ChannelListeners:
    """https://docs.slack.dev/reference/events/channel_shared, and `channel_unshared`."""

    channels: SlackChannels

    def register(self, app: AsyncApp) -> None:
        app.event("channel_shared")(self.on_shared)
        app.event("channel_unshared")(self.on_unshared)

    async def on_shared(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        self.channels.heard_shared(str(body["event"].get("channel")), is_shared=True)

    async def on_unshared(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        """Still shared where a third organisation stays."""
        await ack()
        event = body["event"]
        is_shared = bool(event.get("is_ext_shared"))
        self.channels.heard_shared(str(event.get("channel")), is_shared=is_shared)
