"""Slack's channels and people, in dictionaries."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from typing_extensions import override

from bot.kernel.sharing import ChannelSharing
from bot.slack.person import Guest, Person, PersonUnknown
from bot.slack.ports import Audience, ChannelAccess, ChannelDirectory, PeopleDirectory

HOME = "T0ACME"


@dataclass
class FakeChannels(ChannelDirectory):
    """Every channel is open but those of `others`, and shared with nobody but those of `shared`."""

    others: dict[str, ChannelAccess] = field(default_factory=dict)
    shared: set[str] = field(default_factory=set)

    @override
    async def access(self, channel_id: str) -> ChannelAccess:
        return self.others.get(channel_id, ChannelAccess.OPEN)

    @override
    async def audience(self, channel_id: str) -> Audience:
        return Audience.SHARED if channel_id in self.shared else Audience.OWN

    @override
    async def learn(self) -> None:
        return

    @override
    def learn_sharing(self, events: Mapping[str, ChannelSharing]) -> Collection[str]:
        self.shared = {channel for channel, event in events.items() if event.is_shared}
        return self.shared

    @override
    def wait(self, channel_id: str) -> float:
        return 0


def make_person(user_id: str, *, guest: Guest = Guest.NO) -> Person:
    """Of the home workspace."""
    return Person(
        user_id,
        user_id.lower(),
        frozenset({HOME}),
        is_deactivated=False,
        is_bot=False,
        guest=guest,
        is_stranger=False,
    )


@dataclass
class FakePeople(PeopleDirectory):
    """Everybody is a full member of the home workspace but those of `others`."""

    others: dict[str, Person | PersonUnknown | None] = field(default_factory=dict)
    groups: dict[str, Collection[str] | PersonUnknown] = field(default_factory=dict)
    handles: dict[str, str] = field(default_factory=dict)

    @override
    async def person(self, user_id: str) -> Person | PersonUnknown | None:
        return self.others[user_id] if user_id in self.others else make_person(user_id)

    @override
    async def members(self, group_id: str) -> Collection[str] | PersonUnknown:
        return self.groups.get(group_id, frozenset())

    @override
    async def handle(self, group_id: str) -> str | None:
        return self.handles.get(group_id)

    @override
    async def profile_field(self, user_id: str, field_id: str) -> str:
        return ""
