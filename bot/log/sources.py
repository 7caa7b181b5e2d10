"""Answers to people's questions, from the live queue, the service and the store."""

from collections.abc import Awaitable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

from bot.kernel.clock import Clock
from bot.kernel.errors import MergeQueueError
from bot.kernel.repository import RepositoryName
from bot.log.rows import Positions
from bot.merge_queue.port import MergeQueue
from bot.merge_queue.window import Window, window_back
from bot.store.transactions import Store

T = TypeVar("T")


async def answer_or(otherwise: T, answer: Awaitable[T]) -> T:
    """The service's answer; `otherwise` where it gives none, and the rest is shown all the same."""
    try:
        return await answer
    except MergeQueueError:
        return otherwise


@dataclass(frozen=True, slots=True)
class Sources:
    """The service, the store, and the time."""

    service: MergeQueue
    store: Store
    clock: Clock

    async def newest_known(self, repository: RepositoryName) -> datetime:
        """How far the repository's event log is known to reach, in the service's own clock.

        For a repository whose log was never read, our now.
        """
        watermark = await self.store.read(
            lambda transaction: Positions(transaction).watermark(repository)
        )
        return watermark or self.clock.now()

    async def window(
        self, repository: RepositoryName, since: timedelta, until: timedelta | None = None
    ) -> Window:
        """The window from `since` ago to `until` ago, or to the newest event."""
        newest = await self.newest_known(repository)
        return window_back(self.clock.now(), newest, since, until)
