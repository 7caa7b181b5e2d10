"""Read the live queue, its pause, and who paused it."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.domain.errors import MergeQueueError, PauseNotOffered, about
from bot.domain.event_log import LONGEST_LOOKBACK, window_back
from bot.domain.event_records import EventRecord, FreezeAttributes
from bot.domain.freezes import FREEZE_TYPES, freezes_told, in_force
from bot.domain.queue import Pause, QueueStatus
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import Snapshot
from bot.ports import Clock, MergeQueue
from bot.store.transactions import Store
from bot.usecases.pausing.pause_history import know_pause

logger = logging.getLogger(__name__)

FREEZE_PAGES = 3
"""Of a hundred events each; a repository has few freezes."""


@dataclass(frozen=True, slots=True)
class ShowStatus:
    """Answers `status`."""

    merge_queue: MergeQueue
    store: Store
    clock: Clock
    freezes_kept: timedelta = timedelta()
    """How long known freezes count as current where queues are read often."""

    freezes: dict[RepositoryName, tuple[datetime, tuple[FreezeAttributes, ...]]] = field(
        default_factory=dict
    )

    async def run(self, repository: RepositoryName, branch: str | None = None) -> Snapshot:
        """Raises MergeQueueError: an unreadable queue never looks empty."""
        with about(repository):
            status, (pause, is_known), freezes = await asyncio.gather(
                self.merge_queue.status(repository, branch),
                self._pause(repository, lambda: self.merge_queue.current_pause(repository)),
                self._freezes(repository),
            )
        return await self._snapshot(repository, status, pause, freezes, branch, is_known=is_known)

    async def complete(
        self,
        repository: RepositoryName,
        status: QueueStatus,
        read_pause: Callable[[], Awaitable[Pause | None]],
    ) -> Snapshot:
        """The snapshot for a status that has been read. Raises MergeQueueError."""
        with about(repository):
            pause, is_known = await self._pause(repository, read_pause)
        freezes = await self._freezes(repository)
        return await self._snapshot(repository, status, pause, freezes, None, is_known=is_known)

    async def _snapshot(
        self,
        repository: RepositoryName,
        status: QueueStatus,
        pause: Pause | None,
        freezes: Sequence[FreezeAttributes],
        branch: str | None,
        *,
        is_known: bool,
    ) -> Snapshot:
        known = await know_pause(self.store, repository, pause) if pause is not None else None
        now = self.clock.now()
        frozen = tuple(one for one in freezes if in_force(one, now))
        return Snapshot(repository, status, known, now, branch, is_known, frozen)

    async def _freezes(self, repository: RepositoryName) -> tuple[FreezeAttributes, ...]:
        """The freezes in the event log; an unreadable log doesn't hide the queue."""
        now = self.clock.now()
        read_at, known = self.freezes.get(repository, (None, ()))
        if read_at is not None and abs(now - read_at) < self.freezes_kept:
            return known
        window = window_back(now, now, LONGEST_LOOKBACK)
        events: list[EventRecord] = []
        cursor: str | None = None
        try:
            for _ in range(FREEZE_PAGES):
                page = await self.merge_queue.event_page(
                    repository, window, types=FREEZE_TYPES, cursor=cursor
                )
                events += page.events
                cursor = page.next_cursor
                if cursor is None:
                    break
        except MergeQueueError as error:
            logger.info(
                "freezes not read",
                extra={
                    "action": "freezes_not_read",
                    "repository": repository,
                    "error": type(error).__name__,
                },
            )
            return known
        known = freezes_told(events)
        self.freezes[repository] = (now, known)
        return known

    async def _pause(
        self, repository: RepositoryName, read: Callable[[], Awaitable[Pause | None]]
    ) -> tuple[Pause | None, bool]:
        """The pause, and whether None means that there is none."""
        try:
            return await read(), True
        except PauseNotOffered:
            known = await self.store.read(lambda transaction: transaction.pauses.open([repository]))
            for record in known:
                return Pause(reason=record.stored_reason, paused_at=record.paused_at), True
            return None, False
