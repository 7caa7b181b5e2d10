"""Posts a week's figures on Monday at 09:00 to the channels subscribed to `weekly`."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from bot.channels.rows import Subscriptions
from bot.channels.subscription import DIGEST_AT, Subscription, Topic
from bot.kernel.clock import Clock
from bot.kernel.configured import Configured
from bot.kernel.cron import UTC_ZONE
from bot.log.rows import Positions
from bot.posts.delivery import NewDelivery, Subject, SubjectKind, delivery_id
from bot.posts.outbox import Outbox
from bot.posts.wake import Wake
from bot.questions.statistics import WEEK
from bot.store.transaction import Transaction
from bot.store.transactions import Store

LATE = timedelta(hours=12)
"""After an outage that lasted longer the week has no post."""


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
    monday = last_monday(zone_of(subscription), now)
    due_at = weekly_at(monday, zone_of(subscription))
    is_older = subscription.created_at is None or subscription.created_at < due_at
    if not is_older or read_until < due_at or now - due_at >= LATE:
        return None
    subject = Subject(SubjectKind.WEEKLY, subscription.repository, monday.toordinal())
    identity = delivery_id(subscription.channel_id, subject, monday.isoformat())
    return NewDelivery(identity, subscription.channel_id, subject, due_at)


def zone_of(subscription: Subscription) -> str:
    """The zone of its weekly post."""
    return subscription.digest.zone if subscription.digest is not None else UTC_ZONE


def last_monday(zone: str, now: datetime) -> date:
    """The latest one of whose 09:00 in that zone is past."""
    local = now.astimezone(ZoneInfo(zone))
    monday = local.date() - timedelta(days=local.weekday())
    return monday if weekly_at(monday, zone) <= now else monday - WEEK


def weekly_at(monday: date, zone: str) -> datetime:
    return datetime.combine(monday, DIGEST_AT, ZoneInfo(zone))
