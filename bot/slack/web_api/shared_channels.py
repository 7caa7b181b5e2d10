"""What a message to a whole channel leaves out where other organisations look on."""

from bot.domain.message import Message
from bot.messages.blocks import has_controls, without_controls
from bot.ports import ChannelDirectory


async def fit_for_channel(
    message: Message, channel_id: str | None, channels: ChannelDirectory
) -> Message:
    """No buttons in an externally shared channel; what is pressed all the same is checked.

    Slack is asked only for messages that have buttons.
    https://docs.slack.dev/apis/slack-connect
    """
    if not has_controls(message.blocks):
        return message
    if channel_id is None or await channels.is_shared(channel_id) is not False:
        return without_controls(message)
    return message
