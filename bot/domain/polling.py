"""When a repository is polled next, and when its queue is read besides its event log."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.queue import BatchStatusCode, QueueStatus

QUIET_SHARE = 60
"""The next poll comes after so small a part of the time in which nothing has happened."""

FLOOR = timedelta(seconds=1)

SMALL = 20
"""So few repositories are not held to the budget: two requests a second are no burden."""

SAVED_FOR = timedelta(hours=12)
"""What quiet hours save is spent on busy ones within so long: a night pays for a day."""

HEALTH_FLOOR = timedelta(seconds=30)
"""What is measured in minutes is not read more often than this."""

CALM_AFTER = timedelta(seconds=60)
"""So long after the last event the queue is read once, to learn whether anything still runs."""

UNWATCHED_INTERVALS = 12
"""Of so many polling intervals one reads a queue that nothing else asks about."""

DEPTH_INTERVALS = 6
"""Of so many polling intervals one reads how many pull requests wait in a paused queue."""

RUNNING = frozenset(
    {
        BatchStatusCode.PREPARING,
        BatchStatusCode.RUNNING,
        BatchStatusCode.BISECTING,
        BatchStatusCode.WAITING_FOR_MERGE,
    }
)
"""Batches of which something will be heard soon."""


def is_running(status: QueueStatus) -> bool:
    return any(batch.status.code in RUNNING for batch in status.batches)


@dataclass(frozen=True, slots=True)
class PollingInterval:
    """How far apart two polls of one repository are.

    `busy` after an event, `running` while a batch runs, `longest` where nothing has happened for
    long. `usual` is what all polls together come to at most, on average.
    """

    usual: timedelta
    busy: timedelta
    running: timedelta
    longest: timedelta

    @classmethod
    def around(cls, usual: timedelta, longest: timedelta | None = None) -> "PollingInterval":
        """A third of the usual interval where something happens, six of it where nothing does."""
        return cls(
            usual=usual,
            busy=max(usual * 0.3, FLOOR),
            running=max(usual * 0.4, FLOOR),
            longest=max(usual, longest or 6 * usual),
        )

    @classmethod
    def fixed(cls, interval: timedelta) -> "PollingInterval":
        """The same for every repository at any time."""
        return cls(interval, interval, interval, interval)

    def wait(self, quiet: timedelta, *, is_running: bool, may_hurry: bool) -> timedelta:
        """From one poll to the next where nothing has happened for so long.

        Without `may_hurry` the usual interval is the shortest.
        """
        wait = quiet / QUIET_SHARE
        if is_running:
            wait = min(wait, self.running)
        shortest = self.busy if may_hurry else self.usual
        return min(max(wait, shortest), self.longest)


@dataclass(slots=True)
class RequestBudget:
    """As many requests as polling at the usual interval would make, and those that were saved.

    Begins with all that can be saved, so that a restart does not slow busy repositories down.
    """

    usual: timedelta
    spent: float = 0.0
    at: datetime | None = None

    def spend(self, requests: int, repositories: int, now: datetime) -> None:
        """`requests` were made since the last time, by polling so many repositories."""
        passed = max(now - (self.at or now), timedelta())
        granted = max(repositories, SMALL) * (passed / self.usual)
        self.spent = max(self.spent + requests - granted, 0.0)
        self.at = now

    def has_some(self, repositories: int) -> bool:
        return self.spent < max(repositories, SMALL) * (SAVED_FOR / self.usual)


@dataclass(frozen=True, slots=True)
class QueueInterest:
    """What needs a repository's queue: a pause in force, boards, alerts about queue health.

    `boards`: how many boards there are in all, where one shows this repository.
    """

    pause: bool = False
    boards: int = 0
    health: bool = False


def queue_due(
    interest: QueueInterest,
    interval: timedelta,
    now: datetime,
    *,
    read_at: datetime | None,
    active_at: datetime,
) -> bool:
    """Whether this poll reads the queue, too.

    `read_at`: when it was read last. `active_at`: when the last event was read. A time ahead of
    `now` is of a clock that was set back since.
    """
    if read_at is None or read_at > now:
        return True
    age = now - read_at
    if interest.pause or interest.boards:
        return age >= interval
    if interest.health and age >= max(interval, HEALTH_FLOOR):
        return True
    is_calm = read_at < active_at + CALM_AFTER <= now
    return is_calm or age >= UNWATCHED_INTERVALS * interval


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

        One repository that the service refuses is an outage of its own and must not count its
        process out.
        """
        return self.stale * 2 > self.polled


def stale_after(interval: timedelta) -> timedelta:
    """How long a log is not read before it is stale, polled at that interval."""
    return max(STALE_INTERVALS * interval, STALE_FLOOR)
