"""Reads a queue once for all its users: its pause, its boards, alerts about its health."""

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.boards.board import WhyUnread
from bot.boards.keeping import mark_boards, mark_unread
from bot.doctor.diagnosis import QueueCause
from bot.doctor.examining import ExamineQueue
from bot.doctor.texts.causes import cause_of
from bot.feed.observe_pause import ObservePause
from bot.feed.poll import Poll
from bot.feed.poll_state import PollSchedule, QueueAtPoll, asked_to_wait, failure, log_level_of
from bot.feed.polling import queue_due
from bot.health.alert import AlertRules
from bot.health.alerting import measure, store_alerts
from bot.health.cause import CauseWatch
from bot.kernel.configured import Configured
from bot.kernel.errors import MergeQueueError, MergeQueueRefused
from bot.kernel.repository import RepositoryName
from bot.kernel.tasks import ConcurrencyLimit
from bot.log.sources import Sources
from bot.merge_queue.errors import MergeQueueUnavailable, PauseNotOffered
from bot.merge_queue.queue import QueueStatus
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
        if schedule.state is not None and schedule.state.events.pause_wanted:
            return True
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
        is_wanted = poll.state.events.pause_wanted or queue.read_at is None
        queue.read_at = began_at
        try:
            await self._observe_pause(poll, schedule, is_wanted=is_wanted)
            poll.state.events.pause_wanted &= queue.read_at is None
            if queue.interest.health:
                await self.observe_health(poll, queue.watch)
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

    async def _observe_pause(self, poll: Poll, schedule: PollSchedule, *, is_wanted: bool) -> None:
        """`is_wanted`: events may have told of a pause that no reading has shown."""
        try:
            await self.pause.run(poll, schedule.pause, schedule.queue)
        except PauseNotOffered:
            # The service doesn't say whether it is paused: only the event log shows it.
            if is_wanted:
                await self.pause.believe_log(poll)

    async def _is_paused_now(self, poll: Poll) -> bool:
        """Only the service may know a pause made elsewhere a moment ago, where it tells of any."""
        try:
            return await poll.pause() is not None
        except PauseNotOffered:
            return False

    async def observe_health(self, poll: Poll, watch: CauseWatch) -> None:
        """Compare a queue with its thresholds; one transaction stores alerts with deliveries.

        While an alert lasts, or a cause may begin one, the queue is examined from time to time.
        Raises MergeQueueError, StoreError or LimitClosed.
        """
        status = await poll.status()
        rules = self.configured.policies.of(poll.repository).rules(AlertRules)
        now = self.sources.clock.now()
        health = await self.sources.store.read(measure, poll.repository, status, now)
        health.take_over(watch)
        is_examined = health.is_to_examine(rules, watch)
        if is_examined:
            watch.add(await self._cause(poll, status), now)
        changed = health.changes(rules, watch)
        begins = any(alert.ended_at is None for alert in changed)
        if begins and await self._is_paused_now(poll):
            return
        if begins and watch.cause is None:
            cause = watch.found if is_examined else await self._cause(poll, status)
            watch.begin_with(cause, now, now)
        if not changed and health.is_told(watch.cause):
            return
        async with self.storing.slot():
            await self.sources.store.run(
                _store_alerts, rules, poll, status, watch, self.sources.clock.now()
            )
        self.wake()

    async def _cause(self, poll: Poll, status: QueueStatus) -> QueueCause | None:
        """Why nothing merges; None if nobody can tell.

        Raises MergeQueueError, StoreError or LimitClosed.
        """
        snapshot = await queue_reading.complete(poll.repository, status, poll.pause, self.sources)
        return cause_of(await self.examine.of(snapshot))

    async def _mark_boards(self, poll: Poll, state: QueueAtPoll) -> None:
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
        self, name: RepositoryName, state: QueueAtPoll, began_at: datetime, error: MergeQueueError
    ) -> None:
        wait = state.failures.add(began_at, hint=asked_to_wait(error))
        now = self.sources.clock.now()
        state.read_at = None
        state.retry_at = now + max(self.interval, wait)
        if state.failures.count == 1:
            extra = failure("queue_not_read", name, error)
            logger.log(log_level_of(error), "queue not read", extra=extra)
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


def _store_alerts(
    transaction: Transaction,
    rules: AlertRules,
    poll: Poll,
    status: QueueStatus,
    watch: CauseWatch,
    now: datetime,
) -> None:
    Leases(transaction).require(poll.lease, now)
    store_alerts(transaction, rules, measure(transaction, poll.repository, status, now), watch)
