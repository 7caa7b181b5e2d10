"""Events about channels: one is shared with another organisation, or gets another id."""

import logging

from bot.domain.errors import BotError
from bot.slack.background import Json
from bot.slack.handlers.registry import Bot, Call, handles

logger = logging.getLogger(__name__)


@handles.event("channel_shared")
def on_shared(call: Call, body: Json) -> None:
    """https://docs.slack.dev/reference/events/channel_shared."""
    call.bot.channels.heard_shared(str(body["event"].get("channel")), is_shared=True)


@handles.event("channel_unshared")
def on_unshared(call: Call, body: Json) -> None:
    """The channel may still be shared with a third organisation."""
    event = body["event"]
    is_shared = bool(event.get("is_ext_shared"))
    call.bot.channels.heard_shared(str(event.get("channel")), is_shared=is_shared)


@handles.event("channel_id_changed")
def on_changed(call: Call, body: Json) -> None:
    """Slack changes the id of a channel, for example when it is about to be shared."""
    old, new = body["event"]["old_channel_id"], body["event"]["new_channel_id"]
    call.bot.background.inbox.hand_over(_rename(call.bot, body, str(old), str(new)))


async def _rename(bot: Bot, body: Json, old: str, new: str) -> None:
    """Nobody waits for an answer, so a failure only goes to the log."""
    try:
        await bot.background.once.act(body, bot.use.rename_channel.run(old, new))
    except BotError:
        extra = {"action": "channel_not_renamed", "channel": old}
        logger.exception("channel id not changed", extra=extra)
