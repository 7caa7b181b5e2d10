"""Logins from people and from the configuration, and what the configuration sets at start-up."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.domain.notices import Notice
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import Subscription
from bot.store.transactions import Transaction
from bot.usecases.posting.boards import end_board


def take_logins(transaction: Transaction, logins: Sequence[tuple[str, str]]) -> None:
    """Link people as configured; their own links stay unless the login is another person's."""
    transaction.accounts.assign(dict(logins))


def take_configuration(
    transaction: Transaction, now: datetime, subscriptions: Sequence[Subscription]
) -> None:
    """Replace configured subscriptions; drop waiting deliveries of those that are gone."""
    for one in transaction.subscriptions.replace_configured(subscriptions):
        subscriptions_here = transaction.subscriptions.of_channel(one.channel_id)
        if all(other.repository != one.repository for other in subscriptions_here):
            transaction.outbox.drop_unsubscribed(one.channel_id, one.repository, now)


def end_unmanaged_boards(
    transaction: Transaction, now: datetime, repositories: Collection[RepositoryName]
) -> None:
    """End boards whose queue is no longer read, so that they don't show outdated data."""
    for board in transaction.boards.unmanaged(repositories):
        end_board(transaction, board, now)


@dataclass(frozen=True, slots=True)
class Linked:
    """The result of a link. `holders` are other people with that login: nothing changed.

    `is_assigned`: the settings give the login to another person: nothing changed.
    `is_first`: the person now gets failure notifications, about which they had not decided before.
    """

    holders: Sequence[str] = ()
    is_assigned: bool = False
    is_first: bool = False


def link_account(
    transaction: Transaction, user_id: str, login: str, owner: str | None, now: datetime
) -> Linked:
    """Link a person to a login at the code host, as they claim.

    The link says whose pull requests are whose: a person may remove their own from a queue.
    `owner`: the person to whom the settings assign the login.
    """
    if owner not in {None, user_id}:
        return Linked(is_assigned=True)
    if not transaction.accounts.link(user_id, login, now):
        return Linked(transaction.accounts.people([login])[login])
    if Notice.FAILURE in transaction.notices.chosen([user_id]).get(user_id, {}):
        return Linked()
    transaction.notices.choose(user_id, {Notice.FAILURE: True})
    return Linked(is_first=True)


def unlink_account(transaction: Transaction, user_id: str, now: datetime) -> bool:
    """Remove the link; return whether there was one."""
    return transaction.accounts.unlink(user_id, now)
