"""Posts a week's statistics on Monday at 09:00 to the channels subscribed to `weekly`."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from bot.domain.check_statistics import last_monday, weekly_at, zone_of
from bot.domain.configured import Configured
from bot.domain.deliveries import NewDelivery, Subject, SubjectKind, delivery_id
from bot.domain.subscriptions import Subscription, Topic
from bot.ports import Clock, Wake
from bot.store.transactions import Store, Transaction

LATE = timedelta(hours=12)
"""After an outage that lasted longer the week has no post."""


@dataclass(frozen=True, slots=True)
class PostWeekly:
    """Adds each channel's delivery once: its id is that of the Monday, in any process.

    `added`: what this process added or found, so that it isn't tried again all day.
    """

    store: Store
    clock: Clock
    wake: Wake
    configured: Configured
    added: set[NewDelivery] = field(default_factory=set)

    async def run(self) -> None:
        """Add what is due. Raises StoreError."""
        now = self.clock.now()
        found = await self.store.read(lambda tx: tx.subscriptions.of_topic(Topic.WEEKLY))
        names = set(self.configured.repositories.names)
        due = [_delivery(one, now) for one in found if one.repository in names]
        new = [one for one in due if one is not None and one not in self.added]
        if new:
            await self.store.run(_add, new)
            self.added.clear()
            self.added.update(one for one in due if one is not None)
            self.wake()


def _add(transaction: Transaction, new: Sequence[NewDelivery]) -> None:
    transaction.outbox.add(new)


def _delivery(one: Subscription, now: datetime) -> NewDelivery | None:
    """The week's delivery; None before its time, long after it, and if subscribed since."""
    monday = last_monday(zone_of(one), now)
    due_at = weekly_at(monday, zone_of(one))
    is_older = one.created_at is None or one.created_at < due_at
    return _of(one, monday, due_at) if is_older and now - due_at < LATE else None


def _of(one: Subscription, monday: date, due_at: datetime) -> NewDelivery:
    subject = Subject(SubjectKind.WEEKLY, one.repository, monday.toordinal())
    identity = monday.isoformat()
    return NewDelivery(
        delivery_id(one.channel_id, subject, identity), one.channel_id, subject, due_at
    )
