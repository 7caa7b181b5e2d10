"""A week's figures, posted on Monday at 09:00 to the channels subscribed to `weekly`."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.channels.rows import Subscriptions
from bot.channels.subscription import Subscription, Topic
from bot.freezes.freeze import Freeze
from bot.freezes.rows import Freezes
from bot.kernel.clock import Clock
from bot.kernel.configured import Configured
from bot.kernel.repository import RepositoryName
from bot.log.rows import Events, Positions
from bot.merge_queue.event_records import EventRecord, in_order
from bot.merge_queue.event_types import CHECKS_END, LEAVE, MERGED
from bot.pauses.pause import PauseRecord
from bot.pauses.rows import Pauses
from bot.posts.delivery import NewDelivery, Subject, SubjectKind, delivery_id
from bot.posts.outbox import Outbox
from bot.posts.wake import Wake
from bot.questions import statistics as question_statistics
from bot.questions.week import WeekComparison, compare_weeks
from bot.removals.removed_here import preceding_events
from bot.store.transaction import Transaction
from bot.store.transactions import Store

LATE = timedelta(hours=12)
"""After an outage that lasted longer the week has no post."""

MOST_STORED = 10_000
"""The most events of each type of stored weeks; of more, only the latest count."""


def weekly_statistics(
    transaction: Transaction, repository: RepositoryName, end: datetime
) -> WeekComparison:
    """The week that ended then and the one before, from the events stored for the subscription.

    They are known in full if an older leave is stored, else from the oldest event on: retention, or
    a new subscription, limits them. Of more than MOST_STORED of a type, the latest count.
    """
    since = end - 2 * question_statistics.WEEK
    events = Events(transaction)
    stored = {
        type_: events.between(repository, type_, since, end, MOST_STORED)
        for type_ in (LEAVE, MERGED, CHECKS_END)
    }
    longest = since - 2 * question_statistics.WEEK
    is_older_known = bool(events.between(repository, LEAVE, longest, since, 1))
    oldest = [newest_first[-1].received_at for newest_first in stored.values() if newest_first]
    known_since = since
    if not is_older_known:
        known_since = min(oldest, default=end - question_statistics.WEEK)
    cut = [
        newest_first[-1].received_at
        for newest_first in stored.values()
        if len(newest_first) >= MOST_STORED
    ]
    known_since = max([known_since, *cut])
    leaves = _oldest_first(end, stored[LEAVE])
    around = preceding_events(transaction, repository, leaves)
    others = [*_oldest_first(end, stored[MERGED]), *_oldest_first(end, stored[CHECKS_END])]
    records = {record.event_id: record for record in (*around, *others, *leaves)}
    pauses, freezes = pauses_and_freezes(transaction, repository, since)
    removals = question_statistics.compare(
        repository,
        records.values(),
        pauses,
        freezes,
        asked=question_statistics.WEEK,
        end=end,
        known_since=known_since,
    )
    return compare_weeks(removals, in_order([*records.values()]))


def _oldest_first(end: datetime, newest_first: Sequence[EventRecord]) -> Sequence[EventRecord]:
    """Those before `end`."""
    return [record for record in reversed(newest_first) if record.received_at < end]


def pauses_and_freezes(
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
        new = await self.store.read(self._due)
        added = await self.store.run(lambda tx: Outbox(tx).add(new)) if new else 0
        if added:
            self.wake()

    def _due(self, transaction: Transaction) -> list[NewDelivery]:
        names = set(self.configured.repositories.names)
        found = Subscriptions(transaction).of_topic(Topic.WEEKLY)
        followed = [subscription for subscription in found if subscription.repository in names]
        polls = Positions(transaction).polls([each.repository for each in followed])
        now = self.clock.now()
        due = [
            _delivery(subscription, polls[subscription.repository].polled_at, now)
            for subscription in followed
            if subscription.repository in polls
        ]
        return [delivery for delivery in due if delivery is not None]


def _delivery(
    subscription: Subscription, read_until: datetime, now: datetime
) -> NewDelivery | None:
    """The week's delivery, once the log is read to its end.

    None before that, long after its time, and if subscribed since.
    """
    monday = question_statistics.last_monday(question_statistics.zone_of(subscription), now)
    due_at = question_statistics.weekly_at(monday, question_statistics.zone_of(subscription))
    is_older = subscription.created_at is None or subscription.created_at < due_at
    if not is_older or read_until < due_at or now - due_at >= LATE:
        return None
    subject = Subject(SubjectKind.WEEKLY, subscription.repository, monday.toordinal())
    identity = delivery_id(subscription.channel_id, subject, monday.isoformat())
    return NewDelivery(identity, subscription.channel_id, subject, due_at)
