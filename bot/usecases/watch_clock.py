"""Tell operators when this process's clock jumps, and when it is off."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

from bot.domain.clock_jumps import ClockJumps
from bot.ports import Clock
from bot.store.transactions import Store

logger = logging.getLogger(__name__)

OFF = timedelta(minutes=1)
"""Between our clock and the service's; more is told."""


@dataclass(slots=True)
class WatchClock:
    """`service_ahead`: how far the service's clock is ahead, by its answers' `Date`."""

    store: Store
    clock: Clock
    service_ahead: Callable[[], timedelta | None]
    jumps: ClockJumps = field(default_factory=ClockJumps)
    is_off: bool = False

    async def run(self) -> None:
        """Raises StoreError."""
        now = self.clock.now()
        jump = self.jumps.since_last(now, self.clock.monotonic())
        if jump:
            logger.warning(
                "the clock jumped",
                extra={"action": "clock_jumped", "seconds": jump.total_seconds()},
            )
            await self.store.run(lambda transaction: transaction.clock_jumps.add(now, jump))
        self._compare()

    def _compare(self) -> None:
        """Say it when it begins and when it ends, not at every look."""
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
