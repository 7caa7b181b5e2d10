"""Scheduled freezes: read them from the event log, and store them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.domain.event_log import LONGEST_LOOKBACK, window_back
from bot.domain.event_records import EventRecord
from bot.domain.freezes import FREEZE_TYPES, Freeze, freezes_after
from bot.domain.repository import RepositoryName
from bot.ports import MergeQueue
from bot.store.transactions import Transaction

PAGES = 3
"""Of a hundred events each; a repository has few freezes."""


@dataclass(frozen=True, slots=True)
class FreezeLog:
    """What the event log tells of freezes since a time."""

    since: datetime
    events: Sequence[EventRecord]

    def freezes(self, stored: Sequence[Freeze]) -> list[Freeze]:
        """The known freezes; of the `stored` ones, those that are too old for this log count."""
        return freezes_after([one for one in stored if one.set_at < self.since], self.events)


async def read_freezes(
    merge_queue: MergeQueue, repository: RepositoryName, now: datetime
) -> FreezeLog:
    """Read as far back as the service allows; raises MergeQueueError."""
    window = window_back(now, now, LONGEST_LOOKBACK)
    events: list[EventRecord] = []
    cursor: str | None = None
    for _ in range(PAGES):
        page = await merge_queue.event_page(repository, window, types=FREEZE_TYPES, cursor=cursor)
        events += page.events
        cursor = page.next_cursor
        if cursor is None:
            return FreezeLog(window.received_from, events)
    since = min((event.received_at for event in events), default=window.received_from)
    return FreezeLog(since, events)


def store_freezes(transaction: Transaction, repository: RepositoryName, log: FreezeLog) -> None:
    """Make the stored freezes those that the log tells of."""
    stored = transaction.freezes.of([repository])
    known = log.freezes(stored)
    for one in stored:
        if one.event_id not in {other.event_id for other in known}:
            transaction.freezes.remove(one)
    for one in known:
        transaction.freezes.add(one)
