"""The system's clock: the only module that reads the time."""

import asyncio
import time
from datetime import UTC, datetime

from typing_extensions import override

from bot.kernel.clock import Clock


class SystemClock(Clock):
    """The wall clock of this machine."""

    @override
    def now(self) -> datetime:
        return datetime.now(UTC)

    @override
    def monotonic(self) -> float:
        if hasattr(time, "CLOCK_BOOTTIME"):
            # Python's own stops while the machine is suspended, on Linux.
            return time.clock_gettime(time.CLOCK_BOOTTIME)
        return time.monotonic()

    @override
    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
