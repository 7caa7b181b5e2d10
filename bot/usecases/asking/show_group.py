"""Read all queues of a group, some at a time."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from bot.domain.errors import MergeQueueError
from bot.domain.groups import Group
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import Snapshot
from bot.usecases.asking.show_status import ShowStatus

CONCURRENCY = 4
"""Queues read at a time, two requests each: as many requests as the service's client lets be in
flight, so that other people's requests wait for no more than these."""


PAGE = 50
"""Queues read for one answer about a large group."""


@dataclass(frozen=True, slots=True)
class GroupPage:
    """Some of a group's current queues, from index `first` of `total`.

    `paused_elsewhere`: how many of the others are paused, as far as the bot knows.
    """

    read: Sequence[Snapshot | RepositoryName]
    first: int
    total: int
    paused_elsewhere: int


@dataclass(frozen=True, slots=True)
class ShowGroup:
    """Reads the queues; one that can't be read is named and doesn't stop the others."""

    show_status: ShowStatus

    async def run(self, group: Group) -> Sequence[Snapshot | RepositoryName]:
        """All queues, in the group's order."""
        return await self._read(group.repositories)

    async def page(self, group: Group, first: int = 0) -> GroupPage:
        """The queues from index `first` on, with those known as paused before all others.

        Raises StoreUnavailable.
        """
        in_force = await self.show_status.store.read(
            lambda transaction: transaction.pauses.open(group.repositories)
        )
        paused = {one.repository for one in in_force}
        ordered = sorted(group.repositories, key=lambda name: name not in paused)
        first = first if 0 <= first < len(ordered) else 0
        asked = ordered[first : first + PAGE]
        read = await self._read(asked)
        return GroupPage(read, first, len(ordered), len(paused.difference(asked)))

    async def _read(
        self, repositories: Sequence[RepositoryName]
    ) -> Sequence[Snapshot | RepositoryName]:
        concurrency = asyncio.Semaphore(CONCURRENCY)

        async def read(repository: RepositoryName) -> Snapshot | RepositoryName:
            async with concurrency:
                try:
                    return await self.show_status.run(repository)
                except MergeQueueError:
                    return repository

        return await asyncio.gather(*(read(name) for name in repositories))
