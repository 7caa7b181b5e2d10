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
class PollRequests:
    """The requests of one poll: each waits for a slot and is counted."""

    merge_queue: MergeQueue
    clock: Clock
    concurrency: ConcurrencyLimit
    due_at: datetime | None = None  #: when the poll was due, None to measure no delay
    metrics: Metrics = UNSCRAPED
    began_at: datetime | None = None  #: when the first of them was sent
    count: int = 0  #: how many were sent, including pages of the log

    @asynccontextmanager
    async def next(self) -> AsyncIterator[MergeQueue]:
        """Wait for a slot, and count a request. Raises LimitClosed."""
        async with self.concurrency.slot():
            self.count += 1
            if self.began_at is None:
                self.began_at = self.clock.now()
                if self.due_at is not None:
                    late = self.began_at - self.due_at
                    self.metrics.poll_lateness.observe(max(0.0, late.total_seconds()))
            yield self.merge_queue


@dataclass(frozen=True, slots=True)
class StatusRead:
    """The status of the queue, as the service answered."""

    status: QueueStatus
    at: datetime


@dataclass(frozen=True, slots=True)
class PauseRead:
    """The pause in force, as the service answered."""

    pause: Pause | None
    at: datetime


@dataclass(slots=True)
class Poll:
    """One running poll of a repository, under the lease of polling."""

    lease: Lease
    state: PollState
    repository: RepositoryName
    requests: PollRequests
    revision: int = 0  #: of the repository, from before the first request
    last_status: StatusRead | None = None  #: None until it is read
    last_pause: PauseRead | None = None  #: None until it is read

    async def status(self) -> QueueStatus:
        """The status. Raises MergeQueueError or LimitClosed."""
        if self.last_status is None or self._is_old(self.last_status.at):
            async with self.requests.next() as service:
                status = await service.status(self.repository)
            self.last_status = StatusRead(status, self._now)
        return self.last_status.status

    async def pause(self) -> Pause | None:
        """The pause in force. Raises MergeQueueError or LimitClosed."""
        if self.last_pause is None or self._is_old(self.last_pause.at):
            async with self.requests.next() as service:
                pause = await service.current_pause(self.repository)
            self.last_pause = PauseRead(pause, self._now)
        return self.last_pause.pause

    async def events(self, window: Window, types: Collection[str]) -> Sequence[EventRecord]:
        """A page of the log for that window. Raises MergeQueueError or LimitClosed."""
        async with self.requests.next() as service:
            return (await service.event_page(self.repository, window, types=types)).events

    async def application(self) -> Application:
        """Whose key the credential is. Raises MergeQueueError or LimitClosed."""
        async with self.requests.next() as service:
            return await service.application(self.repository)

    @property
    def _now(self) -> datetime:
        return self.requests.clock.now()

    def _is_old(self, at: datetime) -> bool:
        return self._now - at > BELIEVED_FOR
