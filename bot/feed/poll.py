"""One poll: it reads its repository's log, and the status and the pause once."""

from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.feed.poll_state import PollState
from bot.kernel.clock import Clock
from bot.kernel.metrics import UNSCRAPED, Metrics
from bot.kernel.repository import RepositoryName
from bot.kernel.tasks import ConcurrencyLimit
from bot.merge_queue.event_records import EventRecord
from bot.merge_queue.port import MergeQueue
from bot.merge_queue.queue import Application, Pause, QueueStatus
from bot.merge_queue.window import Window
from bot.store.lease_values import Lease

BELIEVED_FOR = timedelta(seconds=5)
"""A poll of a long backlog reads the queue again, because more pull requests enter meanwhile."""


@dataclass(slots=True)
class Poll:
    """One running poll of a repository, under the lease of polling."""

    lease: Lease
    state: PollState
    repository: RepositoryName
    merge_queue: MergeQueue
    clock: Clock
    concurrency: ConcurrencyLimit
    revision: int = 0  #: of the repository, from before the first request
    due_at: datetime | None = None  #: when the poll was due, None to measure no delay
    metrics: Metrics = UNSCRAPED
    asked_at: datetime | None = None  #: when the first of them was sent
    requests: int = 0  #: the number of requests in this poll, including pages of the log
    last_status: QueueStatus | None = None
    last_pause: Pause | None = None
    status_at: datetime | None = None
    pause_at: datetime | None = None

    @asynccontextmanager
    async def request(self) -> AsyncIterator[MergeQueue]:
        """Wait for a slot, and count a request. Raises LimitClosed."""
        async with self.concurrency.slot():
            self.requests += 1
            if self.asked_at is None:
                self.asked_at = self.clock.now()
                if self.due_at is not None:
                    late = self.asked_at - self.due_at
                    self.metrics.poll_lateness.observe(max(0.0, late.total_seconds()))
            yield self.merge_queue

    async def status(self) -> QueueStatus:
        """The status. Raises MergeQueueError or LimitClosed."""
        if self.last_status is None or not self._is_fresh(self.status_at):
            async with self.request() as service:
                self.last_status = await service.status(self.repository)
            self.status_at = self.clock.now()
        return self.last_status

    async def pause(self) -> Pause | None:
        """The pause in force. Raises MergeQueueError or LimitClosed."""
        if not self._is_fresh(self.pause_at):
            async with self.request() as service:
                self.last_pause = await service.current_pause(self.repository)
            self.pause_at = self.clock.now()
        return self.last_pause

    async def events(self, window: Window, types: Collection[str]) -> Sequence[EventRecord]:
        """A page of the log for that window. Raises MergeQueueError or LimitClosed."""
        async with self.request() as service:
            return (await service.event_page(self.repository, window, types=types)).events

    async def application(self) -> Application:
        """Whose key the credential is. Raises MergeQueueError or LimitClosed."""
        async with self.request() as service:
            return await service.application(self.repository)

    def _is_fresh(self, at: datetime | None) -> bool:
        return at is not None and self.clock.now() - at <= BELIEVED_FOR
