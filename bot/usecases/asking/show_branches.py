"""Read which base branches had queue activity lately."""

from dataclasses import dataclass
from datetime import timedelta

from bot.domain.branches import Branches
from bot.domain.errors import about
from bot.domain.event_log import window_back
from bot.domain.repository import RepositoryName
from bot.ports import Clock, MergeQueue
from bot.store.transactions import Store
from bot.usecases.newest_known import newest_known


@dataclass(frozen=True, slots=True)
class ShowBranches:
    """Answers `branches`."""

    merge_queue: MergeQueue
    store: Store
    clock: Clock

    async def run(self, repository: RepositoryName, since: timedelta) -> Branches:
        """Raises MergeQueueError."""
        newest = await newest_known(self.store, self.clock, repository)
        window = window_back(self.clock.now(), newest, since)
        with about(repository):
            names = await self.merge_queue.branches(repository, window)
        return Branches(repository, since, tuple(names))
