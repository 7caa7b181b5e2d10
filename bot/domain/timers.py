"""A pause that lifts itself: one timer for one pause."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from bot.domain.repository import RepositoryName

LATE = timedelta(minutes=1)
"""Later than this is worth saying."""

EXTENSIONS = (timedelta(minutes=15), timedelta(hours=1), timedelta(hours=4))
"""What *Extend* offers."""


class TimerState(StrEnum):
    """`RUNNING` until it has lifted its pause (`FIRED`) or that has ended otherwise (`VOID`)."""

    RUNNING = "running"
    FIRED = "fired"
    VOID = "void"
    """Somebody lifted or replaced the pause before, or took its end away."""


@dataclass(frozen=True, slots=True)
class Timer:
    """When the pause that began at `paused_at` is lifted, and on whose word.

    `due_at` is when that is tried next: `lifts_at`, or later while the service does not answer.
    """

    repository: RepositoryName
    paused_at: datetime
    lifts_at: datetime
    due_at: datetime
    set_by: str
    set_by_name: str
    channel_id: str | None = None
    state: TimerState = TimerState.RUNNING
    failures: int = 0

    @property
    def is_overdue(self) -> bool:
        """Whether its time came, and lifting the pause was tried and did not succeed."""
        return self.state is TimerState.RUNNING and self.failures > 0

    @property
    def is_time_of_day(self) -> bool:
        """Whether the end was said as a time of day, which is a whole minute.

        One that follows from a length is not, but by the rarest chance.
        """
        return not self.lifts_at.second and not self.lifts_at.microsecond

    def is_still(self, before: "Timer") -> bool:
        """Whether the pause is to end as it was to: nobody gave it another end, or none."""
        return self.state is TimerState.RUNNING and self.lifts_at == before.lifts_at


def extended(timer_lifts_at: datetime | None, now: datetime, by: timedelta) -> datetime:
    """The new end: later than the one there is, or from now on when there is none."""
    return max(timer_lifts_at or now, now) + by
