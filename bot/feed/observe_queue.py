"""Reads a queue once for all its users: its pause, its boards, alerts about its health."""

import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.boards.board import WhyUnread
from bot.boards.keeping import mark_boards, mark_unread
from bot.channels.rows import Subscriptions
from bot.channels.subscription import Topic, subscribed_channels
from bot.doctor.examining import ExamineQueue
from bot.doctor.texts import Told, cause_of
from bot.feed.observe_pause import ObservePause
from bot.feed.poll import Poll
from bot.feed.poll_state import PollSchedule, QueueState, asked_to_wait, failure, level_of
from bot.feed.polling import queue_due
from bot.health.alert import Alert, AlertRules, changes, readings
from bot.health.rows import Alerts
from bot.kernel.configured import Configured
from bot.kernel.errors import MergeQueueError, MergeQueueRefused
from bot.kernel.repository import RepositoryName
from bot.kernel.tasks import ConcurrencyLimit
from bot.log.preceding import LONGEST_QUEUE_TIME
from bot.log.sources import Sources
from bot.merge_queue.errors import MergeQueueUnavailable, PauseNotOffered
from bot.merge_queue.queue import QueueStatus
from bot.pauses.rows import Pauses
from bot.posts.delivery import Subject, SubjectKind
from bot.posts.enqueueing import enqueue_urgent
from bot.posts.wake import Wake
from bot.queues import reading as queue_reading
from bot.store.coordination import Leases
from bot.store.transaction import Transaction

logger = logging.getLogger(__name__)

EDIT_SPACING = timedelta(seconds=3)
"""The shortest time between edits of boards; all cards may be edited more than twice as often."""


@dataclass(frozen=True, slots=True)
class ObserveQueue:
    """Reads a queue when something needs it, once for all its users."""

    sources: Sources
    wake: Wake
    interval: timedelta
    limit: timedelta  #: how long readings may fail before boards say so
    pause: ObservePause
    examine: ExamineQueue
    configured: Configured
    storing: ConcurrencyLimit  #: the concurrency limit of the polls' transactions
    edit_spacing: timedelta = EDIT_SPACING

    def is_due(self, schedule: PollSchedule) -> bool:
        """Whether something needs the queue now."""
        now = self.sources.clock.now()
        queue = schedule.queue
        if queue.retry_at is not None and now < queue.retry_at:
            return False
        active_at = now
        if schedule.state is not None and schedule.state.active_at is not None:
            active_at = schedule.state.active_at
        return queue_due(
            queue.interest, self.interval, now, read_at=queue.read_at, active_at=active_at
        )

    async def run(self, poll: Poll, schedule: PollSchedule) -> None:
        """Read the queue; retry later on failure. Raises StoreError or LimitClosed."""
        queue = schedule.queue
        began_at = self.sources.clock.now()
        queue.read_at = began_at
        try:
            # If the service doesn't say whether it is paused, only the event log shows it.
            with suppress(PauseNotOffered):
                await self.pause.run(poll, schedule.pause, queue)
            if queue.interest.health:
                await self.observe_health(poll)
            if queue.interest.boards:
                await self._mark_boards(poll, queue)
            if schedule.pause is None:
                # Running batches make the next poll of the log come sooner.
                await poll.status()
        except MergeQueueError as error:
            await self._failed(poll.repository, queue, began_at, error)
        else:
            queue.failures.end()
            queue.retry_at = None

    async def observe_health(self, poll: Poll) -> None:
        """Compare a queue with its thresholds; one transaction stores alerts with deliveries.

        Raises MergeQueueError, StoreError or LimitClosed.
        """
        repository = poll.repository
        status = await poll.status()
        rules = self.configured.policies.of(repository).rules(AlertRules)
        async with self.storing.slot():
            changed = await self.sources.store.run(
                _change, rules, repository, status, self.sources.clock.now()
            )
        if not changed:
            return
        # Only the service may know a pause made elsewhere a moment ago.
        begins = any(alert.ended_at is None for alert in changed)
        if begins and await poll.pause() is not None:
            return
        cause = await self._cause(poll, status) if begins else None
        async with self.storing.slot():
            await self.sources.store.run(
                _store_alerts, rules, poll, status, cause, self.sources.clock.now()
            )
        self.wake()

    async def _cause(self, poll: Poll, status: QueueStatus) -> Told | None:
        """Why nothing merges, for the alerts that begin; None if nobody can tell.

        Raises MergeQueueError, StoreError or LimitClosed.
        """
        snapshot = await queue_reading.complete(poll.repository, status, poll.pause, self.sources)
        return cause_of(await self.examine.of(snapshot))

    async def _mark_boards(self, poll: Poll, state: QueueState) -> None:
        status = await poll.status()
        snapshot = await queue_reading.complete(poll.repository, status, poll.pause, self.sources)
        state.answered_at = snapshot.read_at
        now = self.sources.clock.now()
        later = max(now, state.edit_at or now)
        async with self.storing.slot():
            changed = await self.sources.store.run(mark_boards, snapshot, now, later)
        if changed:
            state.edit_at = later + state.interest.boards * self.edit_spacing
            self.wake()

    async def _failed(
        self, name: RepositoryName, state: QueueState, began_at: datetime, error: MergeQueueError
    ) -> None:
        wait = state.failures.add(began_at, hint=asked_to_wait(error))
        now = self.sources.clock.now()
        state.read_at = None
        state.retry_at = now + max(self.interval, wait)
        if state.failures.count == 1:
            extra = failure("queue_not_read", name, error)
            logger.log(level_of(error), "queue not read", extra=extra)
        failing_for = now - (state.failures.since or now)
        if not state.interest.boards or failing_for <= self.limit:
            return
        why = _why_unread(error)
        async with self.storing.slot():
            changed = await self.sources.store.run(mark_unread, name, why, state.answered_at, now)
        if changed:
            self.wake()


def _why_unread(error: MergeQueueError) -> WhyUnread:
    if isinstance(error, MergeQueueUnavailable):
        return WhyUnread.SILENT
    if isinstance(error, MergeQueueRefused):
        return WhyUnread.REFUSED
    return WhyUnread.UNREADABLE


def _store_alerts(  # a transaction body takes what was read before
    transaction: Transaction,
    rules: AlertRules,
    poll: Poll,
    status: QueueStatus,
    cause: Told | None,
    now: datetime,
) -> None:
    Leases(transaction).require(poll.lease, now)
    alerts = Alerts(transaction)
    for alert in _change(transaction, rules, poll.repository, status, now):
        if alert.ended_at is None:
            begun = replace(alert, mention=rules.mention)
            if cause is not None:
                begun = replace(begun, cause=cause.cause, evidence=" ".join(cause.evidence))
            alert_id = alerts.begin(begun)
            if alert_id is not None:
                _notify(transaction, SubjectKind.ALERT, replace(begun, alert_id=alert_id), now)
        elif alerts.end(alert.alert_id, now) and alert.kind in rules.thresholds:
            _notify(transaction, SubjectKind.ALERT_OVER, alert, now)


def _change(
    transaction: Transaction,
    rules: AlertRules,
    repository: RepositoryName,
    status: QueueStatus,
    now: datetime,
) -> Sequence[Alert]:
    """The alerts that begin and end with this status."""
    alerts = Alerts(transaction)
    pauses = Pauses(transaction).of(repository, now - LONGEST_QUEUE_TIME)
    is_paused = bool(status.paused) or any(pause.is_open for pause in pauses)
    measured = readings(status, alerts.streak(repository), pauses, now)
    active = alerts.active(repository)
    return changes(measured, active, rules.thresholds, repository, now, is_paused=is_paused)


def _notify(transaction: Transaction, kind: SubjectKind, alert: Alert, now: datetime) -> None:
    subscriptions = Subscriptions(transaction).of_repository(alert.repository)
    channels = subscribed_channels(subscriptions, Topic.HEALTH)
    subject = Subject(kind, alert.repository, alert.alert_id)
    identity = f"{alert.kind} {alert.began_at.isoformat()}"
    enqueue_urgent(transaction, subject, channels, now, identity=identity)
