"""The state of the workspace: its people, channels and messages, with notice of each change."""

import dataclasses
import itertools
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from bot.sandbox.slack.wire import Json

ChannelKind = Literal["public", "private", "im", "mpim"]
UserKind = Literal["member", "owner", "admin", "guest", "single_channel_guest", "external", "bot"]

SLACKBOT_ID = "USLACKBOT"
MESSAGES_KEPT = 10_000
EPHEMERALS_KEPT = 500
_TWO = 2
_EDITS_KEPT = 100


@dataclass(frozen=True)
class Team:
    """The workspace itself, as Slack names it; `enterprise_id` of its Enterprise Grid, if any."""

    id: str
    name: str
    domain: str
    enterprise_id: str | None = None
    is_org_wide: bool = False  #: the app is installed for the whole Enterprise Grid


@dataclass
class User:
    """A person or a bot user; `enterprise_id` of the Enterprise Grid they belong to, if any."""

    id: str
    name: str
    real_name: str
    team_id: str
    kind: UserKind = "member"
    tz: str = "Europe/London"
    tz_offset: int = 0
    deleted: bool = False
    enterprise_id: str | None = None
    has_guest_flags: bool = True
    display_name: str | None = None
    """What the person chose to be called; None: the same as `name`, empty: nothing chosen."""

    profile_fields: dict[str, str] = field(default_factory=dict)
    """What custom fields of the profile hold, by their ids."""

    @property
    def shown_name(self) -> str:
        """What people see and type after an @: `name` is Slack's legacy username.

        https://docs.slack.dev/reference/objects/user-object#profile
        """
        chosen = self.name if self.display_name is None else self.display_name
        return chosen or self.real_name

    @property
    def acting_team_id(self) -> str:
        """The id that payloads name as their team: on Enterprise Grid the organisation's."""
        return self.enterprise_id or self.team_id

    @property
    def is_bot(self) -> bool:
        return self.kind == "bot"


@dataclass
class UserGroup:
    """A user group, named in messages by its handle."""

    id: str
    name: str
    handle: str
    members: set[str] = field(default_factory=set)
    is_enabled: bool = True


@dataclass
class Message:
    """One message of a channel; `ephemeral_to` names the only person who sees it, if any."""

    channel: str
    ts: str
    user: str
    text: str
    blocks: list[Json] = field(default_factory=list)
    attachments: list[Json] = field(default_factory=list)
    thread_ts: str | None = None
    broadcast: bool = False
    from_app: bool = False
    subtype: str | None = None
    metadata: Json | None = None
    edited: Json | None = None
    client_msg_id: str | None = None
    reactions: dict[str, list[str]] = field(default_factory=dict)
    ephemeral_to: str | None = None
    files: list[Json] = field(default_factory=list)
    shown_before: list[list[Json]] = field(default_factory=list)
    """The blocks before the latest edits, which a client that is slow to redraw still shows."""

    @property
    def drawn(self) -> list[Json]:
        """All blocks: its own, and those beside a bar."""
        beside = [block for each in self.attachments for block in each.get("blocks") or ()]
        return [*self.blocks, *beside]

    @property
    def is_reply(self) -> bool:
        return self.thread_ts is not None and self.thread_ts != self.ts

    @property
    def is_listed(self) -> bool:
        """Whether the channel itself shows it: replies live in their thread unless broadcast."""
        return not self.is_reply or self.broadcast


class Timeline:
    """The messages of one channel in order of `ts`, the oldest given up past a number kept."""

    def __init__(self, kept: int) -> None:
        self._kept = kept
        self._times: list[str] = []
        self._messages: dict[str, Message] = {}
        self._replies: dict[str, list[Message]] = {}

    def add(self, message: Message) -> None:
        self._times.append(message.ts)
        self._messages[message.ts] = message
        if message.is_reply:
            self._replies.setdefault(message.thread_ts or "", []).append(message)
        if len(self._times) > self._kept:
            self.remove(self._times[0])

    def get(self, ts: str) -> Message | None:
        return self._messages.get(ts)

    def remove(self, ts: str) -> None:
        message = self._messages.pop(ts, None)
        if message is None:
            return
        del self._times[bisect_left(self._times, ts)]
        if message.is_reply:
            self._replies[message.thread_ts or ""].remove(message)

    def replies(self, thread_ts: str) -> list[Message]:
        """List the replies of a thread, oldest first, without their parent."""
        return list(self._replies.get(thread_ts, ()))

    def newest_first(self, before: str | None = None) -> Iterator[Message]:
        """Walk back from the newest message whose `ts` is at most `before`."""
        end = len(self._times) if before is None else bisect_right(self._times, before)
        for index in range(end - 1, -1, -1):
            yield self._messages[self._times[index]]

    def __iter__(self) -> Iterator[Message]:
        return iter(self._messages.values())


@dataclass
class Channel:
    """A conversation of any kind, with its members and messages."""

    id: str
    name: str
    kind: ChannelKind
    members: set[str] = field(default_factory=set)
    topic: str = ""
    creator: str = ""
    created: int = 1_700_000_000
    is_archived: bool = False
    is_ext_shared: bool = False
    is_pending_ext_shared: bool = False
    messages: Timeline = field(default_factory=lambda: Timeline(MESSAGES_KEPT))
    deleted: set[str] = field(default_factory=set)
    """The `ts` of messages that were deleted and left no tombstone."""
    ephemerals: Timeline = field(default_factory=lambda: Timeline(EPHEMERALS_KEPT))

    @property
    def is_private(self) -> bool:
        return self.kind != "public"

    def thread(self, thread_ts: str) -> list[Message]:
        """List the replies of a thread, oldest first, without their parent."""
        return self.messages.replies(thread_ts)


@dataclass(frozen=True)
class Change:
    """Something that a person may see has changed; `users` empty means all who see the channel."""

    kind: str
    channel: str | None = None
    message: Message | None = None
    previous: Message | None = None
    text: str | None = None
    users: frozenset[str] = frozenset()
    joined: str | None = None
    inviter: str | None = None


class Workspace:
    """Everything that Slack would store, in memory; listeners are notified of each change."""

    def __init__(self, team: Team, users: Iterable[User], channels: Iterable[Channel]) -> None:
        self.team = team
        self.users = {each.id: each for each in users}
        self.channels = {each.id: each for each in channels}
        self.groups: dict[str, UserGroup] = {}
        self._listeners: list[Callable[[Change], None]] = []
        self._last_micros = 0
        self.ahead = 0.0  #: seconds from the machine's clock to the workspace's
        self._serial = itertools.count(1)

    def on_change(self, listener: Callable[[Change], None]) -> None:
        self._listeners.append(listener)

    def notify(self, change: Change) -> None:
        for listener in list(self._listeners):
            listener(change)

    def new_ts(self) -> str:
        """Mint a message time: seconds and six digits, later than every one minted before."""
        self._last_micros = max(int(self.now() * 1_000_000), self._last_micros + 1)
        return f"{self._last_micros // 1_000_000}.{self._last_micros % 1_000_000:06d}"

    def move_clock(self, seconds: float) -> None:
        """Let the workspace be so much later than the machine, or earlier."""
        self.ahead = seconds

    def now(self) -> float:
        """Seconds since the epoch, by the workspace's clock."""
        return time.time() + self.ahead

    def sees(self, user_id: str, channel: Channel) -> bool:
        return channel.kind == "public" or user_id in channel.members

    def channel_named(self, name: str) -> Channel | None:
        wanted = name.removeprefix("#")
        named = (each for each in self.channels.values() if each.name and each.name == wanted)
        return next(named, None)

    def user_named(self, name: str) -> User | None:
        """Find the person who is shown by that name, as the composer does after an @."""
        wanted = name.removeprefix("@").lower()
        people = self.users.values()
        return next((each for each in people if each.shown_name.lower() == wanted), None)

    def group_named(self, handle: str) -> UserGroup | None:
        wanted = handle.removeprefix("@").lower()
        return next((each for each in self.groups.values() if each.handle == wanted), None)

    def direct_channel(self, *people: str) -> Channel:
        """Find the direct conversation of two or more people, opening it when there is none."""
        members = set(people)
        kind: ChannelKind = "im" if len(members) <= _TWO else "mpim"
        for channel in self.channels.values():
            if channel.kind == kind and channel.members == members:
                return channel
        names = "--".join(sorted(self.users[each].name for each in members))
        name = "" if kind == "im" else f"mpdm-{names}-1"
        letter = "D" if kind == "im" else "G"
        channel_id = f"{letter}0{next(self._serial):06d}"
        opened = Channel(channel_id, name, kind, members, created=int(self.now()))
        self.channels[opened.id] = opened
        self.notify(Change("channel", channel=opened.id))
        return opened

    def post(self, message: Message) -> None:
        channel = self.channels[message.channel]
        if message.ephemeral_to is not None:
            channel.ephemerals.add(message)
            self._tell("ephemeral", message)
            return
        channel.messages.add(message)
        self._tell("message", message)

    def replace(self, message: Message) -> None:
        """Let `message` stand where its `ts` stands now, ephemeral or not."""
        channel = self.channels[message.channel]
        hidden = message.ephemeral_to is not None
        timeline = channel.ephemerals if hidden else channel.messages
        previous = timeline.get(message.ts)
        if previous is None:
            return
        before = dataclasses.replace(previous)
        for name in (each.name for each in dataclasses.fields(message)):
            setattr(previous, name, getattr(message, name))
        previous.shown_before = [before.drawn, *before.shown_before][:_EDITS_KEPT]
        self._tell("ephemeral_replaced" if hidden else "message_changed", previous, before)

    def delete(self, message: Message) -> None:
        """Take a message away; a parent that has replies leaves Slack's tombstone behind."""
        channel = self.channels[message.channel]
        if message.ephemeral_to is not None:
            channel.ephemerals.remove(message.ts)
            self._tell("ephemeral_deleted", message)
            return
        if channel.thread(message.ts):
            tombstone = Message(
                message.channel,
                message.ts,
                SLACKBOT_ID,
                "This message was deleted.",
                thread_ts=message.ts,
                subtype="tombstone",
            )
            self.replace(tombstone)
            return
        channel.messages.remove(message.ts)
        channel.deleted.add(message.ts)
        self._tell("message_deleted", message)

    def react(self, message: Message, user_id: str, name: str) -> bool:
        """Add a reaction; False when that person had reacted so already."""
        users = message.reactions.setdefault(name, [])
        if user_id in users:
            return False
        users.append(user_id)
        self._tell("message_changed", message, message)
        return True

    def add_user(self, user: User) -> None:
        self.users[user.id] = user
        self.notify(Change("app"))

    def add_channel(self, channel: Channel) -> None:
        self.channels[channel.id] = channel
        self.touch(channel)

    def touch(self, channel: Channel) -> None:
        """Tell that a channel is not what it was."""
        self.notify(Change("channel", channel=channel.id))

    def change_channel_id(self, old: str, new: str) -> None:
        channel = self.channels.pop(old)
        channel.id = new
        for message in (*channel.messages, *channel.ephemerals):
            message.channel = new
        self.channels[new] = channel
        self.notify(Change("channel_id", channel=new, text=old))

    def join(self, channel: Channel, user_id: str, inviter: str | None = None) -> None:
        """Make a person or app a member; without an inviter they came by themselves."""
        if user_id in channel.members:
            return
        channel.members.add(user_id)
        change = Change("channel", channel=channel.id, joined=user_id, inviter=inviter)
        self.notify(change)

    def leave(self, channel: Channel, user_id: str) -> None:
        channel.members.discard(user_id)
        self.touch(channel)

    def tell(self, user_id: str, channel_id: str | None, text: str) -> None:
        """Give one person a notice, as Slackbot does when an app fails them."""
        users = frozenset({user_id})
        self.notify(Change("notice", channel=channel_id, text=text, users=users))

    def _tell(self, kind: str, message: Message, previous: Message | None = None) -> None:
        users = frozenset({message.ephemeral_to}) if message.ephemeral_to else frozenset[str]()
        self.notify(Change(kind, message.channel, message, previous, users=users))
