"""Read the live queue, its pause, and who paused it."""

import asyncio
from dataclasses import dataclass

from bot.domain.errors import PauseNotOffered, about
from bot.domain.queue import Pause
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import Snapshot
from bot.ports import Clock, MergeQueue, Store
from bot.usecases.pausing.known_pause import know_pause


@dataclass(frozen=True, slots=True)
class ShowStatus:
    """Answers `status`."""

    merge_queue: MergeQueue
    store: Store
    clock: Clock

    async def run(self, repository: RepositoryName, branch: str | None = None) -> Snapshot:
        """Raises MergeQueueError: an unreadable queue is never shown as an empty one."""
        with about(repository):
            status, (pause, is_known) = await asyncio.gather(
                self.merge_queue.status(repository, branch), self._pause(repository)
            )
        known = await know_pause(self.store, repository, pause)
        return Snapshot(repository, status, known, self.clock.now(), branch, is_known)

    async def _pause(self, repository: RepositoryName) -> tuple[Pause | None, bool]:
        """The pause, and whether None means that there is none."""
        try:
            return await self.merge_queue.current_pause(repository), True
        except PauseNotOffered:
            async with self.store.begin() as transaction:
                for told in await transaction.pauses.open([repository]):
                    return Pause(reason=told.stored_reason, paused_at=told.paused_at), True
            return None, False
