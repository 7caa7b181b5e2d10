"""Take the subscriptions and logins of the configuration for those of the last start."""

from collections.abc import Sequence
from datetime import datetime

from bot.domain.subscriptions import Subscription
from bot.store.transactions import Transaction


def take_logins(transaction: Transaction, now: datetime, logins: Sequence[tuple[str, str]]) -> None:
    """Give people the logins that the configuration says, also those that others have taken."""
    holders = transaction.accounts.people([login for _, login in logins])
    for user_id, login in logins:
        for holder in set(holders.get(login, ())) - {user_id}:
            transaction.accounts.unlink(holder)
    for user_id, login in logins:
        transaction.accounts.link(user_id, login, now)


def take_configuration(
    transaction: Transaction, now: datetime, subscriptions: Sequence[Subscription]
) -> None:
    """What waits for a digest or a parked channel is not told when its subscription is gone."""
    for one in transaction.subscriptions.replace_configured(subscriptions):
        heard = transaction.subscriptions.of_channel(one.channel_id)
        if all(other.repository != one.repository for other in heard):
            transaction.outbox.drop_unheard(one.channel_id, one.repository, now)
