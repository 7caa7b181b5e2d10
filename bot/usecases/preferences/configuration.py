"""What people and the configuration say of logins; what a start takes from the configuration."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.domain.notices import Notice
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import Subscription
from bot.store.transactions import Transaction
from bot.usecases.posting.boards import end_board


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
    """What waits for a digest or a suspended channel is not told when its subscription is gone."""
    for one in transaction.subscriptions.replace_configured(subscriptions):
        heard = transaction.subscriptions.of_channel(one.channel_id)
        if all(other.repository != one.repository for other in heard):
            transaction.outbox.drop_unheard(one.channel_id, one.repository, now)


def end_stray_boards(
    transaction: Transaction, now: datetime, repositories: Collection[RepositoryName]
) -> None:
    """Nobody reads their queues: they say so instead of what was true once."""
    for board in transaction.boards.strays(repositories):
        end_board(transaction, board, now)


@dataclass(frozen=True, slots=True)
class Linked:
    """What came of a link. `holders` are the other people who have the login: nothing changed.

    `is_first`: from now on the person is notified of failures, which they never chose before.
    """

    holders: Sequence[str] = ()
    is_first: bool = False


def link_account(transaction: Transaction, user_id: str, login: str, now: datetime) -> Linked:
    """Connect a person with their login of the code host, on their own word.

    Nothing is allowed by a link: it only says whose pull requests are whose.
    """
    if not transaction.accounts.link(user_id, login, now):
        return Linked(transaction.accounts.people([login])[login])
    if Notice.FAILURE in transaction.notices.chosen([user_id]).get(user_id, {}):
        return Linked()
    transaction.notices.choose(user_id, {Notice.FAILURE: True})
    return Linked(is_first=True)


def unlink_account(transaction: Transaction, user_id: str) -> bool:
    """Whether there was a link."""
    return transaction.accounts.unlink(user_id)
