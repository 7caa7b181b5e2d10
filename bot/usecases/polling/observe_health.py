"""Starts and ends alerts about a queue's health."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from bot.domain.deliveries import Subject, SubjectKind
from bot.domain.leases import Lease
from bot.domain.preceding_events import LONGEST_STAY
from bot.domain.queue import QueueStatus
from bot.domain.queue_health import Alert, AlertChange, AlertKind, changes, readings
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import Subscription, Topic, subscribed_channels
from bot.ports import Clock, Wake
from bot.store.transactions import Store, Transaction
from bot.usecases.enqueue_urgent import enqueue_urgent
from bot.usecases.polling.poll_state import Poll
from bot.usecases.tasks import ConcurrencyLimit


@dataclass(frozen=True, slots=True)
class ObserveHealth:
    """Compares a queue with the thresholds, if a channel is subscribed to its health.

    One transaction stores an alert's beginning or end with its deliveries.
    `storing`: the concurrency limit of the polls' transactions.
    `forgotten`: repositories whose alerts have ended because no channel is subscribed.
    """

    store: Store
    clock: Clock
    wake: Wake
    thresholds: Mapping[AlertKind, int]
    storing: ConcurrencyLimit
    forgotten: set[RepositoryName] = field(default_factory=set)

    def is_wanted(self, subscriptions: Sequence[Subscription]) -> bool:
        return bool(self.thresholds) and _is_heard(subscriptions)

    async def run(self, poll: Poll) -> None:
        """Check one queue; raises MergeQueueError, StoreError or LimitClosed."""
        repository, status = poll.repository, await poll.queue.status()
        async with self.storing.slot():
            change = await self.store.run(
                _change, self.thresholds, repository, status, self.clock.now()
            )
        if change.is_none:
            return
        # Only the service may know a pause made elsewhere a moment ago.
        if change.begun and await poll.queue.pause() is not None:
            return
        async with self.storing.slot():
            await self.store.run(
                _keep, self.thresholds, repository, poll.lease, status, self.clock.now()
            )
        self.wake()

    def forget_unheard(
        self,
        transaction: Transaction,
        repositories: Collection[RepositoryName],
        subscriptions: Mapping[RepositoryName, Sequence[Subscription]],
        now: datetime,
    ) -> Collection[RepositoryName]:
        """End the alerts of repositories without subscribers, to start over with the next one.

        Return those repositories, for `remember` after the commit.
        """
        unheard = {one for one in repositories if not _is_heard(subscriptions.get(one, ()))}
        new = unheard - self.forgotten
        if new:
            transaction.alerts.forget(new, now)
        return unheard

    def remember(
        self, repositories: Collection[RepositoryName], unheard: Collection[RepositoryName]
    ) -> None:
        """Remember which of these, the `unheard`, need not be ended again."""
        self.forgotten.difference_update(repositories)
        self.forgotten.update(unheard)


def _is_heard(subscriptions: Sequence[Subscription]) -> bool:
    return bool(subscribed_channels(subscriptions, Topic.HEALTH))


def _keep(
    transaction: Transaction,
    thresholds: Mapping[AlertKind, int],
    repository: RepositoryName,
    lease: Lease,
    status: QueueStatus,
    now: datetime,
) -> None:
    transaction.leases.require(lease, now)
    change = _change(transaction, thresholds, repository, status, now)
    for one in change.dropped:
        transaction.alerts.end(one.alert_id, now)
    for one in change.ended:
        if transaction.alerts.end(one.alert_id, now):
            _notify(transaction, SubjectKind.ALERT_OVER, one, now)
    for one in change.begun:
        number = transaction.alerts.begin(one)
        if number is not None:
            _notify(transaction, SubjectKind.ALERT, replace(one, alert_id=number), now)


def _change(
    transaction: Transaction,
    thresholds: Mapping[AlertKind, int],
    repository: RepositoryName,
    status: QueueStatus,
    now: datetime,
) -> AlertChange:
    kept = transaction.alerts
    pauses = transaction.pauses.of(repository, now - LONGEST_STAY)
    return changes(
        readings(status, kept.streak(repository), pauses, now),
        kept.active(repository),
        thresholds,
        repository,
        now,
        is_paused=bool(status.paused) or any(one.is_open for one in pauses),
    )


def _notify(transaction: Transaction, kind: SubjectKind, alert: Alert, now: datetime) -> None:
    subscriptions = transaction.subscriptions.of_repository(alert.repository)
    channels = subscribed_channels(subscriptions, Topic.HEALTH)
    subject = Subject(kind, alert.repository, alert.alert_id)
    identity = f"{alert.kind} {alert.began_at.isoformat()}"
    enqueue_urgent(transaction, subject, channels, now, identity=identity)
