"""Delete what has been told long ago."""

from dataclasses import dataclass
from datetime import timedelta

from bot.ports import Clock, Store


@dataclass(frozen=True, slots=True)
class PruneHistory:
    """In slices, each in its own short transaction. The audit is kept for ever."""

    store: Store
    clock: Clock
    retention: timedelta

    async def run(self) -> None:
        """Raises StoreError."""
        before = self.clock.now() - self.retention
        more = True
        while more:
            async with self.store.begin() as transaction:
                deleted = (
                    await transaction.outbox.delete_settled_before(before),
                    await transaction.events.delete_before(before),
                    await transaction.pull_requests.delete_before(before),
                    await transaction.cards.delete_before(before),
                    await transaction.pauses.delete_before(before),
                    await transaction.group_acts.delete_before(before),
                    await transaction.stays.delete_before(before),
                    await transaction.bisections.delete_before(before),
                    await transaction.boards.delete_before(before),
                    await transaction.stalenesses.delete_before(before),
                    await transaction.queue_health.delete_before(before),
                    await transaction.timers.delete_before(before),
                    await transaction.reminders.delete_ended(),
                )
            more = any(deleted)
