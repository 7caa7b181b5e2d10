"""The state of a repository between polls: when it is due, and what was read."""

import logging
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta

from bot.feed.log_reading import LogReading
from bot.feed.polling import QueueInterest
from bot.feed.read_events import ReadEvents
from bot.feed.requested_types import RequestedTypes
from bot.health.cause import CauseWatch
from bot.health.outage import PollProblem
from bot.kernel.pacing import Failures
from bot.kernel.repository import RepositoryName
from bot.log.position import LastPoll
from bot.merge_queue.errors import MergeQueueUnavailable
from bot.merge_queue.queue import Application
from bot.pauses.pause import PauseRecord
from bot.store.lease_values import Lease

STORED_EVERY = timedelta(seconds=15)
"""How often the times of the last polls are stored, to show how fresh the data is."""


@dataclass(slots=True)
class QueueAtPoll:
    """The state of one repository's queue between polls."""

    interest: QueueInterest = field(default_factory=QueueInterest)
    read_at: datetime | None = None  #: when it was last read; None to read it at the next poll
    is_running: bool = False  #: a batch was running then
    depth_at: datetime | None = None  #: when to measure the depth of the paused queue next
    failures: Failures = field(default_factory=Failures)
    retry_at: datetime | None = None  #: no reading before then
    answered_at: datetime | None = None  #: when the service last answered for boards
    edit_at: datetime | None = None  #: no edit of boards before then
    #: what keeps it from merging, for alerts
    watch: CauseWatch = field(default_factory=CauseWatch)


@dataclass(slots=True)
class PollSchedule:
    """The schedule of one repository, in the process that polls."""

    due_at: datetime
    state: "PollState | None" = None  #: None until the first poll, and after the lease was lost
    queue: QueueAtPoll = field(default_factory=QueueAtPoll)
    pause: PauseRecord | None = None  #: the one on record
    counts_merges: bool = False  #: a pause is in force, or ended a short while ago
    failures: Failures = field(default_factory=Failures)
    running: bool = False  #: a poll is under way
    #: of the lease that `state` belongs to; under another, another process may have polled since
    token: int | None = None
    polled_at: datetime | None = None  #: when the last poll that read the log began
    stored_at: datetime | None = None  #: the last such time stored for other processes
    taken_on_at: datetime | None = None  #: when this process last took over its log
    problem: PollProblem | None = None  #: what the last failed poll says of the service
    #: the log says that polls fail, so it must say when they work again
    is_failure_logged: bool = False
    share: float = 1.0  #: the fraction of the time until the next poll to wait, once

    def set_back(self, back: timedelta) -> None:
        """Shift all times after the clock was set back."""
        for times in (self, self.failures, self.queue, self.queue.failures, self.queue.watch):
            for time_field in fields(times):
                at = getattr(times, time_field.name)
                if isinstance(at, datetime):
                    setattr(times, time_field.name, at - back)

    @property
    def read_at(self) -> datetime | None:
        """When its log was last read here, or taken over; None before."""
        if self.token is None:
            return None
        return self.polled_at or self.taken_on_at

    def is_under(self, lease: Lease) -> bool:
        """Whether no other process can have polled since."""
        return self.token == lease.token

    def to_store(self, lease: Lease) -> LastPoll | None:
        """The last poll, if its time is worth storing, which is not so for every one.

        Only under the same lease, because otherwise another process may have polled since.
        """
        at = self.polled_at
        if at is None or not self.is_under(lease):
            return None
        if self.stored_at is not None and at - self.stored_at < STORED_EVERY:
            return None
        last = self.state.types.last if self.state is not None else None
        return LastPoll(at, last.polled_types if last is not None else ())


@dataclass(slots=True)
class RuleState:
    """Whether the rule that pauses the queue has to decide, and how often that failed."""

    #: pull requests have left, or this process took over, since it last decided
    is_due: bool = True
    failures: int = 0  #: attempts in a row to pause that failed
    waits_until: datetime | None = None  #: when it may try again
    is_told: bool = False  #: the channels know that it fails


@dataclass(slots=True)
class PollState:
    """What one repository's polls remember, in the process that polls."""

    types: RequestedTypes = field(default_factory=RequestedTypes)
    reading: LogReading = field(default_factory=LogReading)
    events: ReadEvents = field(default_factory=ReadEvents)
    rule: RuleState = field(default_factory=RuleState)
    active_at: datetime | None = None  #: when something new was last read, or reading began
    #: whose key the credential is, None until an event asks for it
    application: Application | None = None


def asked_to_wait(error: Exception) -> float | None:
    """The seconds that the service asked to wait, if it did."""
    return error.retry_after if isinstance(error, MergeQueueUnavailable) else None


def log_level_of(error: Exception, usual: int = logging.WARNING) -> int:
    """The level at which to log an error; what the log has said for all is only a detail."""
    is_known = isinstance(error, MergeQueueUnavailable) and error.is_logged
    return logging.DEBUG if is_known else usual


def failure(action: str, repository: RepositoryName, error: Exception) -> dict[str, object]:
    """The fields of a log record about an error."""
    facts = {"error": type(error).__name__, "detail": str(error)}
    return {"action": action, "repository": repository, **facts}
