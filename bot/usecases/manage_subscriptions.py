"""Subscribe a channel, unsubscribe it, list what it hears about."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.domain.channels import ChannelAccess
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import Subscription, SubscriptionSource
from bot.ports import ChannelDirectory, Clock, Store


@dataclass(frozen=True, slots=True)
class Subscribed:
    """The subscription as it now is, and whether the bot can post in the channel."""

    subscription: Subscription
    access: ChannelAccess


@dataclass(frozen=True, slots=True)
class Unsubscribed:
    """How unsubscribing ended.

    `changed`: there was something to end. `left`: what is still heard about by command.
    `configured`: a subscription from the configuration, which stays.
    """

    changed: bool
    left: Subscription | None
    configured: Subscription | None


@dataclass(frozen=True, slots=True)
class ManageSubscriptions:
    """Everything a channel can say about what it wants to hear."""

    store: Store
    channels: ChannelDirectory
    clock: Clock

    async def subscribe(
        self,
        channel_id: str,
        repository: RepositoryName,
        topics: frozenset[str],
        created_by: str,
    ) -> Subscribed:
        """Add `topics`; subscribing to x turns on x only."""
        access = await self.channels.access(channel_id)
        async with self.store.begin() as transaction:
            found = await transaction.subscriptions.of_channel(channel_id)
            before = _by_command(found, repository)
            heard = topics if before is None else before.topics | topics
            subscription = Subscription(
                channel_id,
                repository,
                heard,
                created_by=created_by,
                created_at=self.clock.now(),
            )
            await transaction.subscriptions.save(subscription)
        return Subscribed(subscription, access)

    async def unsubscribe(
        self, channel_id: str, repository: RepositoryName, topics: frozenset[str] | None
    ) -> Unsubscribed:
        """End `topics`, or the whole subscription when `topics` is None."""
        async with self.store.begin() as transaction:
            found = await transaction.subscriptions.of_channel(channel_id)
            before = _by_command(found, repository)
            left = None if before is None else _without(before, topics)
            if left is not None:
                await transaction.subscriptions.save(left)
            elif before is not None:
                await transaction.subscriptions.delete(channel_id, repository)
        configured = _of(found, repository, SubscriptionSource.CONFIGURATION)
        return Unsubscribed(before != left, left, configured)

    async def subscriptions(self, channel_id: str) -> Sequence[Subscription]:
        async with self.store.begin() as transaction:
            return await transaction.subscriptions.of_channel(channel_id)


def _without(subscription: Subscription, topics: frozenset[str] | None) -> Subscription | None:
    left = frozenset() if topics is None else subscription.topics - topics
    return replace(subscription, topics=left) if left else None


def _by_command(found: Sequence[Subscription], repository: RepositoryName) -> Subscription | None:
    return _of(found, repository, SubscriptionSource.COMMAND)


def _of(
    found: Sequence[Subscription], repository: RepositoryName, source: SubscriptionSource
) -> Subscription | None:
    for one in found:
        if one.repository == repository and one.source is source:
            return one
    return None
