"""Whether the bot can speak in a Slack channel."""

from enum import StrEnum


class ChannelAccess(StrEnum):
    """Whether the bot can post in a channel, or why not.

    `OPEN`: it can post and read back.
    `INVITE`: somebody has to invite it first.
    `DIRECT`: a conversation between people, which it can't join.
    `CLOSED`: archived or deleted.
    `UNKNOWN`: Slack did not say.
    """

    OPEN = "open"
    INVITE = "invite"
    DIRECT = "direct"
    CLOSED = "closed"
    UNKNOWN = "unknown"
