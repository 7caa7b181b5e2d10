"""The clock, as a port."""

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """The time, and waiting."""

    def now(self) -> datetime:
        """The wall clock, aware, in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds that pass independently of the wall clock, from an arbitrary start."""
        ...

    async def sleep(self, seconds: float) -> None: ...
