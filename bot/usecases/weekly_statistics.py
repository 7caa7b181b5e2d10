"""A week's removals, posted on Monday at 09:00 to the channels subscribed to `weekly`."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain import statistics
from bot.domain.configured import Configured
from bot.domain.deliveries import NewDelivery, Subject, SubjectKind, delivery_id
from bot.domain.event_records import EventRecord
from bot.domain.event_types import LEAVE
from bot.domain.freezes import Freeze
from bot.domain.pause_records import PauseRecord
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import Subscription, Topic
from bot.ports import Clock, Wake
from bot.store.transactions import Store, Transaction
from bot.usecases.preceding_events import preceding_events

LATE = timedelta(hours=12)
"""After an outage that lasted longer the week has no post."""

MOST_STORED = 10_000
"""The most removals and merges of stored weeks; of more, only the latest count."""


def weekly_statistics(
    transaction: Transaction, repository: RepositoryName, end: datetime
) -> statistics.CheckStatistics:
    """The removals of the week that ended then, from the events stored for the subscription.

    They are known from the oldest stored one on: retention, or a new subscription, limits them.
    """
    since = end - 4 * statistics.WEEK
    leaves = transaction.events.newest(repository, LEAVE, since, MOST_STORED)
    leaves = [one for one in reversed(leaves) if one.received_at < end]
    around = preceding_events(transaction, repository, leaves)
    records: dict[int, EventRecord] = {one.event_id: one for one in (*around, *leaves)}
    pauses, freezes = holds(transaction, repository, end - 2 * statistics.WEEK)
    return statistics.compare(
        repository,
        records.values(),
        pauses,
        freezes,
        asked=statistics.WEEK,
        end=end,
        known_since=leaves[0].received_at if leaves else end - statistics.WEEK,
    )


def holds(
    transaction: Transaction, repository: RepositoryName, since: datetime
) -> tuple[list[PauseRecord], list[Freeze]]:
    """The pauses and freezes that lasted then or later."""
    pauses = transaction.pauses.recent(repository, since)
    return list(pauses), list(transaction.freezes.recent(repository, since))


@dataclass(frozen=True, slots=True)
class PostWeekly:
    """Adds each channel's delivery once: its id is that of the Monday, in any process."""

    store: Store
    clock: Clock
    wake: Wake
    configured: Configured

    async def run(self) -> None:
        """Add what is due. Raises StoreError."""
        found = await self.store.read(lambda tx: tx.subscriptions.of_topic(Topic.WEEKLY))
        names, now = set(self.configured.repositories.names), self.clock.now()
        due = [_delivery(one, now) for one in found if one.repository in names]
        new = [one for one in due if one is not None]
        added = await self.store.run(lambda tx: tx.outbox.add(new)) if new else 0
        if added:
            self.wake()


def _delivery(one: Subscription, now: datetime) -> NewDelivery | None:
    """The week's delivery; None before its time, long after it, and if subscribed since."""
    monday = statistics.last_monday(statistics.zone_of(one), now)
    due_at = statistics.weekly_at(monday, statistics.zone_of(one))
    is_older = one.created_at is None or one.created_at < due_at
    if not is_older or now - due_at >= LATE:
        return None
    subject = Subject(SubjectKind.WEEKLY, one.repository, monday.toordinal())
    identity = delivery_id(one.channel_id, subject, monday.isoformat())
    return NewDelivery(identity, one.channel_id, subject, due_at)
