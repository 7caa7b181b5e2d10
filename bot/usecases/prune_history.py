"""Delete old deliveries and events."""

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta

from bot.ports import Clock
from bot.store.transactions import Store


@dataclass(frozen=True, slots=True)
class PruneHistory:
    """Deletes in slices, each in its own short transaction.

    In the audit it deletes only refusals: acts are kept forever.
    """

    store: Store
    clock: Clock
    retention: timedelta
    ending: asyncio.Event = field(default_factory=asyncio.Event)

    def begin_no_more(self) -> None:
        """Stop after the current slice, because the process is about to end."""
        self.ending.set()

    async def run(self) -> None:
        """Delete; raises StoreError."""
        now = self.clock.now()
        more = True
        while more and not self.ending.is_set():
            deleted = await self.store.run(
                lambda transaction: transaction.prune(now - self.retention, now)
            )
            more = any(deleted.values())
