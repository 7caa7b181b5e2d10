"""Whether the bot can speak in a Slack channel."""

from enum import StrEnum


class ChannelAccess(StrEnum):
    """What stands between the bot and a post.

    `OPEN`: nothing, it can post and read back. `INVITE`: somebody has to invite it first.
    `DIRECT`: a conversation between people, where it has no place. `CLOSED`: archived or gone.
    `UNKNOWN`: Slack did not say.
    """

    OPEN = "open"
    INVITE = "invite"
    DIRECT = "direct"
    CLOSED = "closed"
    UNKNOWN = "unknown"
