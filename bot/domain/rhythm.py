"""How often an event log is looked at, by what happens in it."""

from dataclasses import dataclass
from datetime import timedelta

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
