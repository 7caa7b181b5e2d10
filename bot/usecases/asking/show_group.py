"""Read all queues of a group, some at a time."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from bot.domain.errors import MergeQueueError
from bot.domain.groups import Group
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import Snapshot
from bot.usecases.asking.show_status import ShowStatus

AT_ONCE = 4
"""Queues read at a time, two requests each: as many requests as the service's client lets be in
flight, so that other people's requests wait for no more than these."""


@dataclass(frozen=True, slots=True)
class ShowGroup:
    """A queue that cannot be read is named; the others are read all the same."""

    show_status: ShowStatus

    async def run(self, group: Group) -> Sequence[Snapshot | RepositoryName]:
        """In the group's order."""
        gate = asyncio.Semaphore(AT_ONCE)

        async def read(repository: RepositoryName) -> Snapshot | RepositoryName:
            async with gate:
                try:
                    return await self.show_status.run(repository)
                except MergeQueueError:
                    return repository

        return await asyncio.gather(*(read(name) for name in group.repositories))
