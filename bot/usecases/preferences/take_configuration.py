"""Take the subscriptions and logins of the configuration for those of the last start."""

from collections.abc import Sequence
from datetime import datetime

from bot.domain.subscriptions import Subscription
from bot.ports import Store


async def take_logins(store: Store, now: datetime, logins: Sequence[tuple[str, str]]) -> None:
    """Give people the logins that the configuration says, also those that others have taken.

    Raises StoreError.
    """
    if not logins:
        return
    async with store.begin() as transaction:
        holders = await transaction.accounts.people([login for _, login in logins])
        for user_id, login in logins:
            for holder in set(holders.get(login, ())) - {user_id}:
                await transaction.accounts.unlink(holder)
        for user_id, login in logins:
            await transaction.accounts.link(user_id, login, now)


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
