"""When to poll a repository next, and when to read its queue as well as its event log."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.merge_queue.queue import BatchStatusCode, QueueStatus

BURST_SHARE = 10
"""Soon after an event, the quiet time divided by this is the wait until the next poll: events come
in bursts."""

QUIET_SHARE = 60
"""Later it is the quiet time divided by this."""

FLOOR = timedelta(seconds=1)
"""The shortest time between two polls of one repository."""

FEW_REPOSITORIES = 20
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

UNDER_TEST = frozenset(
    {
        BatchStatusCode.PREPARING,
        BatchStatusCode.RUNNING,
        BatchStatusCode.BISECTING,
        BatchStatusCode.WAITING_FOR_MERGE,
    }
)
"""Statuses of batches that will change soon."""


def is_running(status: QueueStatus) -> bool:
    return any(part.status.code in UNDER_TEST for part in status.parts())


@dataclass(frozen=True, slots=True)
class PollingInterval:
    """The time between two polls of one repository."""

    usual: timedelta  #: what all polls together average at least
    burst: timedelta  #: in the first seconds after an event
    busy: timedelta  #: in the minutes after an event, and while a batch runs
    longest: timedelta  #: after a long time without events

    @classmethod
    def around(
        cls, usual: timedelta, longest: timedelta | None = None, *, shortest: timedelta = FLOOR
    ) -> "PollingInterval":
        """A quarter of the usual interval for busy repositories, six times for quiet ones."""
        return cls(
            usual=usual,
            burst=max(usual * 0.1, shortest),
            busy=max(usual * 0.25, shortest),
            longest=max(usual, longest or 6 * usual),
        )

    def wait(self, quiet: timedelta, *, is_running: bool, may_hurry: bool) -> timedelta:
        """The time until the next poll, when nothing has happened for `quiet`.

        Without `may_hurry` the usual interval is the shortest.
        """
        wait = max(min(quiet / BURST_SHARE, self.busy), quiet / QUIET_SHARE)
        if is_running:
            wait = min(wait, self.busy)
        shortest = self.burst if may_hurry else self.usual
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
        granted = max(repositories, FEW_REPOSITORIES) * (passed / self.usual)
        self.spent = max(self.spent + requests - granted, 0.0)
        self.at = now

    def has_some(self, repositories: int) -> bool:
        return self.spent < max(repositories, FEW_REPOSITORIES) * (SAVED_FOR / self.usual)


@dataclass(frozen=True, slots=True)
class QueueInterest:
    """The users of a repository's queue: a pause in force, boards, alerts about queue health."""

    pause: bool = False
    boards: int = 0  #: the total number of boards, if any of them shows this repository
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
        before = self.last or now
        self.last = now
        return max(before - now, timedelta())
