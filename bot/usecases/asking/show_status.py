"""Read the live queue, its pause, and who paused it."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from bot.domain.errors import MergeQueueError, PauseNotOffered, about
from bot.domain.freezes import Freeze
from bot.domain.queue import Pause, QueueStatus
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import Snapshot
from bot.ports import Clock, MergeQueue
from bot.store.transactions import Store
from bot.usecases.freezes import read_freezes
from bot.usecases.pausing.pause_history import know_pause

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ShowStatus:
    """Answers `status`."""

    merge_queue: MergeQueue
    store: Store
    clock: Clock

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
        """The snapshot for a status that a poll has read, after the log. Raises MergeQueueError."""
        with about(repository):
            pause, is_known = await self._pause(repository, read_pause)
        freezes = await self._stored_freezes(repository)
        return await self._snapshot(repository, status, pause, freezes, None, is_known=is_known)

    async def _snapshot(
        self,
        repository: RepositoryName,
        status: QueueStatus,
        pause: Pause | None,
        freezes: Sequence[Freeze],
        branch: str | None,
        *,
        is_known: bool,
    ) -> Snapshot:
        known = await know_pause(self.store, repository, pause) if pause is not None else None
        now = self.clock.now()
        frozen = tuple(one for one in freezes if one.is_in_force(now))
        return Snapshot(repository, status, known, now, branch, is_known, frozen)

    async def _freezes(self, repository: RepositoryName) -> Sequence[Freeze]:
        """The freezes in the event log as it is now, or the stored ones if it is unreadable."""
        stored = await self._stored_freezes(repository)
        try:
            log = await read_freezes(self.merge_queue, repository, self.clock.now())
        except MergeQueueError as error:
            logger.info(
                "freezes not read",
                extra={
                    "action": "freezes_not_read",
                    "repository": repository,
                    "error": type(error).__name__,
                },
            )
            return stored
        return log.freezes(stored)

    async def _stored_freezes(self, repository: RepositoryName) -> Sequence[Freeze]:
        return await self.store.read(lambda transaction: transaction.freezes.of([repository]))

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
