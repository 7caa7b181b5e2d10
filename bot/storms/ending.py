"""Ends storms without a merge: nothing fails any more, or nobody follows their queues."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from bot.kernel.clock import Clock
from bot.kernel.configured import Configured
from bot.kernel.repository import RepositoryName
from bot.posts.live_message import Priority
from bot.posts.live_messages import LiveMessages
from bot.posts.wake import Wake
from bot.store.transaction import Transaction
from bot.store.transactions import Store
from bot.storms.rows import Storms
from bot.storms.storm import FailureStorm, StormEnd
from bot.storms.subject import storm_subject


@dataclass(frozen=True, slots=True)
class EndStorms:
    """Edits the messages of storms that have lapsed, or whose repository was removed."""

    store: Store
    clock: Clock
    wake: Wake
    configured: Configured
    #: until when this process knows a log, in the service's time; None while it doesn't read it
    read_until: Callable[[RepositoryName], datetime | None]

    async def run(self) -> None:
        """Raises StoreError."""
        if await self.store.run(self._end):
            self.wake()

    def _end(self, transaction: Transaction) -> bool:
        is_any_over = False
        for storm in Storms(transaction).lasting():
            after = self._after(storm)
            if after.ended_at is None:
                continue
            Storms(transaction).save(after)
            LiveMessages(transaction).mark(
                storm_subject(after),
                due_at=self.clock.now(),
                closed=True,
                priority=Priority.FAILURE,
            )
            is_any_over = True
        return is_any_over

    def _after(self, storm: FailureStorm) -> FailureStorm:
        if storm.repository not in self.configured.repositories.names:
            return storm.ended(self.clock.now(), StormEnd.UNFOLLOWED)
        until = self.read_until(storm.repository)
        return storm if until is None else storm.after_reading(until)
