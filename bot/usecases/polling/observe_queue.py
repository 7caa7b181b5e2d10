"""Reads a queue once for all its users: its pause, its boards, alerts about its health."""

import logging
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.errors import (
    MergeQueueError,
    MergeQueueRefused,
    MergeQueueUnavailable,
    PauseNotOffered,
    about,
)
from bot.domain.outages import OutageCause
from bot.domain.polling import queue_due
from bot.domain.repository import RepositoryName
from bot.ports import Clock, Wake
from bot.store.transactions import Store
from bot.usecases.asking import queues
from bot.usecases.asking.sources import Sources
from bot.usecases.polling.observe_health import ObserveHealth
from bot.usecases.polling.observe_pause import ObservePause
from bot.usecases.polling.poll_state import Poll, PollSchedule
from bot.usecases.polling.queue_reading import QueueState
from bot.usecases.posting.boards import mark_boards, mark_outage
from bot.usecases.tasks import ConcurrencyLimit

logger = logging.getLogger(__name__)

EDIT_SPACING = timedelta(seconds=3)
"""The shortest time between edits of boards; all cards may be edited more than twice as often."""


@dataclass(frozen=True, slots=True)
class ObserveQueue:
    """Reads a queue when something needs it, once for all its users.

    `limit`: how long readings may fail before boards say so. `storing`: the polls' concurrency
    limit.
    """

    store: Store
    clock: Clock
    wake: Wake
    sources: Sources
    interval: timedelta
    limit: timedelta
    pause: ObservePause
    health: ObserveHealth
    storing: ConcurrencyLimit

    def is_due(self, schedule: PollSchedule) -> bool:
        """Whether something needs the queue now."""
        now, queue = self.clock.now(), schedule.queue
        if queue.retry_at is not None and now < queue.retry_at:
            return False
        active_at = schedule.state.active_at if schedule.state is not None else None
        return queue_due(
            queue.interest, self.interval, now, read_at=queue.read_at, active_at=active_at or now
        )

    async def run(self, poll: Poll, schedule: PollSchedule) -> None:
        """Read the queue; retry later on failure. Raises StoreError or LimitClosed."""
        queue = schedule.queue
        begun_at = queue.read_at = self.clock.now()
        try:
            with about(poll.repository):
                await self._observe(poll, schedule)
        except MergeQueueError as error:
            await self._failed(poll.repository, queue, begun_at, error)
        else:
            queue.failures.end()
            queue.failing_since = queue.retry_at = None

    async def _observe(self, poll: Poll, schedule: PollSchedule) -> None:
        interest = schedule.queue.interest
        # If the service doesn't say whether it is paused, only the event log shows it.
        with suppress(PauseNotOffered):
            await self.pause.run(poll, schedule.pause, schedule.queue)
        if interest.health:
            await self.health.run(poll)
        if interest.boards:
            await self._mark_boards(poll, schedule.queue)
        if schedule.pause is None:
            # Running batches make the next poll of the log come sooner.
            await poll.queue.status()

    async def _mark_boards(self, poll: Poll, state: QueueState) -> None:
        status = await poll.queue.status()
        snapshot = await queues.complete(poll.repository, status, poll.queue.pause, self.sources)
        state.answered_at = snapshot.read_at
        now = self.clock.now()
        later = max(now, state.edit_at or now)
        async with self.storing.slot():
            changed = await self.store.run(mark_boards, snapshot, now, later)
        if changed:
            state.edit_at = later + state.interest.boards * EDIT_SPACING
            self.wake()

    async def _failed(
        self, name: RepositoryName, state: QueueState, begun_at: datetime, error: MergeQueueError
    ) -> None:
        since = state.failing_since = state.failing_since or begun_at
        hint = error.retry_after if isinstance(error, MergeQueueUnavailable) else None
        wait = state.failures.add(hint=hint)
        now = self.clock.now()
        state.read_at, state.retry_at = None, now + max(self.interval, wait)
        if state.failures.count == 1:
            logger.warning(
                "queue not read",
                extra={
                    "action": "queue_not_read",
                    "repository": name,
                    "error": type(error).__name__,
                    "detail": str(error),
                },
            )
        if not state.interest.boards or now - since <= self.limit:
            return
        cause = _cause_of(error)
        async with self.storing.slot():
            changed = await self.store.run(mark_outage, name, cause, state.answered_at, now)
        if changed:
            self.wake()


def _cause_of(error: MergeQueueError) -> OutageCause:
    if isinstance(error, MergeQueueUnavailable):
        return OutageCause.SILENT
    return OutageCause.REFUSED if isinstance(error, MergeQueueRefused) else OutageCause.UNREADABLE
