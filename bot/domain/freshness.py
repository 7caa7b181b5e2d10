"""How fresh what this process knows of event logs is."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

STALE_INTERVALS = 5
STALE_FLOOR = timedelta(seconds=30)
"""A slow service takes longer than a few short intervals without anything being wrong."""


@dataclass(frozen=True, slots=True)
class Freshness:
    """Of the repositories a process polls: how many, how many too long ago, the longest ago."""

    polled: int
    stale: int
    oldest: timedelta

    @property
    def is_stale(self) -> bool:
        """Whether most are.

        One repository that the service refuses is told of by itself and must not count its
        process out.
        """
        return self.stale * 2 > self.polled


def stale_after(interval: timedelta) -> timedelta:
    """How long a log is not read before it is stale, polled at that interval."""
    return max(STALE_INTERVALS * interval, STALE_FLOOR)


def freshness(read_at: Sequence[datetime], now: datetime, interval: timedelta) -> Freshness:
    """`read_at`: when each was last read, or taken on by this process."""
    limit = stale_after(interval)
    ages = [now - one for one in read_at]
    return Freshness(
        polled=len(ages),
        stale=sum(age > limit for age in ages),
        oldest=max(ages, default=timedelta()),
    )
