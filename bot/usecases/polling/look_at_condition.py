"""Look at a queue's condition from time to time, and tell of what became bad or good again."""

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bot.domain.alerts import Alert, AlertChange, AlertKind, changes
from bot.domain.deliveries import Subject, SubjectKind
from bot.domain.errors import MergeQueueError
from bot.domain.leases import Lease
from bot.domain.queue import QueueStatus
from bot.domain.queue_condition import readings
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import Subscription, Topic, channels_hearing
from bot.domain.surroundings import LONGEST_STAY
from bot.ports import Clock, MergeQueue, Nudge
from bot.store.transactions import Store, Transaction
from bot.usecases.tasks import Gate
from bot.usecases.tell_urgently import tell_urgently

logger = logging.getLogger(__name__)

LOOK_FLOOR = timedelta(seconds=30)
"""What is measured in minutes is not read more often than this, however short polls are apart."""


@dataclass(frozen=True, slots=True)
class LookAtCondition:
    """Where a channel hears of a queue's condition, one status read an interval; elsewhere nothing.

    The lease of the repository's polls keeps two processes from looking at once; that an alert
    begins or ends is stored in the transaction of its deliveries. `gate`, `storing`: the polls'
    own.
    """

    store: Store
    merge_queue: MergeQueue
    clock: Clock
    nudge: Nudge
    thresholds: Mapping[AlertKind, int]
    interval: timedelta
    gate: Gate
    storing: Gate
    due_at: dict[RepositoryName, datetime] = field(default_factory=dict)
    forgotten: set[RepositoryName] = field(default_factory=set)

    async def run(
        self, repository: RepositoryName, lease: Lease, subscriptions: Sequence[Subscription]
    ) -> None:
        """Raises StoreError or GateClosed; a status that cannot be read is logged, only."""
        now = self.clock.now()
        due_at, wait = self.due_at.get(repository, now), max(self.interval, LOOK_FLOOR)
        # Further off than that it is of a clock that was set back since.
        is_early = now < due_at <= now + wait
        if not self.thresholds or not hears_of_condition(subscriptions) or is_early:
            return
        try:
            async with self.gate.entered():
                status = await self.merge_queue.status(repository)
            await self._compare(repository, lease, status)
        except MergeQueueError as error:
            logger.info(
                "condition of a queue not read",
                extra={
                    "action": "condition_not_read",
                    "repository": repository,
                    "error": type(error).__name__,
                },
            )
        # Not before: a look that was lost with its lease is made again by the next poll.
        self.due_at[repository] = now + wait

    def forget_unheard(
        self,
        transaction: Transaction,
        repositories: Collection[RepositoryName],
        subscriptions: Mapping[RepositoryName, Sequence[Subscription]],
        now: datetime,
    ) -> Collection[RepositoryName]:
        """What nobody hears of any more begins anew when somebody does.

        Return which of the repositories nobody hears of, for `remember` after the commit.
        """
        unheard = {
            one for one in repositories if not hears_of_condition(subscriptions.get(one, ()))
        }
        new = unheard - self.forgotten
        if new:
            transaction.queue_condition.forget(new, now)
        return unheard

    def remember(
        self, repositories: Collection[RepositoryName], unheard: Collection[RepositoryName]
    ) -> None:
        """Of these, `unheard` are forgotten, which need not be done again."""
        self.forgotten.difference_update(repositories)
        self.forgotten.update(unheard)

    async def _compare(self, repository: RepositoryName, lease: Lease, status: QueueStatus) -> None:
        async with self.storing.entered():
            change = await self.store.run(self._change, repository, status, self.clock.now())
        if change.is_none:
            return
        # A pause made elsewhere a moment ago may be known to the service alone.
        if change.begun and await self.merge_queue.current_pause(repository) is not None:
            return
        async with self.storing.entered():
            await self.store.run(self._keep, repository, lease, status, self.clock.now())
        self.nudge()

    def _keep(
        self,
        transaction: Transaction,
        repository: RepositoryName,
        lease: Lease,
        status: QueueStatus,
        now: datetime,
    ) -> None:
        transaction.leases.require(lease, now)
        _apply(transaction, self._change(transaction, repository, status, now), now)

    def _change(
        self,
        transaction: Transaction,
        repository: RepositoryName,
        status: QueueStatus,
        now: datetime,
    ) -> AlertChange:
        kept = transaction.queue_condition
        pauses = transaction.pauses.of(repository, now - LONGEST_STAY)
        return changes(
            readings(status, kept.streak(repository), pauses, now),
            kept.active(repository),
            self.thresholds,
            repository,
            now,
            is_paused=bool(status.paused) or any(one.is_open for one in pauses),
        )


def hears_of_condition(subscriptions: Sequence[Subscription]) -> bool:
    return bool(channels_hearing(subscriptions, Topic.HEALTH))


def _apply(transaction: Transaction, change: AlertChange, now: datetime) -> None:
    for one in change.dropped:
        transaction.queue_condition.end(one.alert_id, now)
    for one in change.ended:
        if transaction.queue_condition.end(one.alert_id, now):
            _tell(transaction, SubjectKind.ALERT_OVER, one, now)
    for one in change.begun:
        number = transaction.queue_condition.begin(one)
        if number is not None:
            _tell(transaction, SubjectKind.ALERT, replace(one, alert_id=number), now)


def _tell(transaction: Transaction, kind: SubjectKind, alert: Alert, now: datetime) -> None:
    subscriptions = transaction.subscriptions.of_repository(alert.repository)
    channels = channels_hearing(subscriptions, Topic.HEALTH)
    subject = Subject(kind, alert.repository, alert.alert_id)
    identity = f"{alert.kind} {alert.began_at.isoformat()}"
    tell_urgently(transaction, subject, channels, now, identity=identity)
