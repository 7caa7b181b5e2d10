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
                settled = await transaction.outbox.delete_settled_before(before)
                events = await transaction.events.delete_before(before)
                seen = await transaction.pull_requests.delete_before(before)
                cards = await transaction.cards.delete_before(before)
                pauses = await transaction.pauses.delete_before(before)
                groups = await transaction.group_acts.delete_before(before)
                stays = await transaction.stays.delete_before(before)
                await transaction.bisections.delete_before(before)
                await transaction.boards.delete_before(before)
                await transaction.stalenesses.delete_before(before)
                await transaction.queue_health.delete_before(before)
                timers = await transaction.timers.delete_before(before)
                await transaction.reminders.delete_ended()
            more = any((settled, events, seen, cards, pauses, groups, stays, timers))
