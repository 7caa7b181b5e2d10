"""Events about channels: one is shared with another organisation, or gets another id."""

from bot.slack.background import Json
from bot.slack.handlers.registry import Call, handles


@handles.event("channel_shared")
async def on_shared(call: Call, body: Json) -> None:
    """https://docs.slack.dev/reference/events/channel_shared."""
    call.bot.channels.remember_shared(str(body["event"].get("channel")), is_shared=True)


@handles.event("channel_unshared")
async def on_unshared(call: Call, body: Json) -> None:
    """The channel may still be shared with a third organisation."""
    event = body["event"]
    is_shared = bool(event.get("is_ext_shared"))
    call.bot.channels.remember_shared(str(event.get("channel")), is_shared=is_shared)


@handles.event("channel_id_changed")
async def on_changed(call: Call, body: Json) -> None:
    """Slack changes the id of a channel, for example when it is about to be shared."""
    event = body["event"]
    await call.bot.use.channel_settings.rename(
        str(event["old_channel_id"]), str(event["new_channel_id"])
    )
