"""Starts and ends alerts about a queue's health."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from bot.domain.configured import Configured
from bot.domain.deliveries import Subject, SubjectKind
from bot.domain.leases import Lease
from bot.domain.policies import Policy
from bot.domain.preceding_events import LONGEST_QUEUE_TIME
from bot.domain.queue import QueueStatus
from bot.domain.queue_health import Alert, AlertChange, changes, readings
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
    configured: Configured
    storing: ConcurrencyLimit
    forgotten: set[RepositoryName] = field(default_factory=set)

    def is_wanted(self, repository: RepositoryName, subscriptions: Sequence[Subscription]) -> bool:
        return bool(self._policy(repository).thresholds) and _has_subscribers(subscriptions)

    def _policy(self, repository: RepositoryName) -> Policy:
        return self.configured.policies.of(repository)

    async def run(self, poll: Poll) -> None:
        """Check one queue; raises MergeQueueError, StoreError or LimitClosed."""
        repository, status = poll.repository, await poll.queue.status()
        policy = self._policy(repository)
        async with self.storing.slot():
            change = await self.store.run(_change, policy, repository, status, self.clock.now())
        if change.is_none:
            return
        # Only the service may know a pause made elsewhere a moment ago.
        if change.begun and await poll.queue.pause() is not None:
            return
        async with self.storing.slot():
            await self.store.run(_keep, policy, repository, poll.lease, status, self.clock.now())
        self.wake()

    def end_unsubscribed(
        self,
        transaction: Transaction,
        repositories: Collection[RepositoryName],
        subscriptions: Mapping[RepositoryName, Sequence[Subscription]],
        now: datetime,
    ) -> Collection[RepositoryName]:
        """End the alerts of repositories without subscribers, to start over with the next one.

        Return those repositories, for `remember` after the commit.
        """
        unsubscribed = {
            one for one in repositories if not _has_subscribers(subscriptions.get(one, ()))
        }
        new = unsubscribed - self.forgotten
        if new:
            transaction.alerts.forget(new, now)
        return unsubscribed

    def remember(
        self, repositories: Collection[RepositoryName], unsubscribed: Collection[RepositoryName]
    ) -> None:
        """Remember which of these, the `unsubscribed`, need not be ended again."""
        self.forgotten.difference_update(repositories)
        self.forgotten.update(unsubscribed)


def _has_subscribers(subscriptions: Sequence[Subscription]) -> bool:
    return bool(subscribed_channels(subscriptions, Topic.HEALTH))


def _keep(
    transaction: Transaction,
    policy: Policy,
    repository: RepositoryName,
    lease: Lease,
    status: QueueStatus,
    now: datetime,
) -> None:
    transaction.leases.require(lease, now)
    change = _change(transaction, policy, repository, status, now)
    for one in change.dropped:
        transaction.alerts.end(one.alert_id, now)
    for one in change.ended:
        if transaction.alerts.end(one.alert_id, now):
            _notify(transaction, SubjectKind.ALERT_OVER, one, now)
    for begun in change.begun:
        one = replace(begun, mention=policy.alert_mention)
        number = transaction.alerts.begin(one)
        if number is not None:
            _notify(transaction, SubjectKind.ALERT, replace(one, alert_id=number), now)


def _change(
    transaction: Transaction,
    policy: Policy,
    repository: RepositoryName,
    status: QueueStatus,
    now: datetime,
) -> AlertChange:
    kept = transaction.alerts
    pauses = transaction.pauses.of(repository, now - LONGEST_QUEUE_TIME)
    return changes(
        readings(status, kept.streak(repository), pauses, now),
        kept.active(repository),
        policy.thresholds,
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
