"""A storm: so many pull requests fail at once that one message counts them all."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from bot.kernel.repository import RepositoryName
from bot.verdicts.verdict import STORM_SPAN

CALM = timedelta(minutes=10)
"""How long nothing may have failed when a merge ends the storm."""


class StormEnd(StrEnum):
    """Why a storm is over."""

    MERGED = "merged"
    LAPSED = "lapsed"  #: nothing failed any more, though nothing merged
    UNFOLLOWED = "unfollowed"  #: the settings don't name its repository any more


@dataclass(frozen=True, slots=True)
class FailureStorm:
    """The failures of one branch's queue, from the first of many at once to the last.

    `StormCount` decides that one begins, and by the events it routes that one is over: a merge
    after CALM (`after_merge`), or a failure after which more merge than fail (`outnumbered`).
    `EndStorms` decides where no event comes: nothing failed for STORM_SPAN (`after_reading`), or
    the settings dropped the repository. Both store `ended_at`, which stays.
    """

    repository: RepositoryName
    key: str  #: identifies it within its repository: the event with which it was noticed
    began_at: datetime  #: the first of its failures
    last_at: datetime  #: the latest of them
    ended_at: datetime | None = None  #: None while it lasts
    ending: StormEnd | None = None  #: why it is over
    branch: str | None = None  #: the base branch of all of them; None if the log doesn't say

    def lasts_at(self, at: datetime) -> bool:
        """Whether what happens then belongs to it."""
        return self.ended_at is None and at - self.last_at <= STORM_SPAN

    def after_failure(self, at: datetime) -> "FailureStorm":
        return replace(self, last_at=max(self.last_at, at))

    def after_merge(self, at: datetime) -> "FailureStorm":
        """Single pull requests may merge while most fail."""
        is_over = self.ended_at is None and at - self.last_at > CALM
        return self.ended(at, StormEnd.MERGED) if is_over else self

    def outnumbered(self, at: datetime) -> "FailureStorm":
        """More merge than fail again, though some still fail."""
        return self.ended(at, StormEnd.MERGED)

    def after_reading(self, read_until: datetime) -> "FailureStorm":
        """The storm once the log is known until then; it may have lapsed."""
        lapsed_at = self.last_at + STORM_SPAN
        if self.ended_at is not None or read_until <= lapsed_at:
            return self
        return self.ended(lapsed_at, StormEnd.LAPSED)

    def ended(self, at: datetime, ending: StormEnd) -> "FailureStorm":
        return replace(self, ended_at=at, ending=ending)
