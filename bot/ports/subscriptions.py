"""What channels hear about, and what is meant in them."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import Subscription


class Subscriptions(Protocol):
    """Who hears about what; unique by (channel, repository, source)."""

    async def save(self, subscription: Subscription) -> None:
        """Insert, or replace the one with the same channel, repository and source."""
        ...

    async def delete(self, channel_id: str, repository: RepositoryName) -> bool:
        """Remove the one made by command; whether there was one."""
        ...

    async def of_channel(self, channel_id: str) -> Sequence[Subscription]: ...

    async def hold(self, channel_id: str) -> None:
        """Nobody else who holds it changes what the channel hears until this transaction ends."""
        ...

    async def of_repository(self, repository: RepositoryName) -> Sequence[Subscription]: ...

    async def of_repositories(
        self, repositories: Collection[RepositoryName]
    ) -> Mapping[RepositoryName, Sequence[Subscription]]:
        """Those of each, as `of_repository` gives them; left out where there are none."""
        ...

    async def all(self, limit: int) -> Sequence[Subscription]:
        """By repository, then channel."""
        ...

    async def replace_configured(
        self, subscriptions: Sequence[Subscription]
    ) -> Sequence[Subscription]:
        """Make those with source CONFIGURATION exactly these; return those that are gone."""
        ...


class ChannelDefaults(Protocol):
    """The repository that is meant in a channel when none is typed."""

    async def set(self, channel_id: str, repository: RepositoryName) -> None:
        """Instead of the one there was, if there was one."""
        ...

    async def forget(self, channel_id: str) -> None: ...

    async def of(self, channel_id: str) -> RepositoryName | None: ...
