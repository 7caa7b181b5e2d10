"""What the bot asks of Slack, as ports."""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from enum import Enum, StrEnum
from typing import NamedTuple, Protocol

from bot.blocks.message import Message, Thread
from bot.kernel.sharing import ChannelSharing
from bot.slack.person import Person, PersonUnknown

SURELY_SHOWN = timedelta(seconds=30)
"""The age of a post from which one look into the channel's history is enough."""


class Sent(NamedTuple):
    """A post that Slack took."""

    ts: str
    #: False if it lacks its buttons, because Slack hasn't said who reads the channel; an edit adds
    #: them
    is_complete: bool = True
    #: it was to be in a thread whose first message has been deleted, so it stands in the channel
    is_alone: bool = False


class ChannelPoster(Protocol):
    """Posts to Slack channels. Every method raises only PostError.

    A person's id instead of a channel's means the bot's direct messages with that person.
    """

    async def post(
        self, channel_id: str, message: Message, delivery_id: str, thread: Thread | None = None
    ) -> Sent:
        """Send at most one request.

        PostRefused with Refusal.THREAD: that thread takes no replies.
        """
        ...

    async def find(
        self,
        channel_id: str,
        delivery_id: str,
        since: datetime,
        thread_ts: str | None = None,
        until: datetime | None = None,
    ) -> str | None:
        """The `ts` of the message that carries `delivery_id`, or None if there is none.

        Searches around `since` in the channel's history, and in the thread if one is given; with
        `until`, from `since` to then, without reading anything twice.
        PostPostponed: the same call continues later where this one stopped.
        """
        ...

    async def update(self, channel_id: str, message_ts: str, message: Message) -> None:
        """Edit one of the bot's messages; repeating the edit changes nothing.

        PostRefused with Refusal.EDIT: that message can't be edited any more. PostPostponed: also
        for a message with buttons while Slack hasn't said who reads the channel.
        """
        ...


class ChannelAccess(StrEnum):
    """Whether the bot can post in a channel, or why not."""

    OPEN = "open"  #: it can post and read back
    INVITE = "invite"  #: somebody has to invite it first
    DIRECT = "direct"  #: a conversation between people, which it can't join
    CLOSED = "closed"  #: archived or deleted
    UNKNOWN = "unknown"  #: Slack did not say


class Audience(Enum):
    """Who reads a channel."""

    OWN = "only people of our organisation"
    SHARED = "people of other organisations too"
    UNKNOWN = "Slack has never said"


class ChannelDirectory(Protocol):
    """Slack's data on channels."""

    async def access(self, channel_id: str) -> ChannelAccess:
        """Whether the bot can post there; joins public channels, so that it can read back.

        Never raises: `ChannelAccess.UNKNOWN` if Slack doesn't answer.
        """
        ...

    async def audience(self, channel_id: str) -> Audience:
        """Who reads the channel, or may soon.

        Never raises: without an answer, the last known one. `SHARED` for channels that Slack hides.
        """
        ...

    async def learn(self) -> None:
        """Read all channels that the bot is in, in few requests."""
        ...

    def learn_sharing(self, events: Mapping[str, ChannelSharing]) -> Collection[str]:
        """Remember what any process heard of channels; return those that changed for this one.

        `events`: the newest, by channel.
        """
        ...

    def wait(self, channel_id: str) -> float:
        """Seconds until `access` may ask Slack about a channel, given its rate limit.

        Zero when it doesn't have to ask.
        """
        ...


class PeopleDirectory(Protocol):
    """Slack's data on people and user groups, at most a minute old. Nothing here raises."""

    async def person(self, user_id: str) -> Person | PersonUnknown | None:
        """The person; None when Slack has nobody with that id."""
        ...

    async def members(self, group_id: str) -> Collection[str] | PersonUnknown:
        """The ids of a user group's members; a disabled or unknown group has none."""
        ...

    async def handle(self, group_id: str) -> str | None:
        """The name of a user group, without its `@`; None when unknown."""
        ...

    async def profile_field(self, user_id: str, field_id: str) -> str:
        """What a custom field of the person's profile holds; empty also when unknown."""
        ...
