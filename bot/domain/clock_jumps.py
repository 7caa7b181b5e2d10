"""Jumps of the wall clock: somebody, or something, sets it while the process lives."""

from dataclasses import dataclass
from datetime import datetime, timedelta

SMALLEST_JUMP = timedelta(seconds=2)
"""A clock that is put right little by little moves less than this between two looks."""


@dataclass(slots=True)
class ClockJumps:
    """Holds the wall clock against one that never jumps."""

    last: tuple[datetime, float] | None = None

    def since_last(self, now: datetime, monotonic: float) -> timedelta:
        """How far the wall clock was set ahead since this was asked last, or back if negative."""
        before, self.last = self.last or (now, monotonic), (now, monotonic)
        jump = now - before[0] - timedelta(seconds=monotonic - before[1])
        return jump if abs(jump) >= SMALLEST_JUMP else timedelta()


@dataclass(slots=True)
class ClockSteps:
    """The times at which something was looked at, on a clock that may be set back.

    What is due at a time of the old clock would else wait for as long as it was set back.
    """

    last: datetime | None = None

    def set_back(self, now: datetime) -> timedelta:
        """How far the clock was set back since this was asked last."""
        before, self.last = self.last or now, now
        return max(before - now, timedelta())
