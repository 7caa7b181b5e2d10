"""Titles and addresses of pull requests to show."""

from collections.abc import Collection, Mapping

from bot.domain.event_records import PullRequestRecord, alike
from bot.domain.repository import RepositoryName
from bot.store.transactions import Transaction


def linked_pull_requests(
    transaction: Transaction, repository: RepositoryName, numbers: Collection[int]
) -> Mapping[int, PullRequestRecord]:
    """Pull requests never seen in the queue, as after an outage, have only an address.

    The service sends titles of queued pull requests only.
    """
    seen = transaction.pull_requests.get(repository, numbers)
    unseen = set(numbers).difference(seen)
    known = transaction.pull_requests.last_seen(repository) if unseen else None
    if known is None:
        return seen
    found = {number: alike(known, repository, number) for number in unseen}
    return {**seen, **{number: one for number, one in found.items() if one is not None}}
