"""How the app stands in Slack, for `mqbot check`."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from bot.domain.errors import BotError


@dataclass(frozen=True, slots=True)
class BotStanding:
    """The bot token's identity and permissions; None if Slack didn't say.

    `ahead`: how far our clock is ahead of Slack's.
    """

    bot_name: str
    team_name: str
    scopes: frozenset[str] | None
    ahead: timedelta | None
    reports_guests: bool | None = None
    """Whether Slack says which accounts are guests; None if unknown."""


class ChannelState(StrEnum):
    """Whether the bot can post in a channel.

    `MEMBER`: it is in the channel.
    `PUBLIC`: it joins when it first posts.
    `INVITE`: private; somebody has to invite it.
    `ARCHIVED`: takes no posts.
    `HIDDEN`: deleted, or private and the bot isn't in it.
    """

    MEMBER = "member"
    PUBLIC = "public"
    INVITE = "invite"
    ARCHIVED = "archived"
    HIDDEN = "hidden"


@dataclass(frozen=True, slots=True)
class ChannelStanding:
    """A channel as Slack describes it; `name` is None if Slack doesn't."""

    state: ChannelState
    name: str | None = None


class InspectionFailed(BotError):
    """Slack did not answer a request.

    `code`: Slack's or ours.
    `is_refusal`: it concerns the credential, so that retrying would not help.
    """

    def __init__(self, code: str, *, is_refusal: bool) -> None:
        super().__init__(code)
        self.code = code
        self.is_refusal = is_refusal


_MAY_BE_MISSING = "a post may be missing if Slack's answer to it was lost."

LOST_WITHOUT: Mapping[str, str] = {
    "app_mentions:read": "Commands in messages that mention the bot aren't answered.",
    "channels:history": f"In public channels, {_MAY_BE_MISSING}",
    "channels:join": "The bot has to be invited to public channels.",
    "chat:write.public": "Posts in a public channel wait until the bot is in it.",
    "groups:history": f"In private channels, {_MAY_BE_MISSING}",
    "groups:read": "Posts in private channels have no buttons.",
    "im:history": f"Commands in direct messages aren't answered. In those, {_MAY_BE_MISSING}",
    "im:read": "Answers in direct messages have no buttons.",
    "im:write": "Nobody gets reminders and notifications as direct messages.",
    "usergroups:read": "Members of user groups in MQBOT_WHO_MAY_PAUSE are refused.",
}
"""What the bot can't do without each optional scope of the manifest."""
