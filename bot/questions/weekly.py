"""A week's removals, posted on Monday at 09:00 to the channels subscribed to `weekly`."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.channels.rows import Subscriptions
from bot.channels.subscription import Subscription, Topic
from bot.freezes.freeze import Freeze
from bot.freezes.rows import Freezes
from bot.kernel.clock import Clock
from bot.kernel.configured import Configured
from bot.kernel.repository import RepositoryName
from bot.log.rows import Events
from bot.merge_queue.event_records import EventRecord
from bot.merge_queue.event_types import LEAVE
from bot.pauses.pause import PauseRecord
from bot.pauses.rows import Pauses
from bot.posts.delivery import NewDelivery, Subject, SubjectKind, delivery_id
from bot.posts.outbox import Outbox
from bot.posts.wake import Wake
from bot.questions import statistics as question_statistics
from bot.removals.removed_here import preceding_events
from bot.store.transaction import Transaction
from bot.store.transactions import Store

LATE = timedelta(hours=12)
"""After an outage that lasted longer the week has no post."""

MOST_STORED = 10_000
"""The most removals and merges of stored weeks; of more, only the latest count."""


def weekly_statistics(
    transaction: Transaction, repository: RepositoryName, end: datetime
) -> question_statistics.CheckStatistics:
    """The removals of the week that ended then, from the events stored for the subscription.

    They are known from the oldest stored one on: retention, or a new subscription, limits them.
    """
    since = end - 4 * question_statistics.WEEK
    leaves = Events(transaction).newest(repository, LEAVE, since, MOST_STORED)
    leaves = [leave for leave in reversed(leaves) if leave.received_at < end]
    around = preceding_events(transaction, repository, leaves)
    records: dict[int, EventRecord] = {leave.event_id: leave for leave in (*around, *leaves)}
    pauses, freezes = holds(transaction, repository, end - 2 * question_statistics.WEEK)
    return question_statistics.compare(
        repository,
        records.values(),
        pauses,
        freezes,
        asked=question_statistics.WEEK,
        end=end,
        known_since=leaves[0].received_at if leaves else end - question_statistics.WEEK,
    )


def holds(
    transaction: Transaction, repository: RepositoryName, since: datetime
) -> tuple[list[PauseRecord], list[Freeze]]:
    """The pauses and freezes that lasted then or later."""
    pauses = Pauses(transaction).recent(repository, since)
    return list(pauses), list(Freezes(transaction).recent(repository, since))


@dataclass(frozen=True, slots=True)
class PostWeekly:
    """Adds each channel's delivery once: its id is that of the Monday, in any process."""

    store: Store
    clock: Clock
    wake: Wake
    configured: Configured

    async def run(self) -> None:
        """Add what is due. Raises StoreError."""
        found = await self.store.read(lambda tx: Subscriptions(tx).of_topic(Topic.WEEKLY))
        names = set(self.configured.repositories.names)
        now = self.clock.now()
        due = [
            _delivery(subscription, now)
            for subscription in found
            if subscription.repository in names
        ]
        new = [delivery for delivery in due if delivery is not None]
        added = await self.store.run(lambda tx: Outbox(tx).add(new)) if new else 0
        if added:
            self.wake()


def _delivery(subscription: Subscription, now: datetime) -> NewDelivery | None:
    """The week's delivery; None before its time, long after it, and if subscribed since."""
    monday = question_statistics.last_monday(question_statistics.zone_of(subscription), now)
    due_at = question_statistics.weekly_at(monday, question_statistics.zone_of(subscription))
    is_older = subscription.created_at is None or subscription.created_at < due_at
    if not is_older or now - due_at >= LATE:
        return None
    subject = Subject(SubjectKind.WEEKLY, subscription.repository, monday.toordinal())
    identity = delivery_id(subscription.channel_id, subject, monday.isoformat())
    return NewDelivery(identity, subscription.channel_id, subject, due_at)
