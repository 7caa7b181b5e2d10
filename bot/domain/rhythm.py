"""How often an event log is looked at, by what happens in it, whatever becomes of the clock."""

from dataclasses import dataclass
from datetime import datetime, timedelta

QUIET_SHARE = 20
"""The next look comes after so small a part of the time in which nothing has happened."""


@dataclass(frozen=True, slots=True)
class Rhythm:
    """Looks at `interval` where something happens, and never further apart than `longest`.

    With both the same, every log is looked at at the interval.
    """

    interval: timedelta
    longest: timedelta

    def wait(self, quiet: timedelta) -> timedelta:
        """From one look to the next, of a log in which nothing has happened for so long."""
        return min(max(self.interval, quiet / QUIET_SHARE), max(self.interval, self.longest))


@dataclass(slots=True)
class Ticks:
    """The times at which something was looked at, on a clock that may be set back.

    What is due at a time of the old clock would else wait for as long as it was set back.
    """

    last: datetime | None = None

    def set_back(self, now: datetime) -> timedelta:
        """How far the clock was set back since it was asked this the last time."""
        before, self.last = self.last or now, now
        return max(before - now, timedelta())
