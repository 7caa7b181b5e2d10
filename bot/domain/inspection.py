"""How the app stands in Slack, for `mqbot check`."""

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
