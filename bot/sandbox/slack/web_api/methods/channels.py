"""How methods find the channel they were given, by the rules of membership and scope."""

import base64
import binascii
import re

from bot.sandbox.slack.state.installation import Installation
from bot.sandbox.slack.state.workspace import Channel, ChannelKind
from bot.sandbox.slack.web_api.calls import Call
from bot.sandbox.slack.wire import SlackRefusal

_PREFIX: dict[ChannelKind, str] = {
    "public": "channels",
    "private": "groups",
    "im": "im",
    "mpim": "mpim",
}
_TS = re.compile(r"\d+(\.\d+)?")


def scopes_for(suffix: str) -> tuple[str, ...]:
    """Give the scopes of which any one admits to a method, for example all `*:history`."""
    return tuple(f"{prefix}:{suffix}" for prefix in _PREFIX.values())


def visible_channel(installation: Installation, channel_id: str) -> Channel:
    """Find a channel the app may know of.

    Raises SlackRefusal `channel_not_found`, also for a private channel it is not in.
    """
    channel = installation.workspace.channels.get(channel_id)
    if channel is None or (channel.is_private and not installation.is_member(channel)):
        raise SlackRefusal("channel_not_found")
    return channel


def channel_for(installation: Installation, call: Call, suffix: str) -> Channel:
    """Find the channel of a call and require the scope of its kind, such as `groups:history`."""
    channel = visible_channel(installation, call.required("channel"))
    call.token.require_any((f"{_PREFIX[channel.kind]}:{suffix}",))
    return channel


def kind_scope(kind: ChannelKind, suffix: str) -> str:
    return f"{_PREFIX[kind]}:{suffix}"


def timestamp(call: Call, name: str, refusal: str) -> str | None:
    """Read a message time; raises SlackRefusal `refusal` when it is none."""
    text = call.text(name)
    if not text:
        return None
    if not _TS.fullmatch(text):
        raise SlackRefusal(refusal)
    seconds, _, fraction = text.partition(".")
    return f"{int(seconds)}.{fraction[:6]:0<6}"


def encode_cursor(kind: str, position: str) -> str:
    return base64.b64encode(f"{kind}:{position}".encode()).decode()


def decode_cursor(call: Call, kind: str) -> str | None:
    """Read the position a cursor stands for; raises SlackRefusal `invalid_cursor`."""
    cursor = call.text("cursor")
    if not cursor:
        return None
    try:
        found, _, position = base64.b64decode(cursor, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        raise SlackRefusal("invalid_cursor") from None
    if found != kind or not position:
        raise SlackRefusal("invalid_cursor")
    return position
