"""What an inspection of the installation, `mqbot check`, finds."""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from bot.domain.errors import BotError

CLOCK_ALLOWANCE = timedelta(seconds=30)
"""More than that between our clock and another makes ages wrong, and signed requests fail soon."""


class Area(StrEnum):
    """What is inspected."""

    CONFIGURATION = "configuration"
    DATABASE = "database"
    DELIVERIES = "deliveries"
    MERGE_QUEUE = "merge queue"
    SLACK = "Slack"
    CHANNEL = "channel"
    CLOCK = "clock"


class Standing(StrEnum):
    """All is well when every finding is `OK`; a `WARNING` stops nothing."""

    OK = "ok"
    WARNING = "warning"
    WRONG = "wrong"
    UNKNOWN = "not checked"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One line of the report: a sentence, and how to fix it when something is wrong."""

    area: Area
    subject: str
    standing: Standing
    sentence: str
    fix: str | None = None


@dataclass(frozen=True, slots=True)
class BotStanding:
    """Who the bot token makes us, and what it may do; None for what Slack did not say.

    `ahead` is how far our clock is ahead of Slack's.
    """

    bot_name: str
    team_name: str
    scopes: frozenset[str] | None
    ahead: timedelta | None
    tells_guests: bool | None = None
    """Whether Slack tells of accounts if they are guests'; None when it could not be asked."""


class ChannelState(StrEnum):
    """How a channel stands to the bot.

    `MEMBER` is in it. `PUBLIC`: not yet, it joins when it posts. `INVITE`: private, somebody has
    to let it in. `ARCHIVED` takes no posts. `HIDDEN`: deleted, or private and the bot is outside.
    """

    MEMBER = "member"
    PUBLIC = "public"
    INVITE = "invite"
    ARCHIVED = "archived"
    HIDDEN = "hidden"


@dataclass(frozen=True, slots=True)
class ChannelStanding:
    """A channel as Slack describes it; `name` is None for one it does not."""

    state: ChannelState
    name: str | None = None


class InspectionFailed(BotError):
    """Slack did not answer what was asked.

    `code` is Slack's or ours; `is_refusal`: it concerns the credential, so that asking again
    would not help.
    """

    def __init__(self, code: str, *, is_refusal: bool) -> None:
        super().__init__(code)
        self.code = code
        self.is_refusal = is_refusal
