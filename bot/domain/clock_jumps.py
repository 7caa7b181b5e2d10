"""Jumps of the wall clock: somebody, or something, sets it while the process runs."""

from dataclasses import dataclass
from datetime import datetime, timedelta

SMALLEST_JUMP = timedelta(seconds=2)
"""A gradual correction of the clock moves it less than this between two checks."""


@dataclass(slots=True)
class ClockJumps:
    """Compares the wall clock with one that never jumps."""

    last: tuple[datetime, float] | None = None

    def since_last(self, now: datetime, monotonic: float) -> timedelta:
        """How far the wall clock was set ahead since the last call; negative if set back."""
        before, self.last = self.last or (now, monotonic), (now, monotonic)
        jump = now - before[0] - timedelta(seconds=monotonic - before[1])
        return jump if abs(jump) >= SMALLEST_JUMP else timedelta()


@dataclass(slots=True)
class ClockSteps:
    """Notices when the clock is set back.

    Anything due at a time of the old clock would otherwise wait for as long as it was set back.
    """

    last: datetime | None = None

    def set_back(self, now: datetime) -> timedelta:
        """How far the clock was set back since the last call."""
        before, self.last = self.last or now, now
        return max(before - now, timedelta())
