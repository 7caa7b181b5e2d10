"""What keeps the installation in order: old rows go, and channels are ready to be posted in.

All raise StoreError.
"""

import asyncio
import logging
from collections.abc import Collection
from contextlib import suppress
from datetime import timedelta

from bot.channels.rows import Subscriptions
from bot.kernel.clock import Clock
from bot.kernel.configured import Configured
from bot.posts.live_messages import LiveMessages
from bot.posts.wake import Wake
from bot.runtime.upkeep.pruning import Upkeep
from bot.slack.ports import ChannelAccess, ChannelDirectory
from bot.store.slack_limits import ChannelSharings
from bot.store.transaction import Transaction
from bot.store.transactions import Store

logger = logging.getLogger(__name__)

FIXES = {
    ChannelAccess.INVITE: "invite the bot to the channel",
    ChannelAccess.DIRECT: "subscribe a channel instead of a conversation between people",
    ChannelAccess.CLOSED: "unarchive the channel, or remove its subscription",
    ChannelAccess.UNKNOWN: "the record before says why; mqbot check says how to fix it",
}

ATTEMPTS = 3


async def prune_history(
    store: Store,
    clock: Clock,
    retention: timedelta,
    configured: Configured,
    ending: asyncio.Event,
) -> None:
    """Delete old rows in slices, each in its own short transaction, until `ending` is set.

    In the audit only refusals go: acts are kept forever.
    """
    now = clock.now()
    managed = frozenset(configured.repositories.names)
    more = True
    while more and not ending.is_set():
        deleted = await store.run(
            lambda transaction: Upkeep(transaction).prune(now - retention, now, managed)
        )
        more = any(deleted.values())


async def prepare_channels(
    store: Store, channels: ChannelDirectory, configured: Configured, ending: asyncio.Event
) -> None:
    """Join the subscribed public channels, and log those that need an invitation.

    Ends after the current channel once `ending` is set.
    """
    names = configured.repositories.names
    found = await store.read(lambda transaction: Subscriptions(transaction).of_repositories(names))
    subscribed = [subscription.channel_id for some in found.values() for subscription in some]
    await channels.learn()
    for channel_id in dict.fromkeys(subscribed):
        access = await _access(channels, channel_id, ending)
        if ending.is_set():
            return
        if access is not ChannelAccess.OPEN:
            extra = {
                "action": "channel_not_open",
                "channel": channel_id,
                "access": access.value,
                "fix": FIXES[access],
            }
            logger.warning("can't post in a subscribed channel", extra=extra)


async def learn_sharing(store: Store, channels: ChannelDirectory) -> None:
    """Learn which channels were shared or unshared, whichever process heard of it."""
    await _newly_shared(store, channels)


async def _newly_shared(store: Store, channels: ChannelDirectory) -> Collection[str]:
    events = await store.read(lambda transaction: ChannelSharings(transaction).all())
    return channels.learn_sharing(events)


async def follow_sharing(
    store: Store, channels: ChannelDirectory, clock: Clock, wake: Wake
) -> None:
    """Edit the messages of channels that were shared or unshared: buttons go, or come back."""
    changed = await _newly_shared(store, channels)
    if not changed:
        return

    def mark(transaction: Transaction) -> None:
        for channel_id in sorted(changed):
            LiveMessages(transaction).mark_channel(channel_id, due_at=clock.now())

    await store.run(mark)
    wake()


async def _access(
    channels: ChannelDirectory, channel_id: str, ending: asyncio.Event
) -> ChannelAccess:
    """Ask at the rate that Slack allows, and again if Slack only said "later"."""
    access = ChannelAccess.UNKNOWN
    for _ in range(ATTEMPTS):
        with suppress(TimeoutError):
            async with asyncio.timeout(channels.wait(channel_id)):
                await ending.wait()
        if ending.is_set():
            break
        access = await channels.access(channel_id)
        if access is not ChannelAccess.UNKNOWN:
            break
    return access
