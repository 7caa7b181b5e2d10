"""A week's removals, from the events stored for subscriptions to `weekly`."""

from datetime import datetime

from bot.domain.check_statistics import WEEK, CheckStatistics, compare
from bot.domain.event_records import EventRecord
from bot.domain.event_types import LEAVE
from bot.domain.freezes import Freeze
from bot.domain.pause_records import PauseRecord
from bot.domain.repository import RepositoryName
from bot.store.transactions import Transaction
from bot.usecases.preceding_events import preceding_events

MOST_STORED = 10_000
"""The most removals and merges of stored weeks; of more, only the latest count."""


def weekly_statistics(
    transaction: Transaction, repository: RepositoryName, end: datetime
) -> CheckStatistics:
    """The removals of the week that ended then, from the events stored for the subscription.

    They are known from the oldest stored one on: retention, or a new subscription, limits them.
    """
    since = end - 4 * WEEK
    leaves = transaction.events.newest(repository, LEAVE, since, MOST_STORED)
    leaves = [one for one in reversed(leaves) if one.received_at < end]
    around = preceding_events(transaction, repository, leaves)
    records: dict[int, EventRecord] = {one.event_id: one for one in (*around, *leaves)}
    pauses, freezes = holds(transaction, repository, end - 2 * WEEK)
    return compare(
        repository,
        records.values(),
        pauses,
        freezes,
        asked=WEEK,
        end=end,
        known_since=leaves[0].received_at if leaves else end - WEEK,
    )


def holds(
    transaction: Transaction, repository: RepositoryName, since: datetime
) -> tuple[list[PauseRecord], list[Freeze]]:
    """The pauses and freezes that lasted then or later."""
    pauses = transaction.pauses.recent(repository, since)
    return list(pauses), list(transaction.freezes.recent(repository, since))
