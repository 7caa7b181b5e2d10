"""Take the subscriptions of the configuration for those of the last start."""

from collections.abc import Sequence
from datetime import datetime

from bot.domain.subscriptions import Subscription
from bot.ports import Store


async def take_configuration(
    store: Store, now: datetime, subscriptions: Sequence[Subscription]
) -> None:
    """What waits for a digest or a parked channel is not told when its subscription is gone.

    Raises StoreError.
    """
    async with store.begin() as transaction:
        gone = await transaction.subscriptions.replace_configured(subscriptions)
        for one in gone:
            heard = await transaction.subscriptions.of_channel(one.channel_id)
            if all(other.repository != one.repository for other in heard):
                await transaction.outbox.drop_unheard(one.channel_id, one.repository, now)
