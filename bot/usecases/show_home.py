"""Read all queues for the App Home tab."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from bot.domain.errors import MergeQueueError
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import Snapshot
from bot.usecases.show_status import ShowStatus


@dataclass(frozen=True, slots=True)
class ShowHome:
    """A queue that cannot be read is shown as such; the others are shown all the same."""

    show_status: ShowStatus

    async def run(
        self, repositories: Sequence[RepositoryName]
    ) -> Sequence[Snapshot | RepositoryName]:
        return await asyncio.gather(*(self._read(name) for name in repositories))

    async def _read(self, repository: RepositoryName) -> Snapshot | RepositoryName:
        try:
            return await self.show_status.run(repository)
        except MergeQueueError:
            return repository
