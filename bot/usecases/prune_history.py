"""Delete what has been told long ago."""

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta

from bot.ports import Clock
from bot.store.transactions import Store


@dataclass(frozen=True, slots=True)
class PruneHistory:
    """In slices, each in its own short transaction.

    Of the audit only refusals are deleted: acts are kept for ever.
    """

    store: Store
    clock: Clock
    retention: timedelta
    ending: asyncio.Event = field(default_factory=asyncio.Event)

    def begin_no_more(self) -> None:
        """The process is about to end: the slice that is being deleted is the last."""
        self.ending.set()

    async def run(self) -> None:
        """Raises StoreError."""
        now = self.clock.now()
        more = True
        while more and not self.ending.is_set():
            deleted = await self.store.run(
                lambda transaction: transaction.prune(now - self.retention, now)
            )
            more = any(deleted.values())
