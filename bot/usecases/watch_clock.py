"""Follow jumps of this process's clock, and warn operators when it is off."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.domain.clock_jumps import ClockJumps
from bot.domain.repository import RepositoryName
from bot.ports import Clock
from bot.store.transactions import Store, Transaction
from bot.usecases.leases import JobLease
from bot.usecases.pausing.timers import move_times

logger = logging.getLogger(__name__)

OFF = timedelta(minutes=1)
"""The largest difference between our clock and the service's without a warning."""


@dataclass(slots=True)
class WatchClock:
    """Keeps a half-hour pause half an hour long when the wall clock jumps.

    Run it before anything that compares times of pauses.
    `lease`: all processes on a machine see the clock jump, and its holder moves the times.
    `first_gap`: the time before the first reminder of a pause.
    `service_ahead`: how far the service's clock is ahead, from the `Date` of its answers.
    """

    store: Store
    clock: Clock
    lease: JobLease
    first_gap: Callable[[RepositoryName], timedelta]
    service_ahead: Callable[[], timedelta | None]
    jumps: ClockJumps = field(default_factory=ClockJumps)
    unstored: list[tuple[datetime, timedelta]] = field(default_factory=list)
    is_off: bool = False

    async def run(self) -> None:
        """Raises StoreError; the next run stores a jump that could not be stored."""
        now = self.clock.now()
        jump = self.jumps.since_last(now, self.clock.monotonic())
        if jump:
            logger.warning(
                "the clock jumped",
                extra={"action": "clock_jumped", "seconds": jump.total_seconds()},
            )
            self.unstored.append((now, jump))
        if self.unstored:
            jumps = tuple(self.unstored)
            await self.store.run(self._follow, jumps, now)
            self.unstored = [one for one in self.unstored if one not in jumps]
        self._compare()

    def _follow(
        self, transaction: Transaction, jumps: Sequence[tuple[datetime, timedelta]], now: datetime
    ) -> None:
        is_ours = self.lease.take(transaction, now) is not None
        for at, jump in jumps:
            # It is stored already if only the answer to an earlier commit was lost.
            if transaction.clock_jumps.add(at, jump) and is_ours:
                move_times(transaction, jump, self.first_gap, now)

    def _compare(self) -> None:
        """Log when it begins and when it ends, not at every check."""
        ahead = self.service_ahead()
        if ahead is None or (abs(ahead) > OFF) is self.is_off:
            return
        self.is_off = not self.is_off
        extra = {
            "action": "clock_off" if self.is_off else "clock_right",
            "seconds": -ahead.total_seconds(),
        }
        if self.is_off:
            logger.warning("our clock and the service's are more than a minute apart", extra=extra)
        else:
            logger.info("our clock and the service's agree again", extra=extra)
