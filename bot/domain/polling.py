"""When to poll a repository next, and when to read its queue as well as its event log."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.queue import BatchStatusCode, QueueStatus

QUIET_SHARE = 60
"""The quiet time divided by this is the wait until the next poll."""

FLOOR = timedelta(seconds=1)

SMALL = 20
"""Up to this many repositories the budget doesn't apply: two requests a second are no burden."""

SAVED_FOR = timedelta(hours=12)
"""How long saved requests can be used: quiet nights pay for busy days."""

HEALTH_FLOOR = timedelta(seconds=30)
"""The shortest interval for readings that are measured in minutes."""

CALM_AFTER = timedelta(seconds=60)
"""The time after the last event at which the queue is read once more."""

UNWATCHED_INTERVALS = 12
"""One in this many polls reads a queue without other users."""

DEPTH_INTERVALS = 6
"""One in this many polls reads the depth of a paused queue."""

RUNNING = frozenset(
    {
        BatchStatusCode.PREPARING,
        BatchStatusCode.RUNNING,
        BatchStatusCode.BISECTING,
        BatchStatusCode.WAITING_FOR_MERGE,
    }
)
"""Statuses of batches that will change soon."""


def is_running(status: QueueStatus) -> bool:
    return any(batch.status.code in RUNNING for batch in status.batches)


@dataclass(frozen=True, slots=True)
class PollingInterval:
    """The time between two polls of one repository.

    `busy`: after an event.
    `running`: while a batch runs.
    `longest`: after a long time without events.
    `usual`: what all polls together average at least.
    """

    usual: timedelta
    busy: timedelta
    running: timedelta
    longest: timedelta

    @classmethod
    def around(cls, usual: timedelta, longest: timedelta | None = None) -> "PollingInterval":
        """A third of the usual interval for busy repositories, six times for quiet ones."""
        return cls(
            usual=usual,
            busy=max(usual * 0.3, FLOOR),
            running=max(usual * 0.4, FLOOR),
            longest=max(usual, longest or 6 * usual),
        )

    def wait(self, quiet: timedelta, *, is_running: bool, may_hurry: bool) -> timedelta:
        """The time until the next poll, when nothing has happened for `quiet`.

        Without `may_hurry` the usual interval is the shortest.
        """
        wait = quiet / QUIET_SHARE
        if is_running:
            wait = min(wait, self.running)
        shortest = self.busy if may_hurry else self.usual
        return min(max(wait, shortest), self.longest)


@dataclass(slots=True)
class RequestBudget:
    """The requests that polling at the usual interval would make, and those saved so far.

    It starts full, so that a restart does not slow busy repositories down.
    """

    usual: timedelta
    spent: float = 0.0
    at: datetime | None = None

    def spend(self, requests: int, repositories: int, now: datetime) -> None:
        """Count the requests since the last call, made by polling this many repositories."""
        passed = max(now - (self.at or now), timedelta())
        granted = max(repositories, SMALL) * (passed / self.usual)
        self.spent = max(self.spent + requests - granted, 0.0)
        self.at = now

    def has_some(self, repositories: int) -> bool:
        return self.spent < max(repositories, SMALL) * (SAVED_FOR / self.usual)


@dataclass(frozen=True, slots=True)
class QueueInterest:
    """The users of a repository's queue: a pause in force, boards, alerts about queue health.

    `boards`: the total number of boards, if any of them shows this repository.
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
    """Whether this poll also reads the queue.

    `read_at`: the last time it was read. `active_at`: when the last event was read. A time after
    `now` comes from a clock that was set back since.
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
    """A process's repositories: how many, how many not polled in time, the longest delay."""

    polled: int
    stale: int
    oldest: timedelta

    @property
    def is_stale(self) -> bool:
        """Whether most are.

        One repository that the service refuses is its own outage and doesn't make the whole process
        stale.
        """
        return self.stale * 2 > self.polled


def stale_after(interval: timedelta) -> timedelta:
    """How long a log polled at that interval may go unread before it is stale."""
    return max(STALE_INTERVALS * interval, STALE_FLOOR)


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
