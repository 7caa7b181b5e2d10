"""The state of a repository between polls: when it is due, and what was read."""

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta

from bot.channels.subscription import Style, Subscription, Topic
from bot.feed.grace_period import GracePeriod
from bot.feed.polling import QueueInterest
from bot.feed.threads import DECISIVE
from bot.feed.topics import event_types_for
from bot.health.outage import PollProblem
from bot.kernel.pacing import Failures
from bot.kernel.repository import RepositoryName
from bot.log.classification import PAUSE_TYPES
from bot.log.position import LastPoll, Position
from bot.log.types import FREEZE_TYPES
from bot.merge_queue.errors import MergeQueueUnavailable
from bot.merge_queue.event_records import EventRecord
from bot.merge_queue.queue import Application
from bot.merge_queue.window import ServiceTime
from bot.pauses.pause import PauseRecord
from bot.store.lease_values import Lease

STORED_EVERY = timedelta(seconds=15)
"""How often the times of the last polls are stored, to show how fresh the data is."""


@dataclass(slots=True)
class QueueState:
    """The state of one repository's queue between polls."""

    interest: QueueInterest = field(default_factory=QueueInterest)
    read_at: datetime | None = None  #: when it was last read; None to read it at the next poll
    is_running: bool = False  #: a batch was running then
    depth_at: datetime | None = None  #: when to measure the depth of the paused queue next
    #: the monotonic time of the first reading without the pause on record
    gone_since: float | None = None
    failures: Failures = field(default_factory=Failures)
    retry_at: datetime | None = None  #: no reading before then
    answered_at: datetime | None = None  #: when the service last answered for boards
    edit_at: datetime | None = None  #: no edit of boards before then


@dataclass(slots=True)
class PollSchedule:
    """The schedule of one repository, in the process that polls."""

    due_at: datetime
    state: "PollState | None" = None
    """None until the first poll, and after the lease was lost."""

    queue: QueueState = field(default_factory=QueueState)
    pause: PauseRecord | None = None
    """The one on record."""

    failures: Failures = field(default_factory=Failures)
    running: bool = False
    token: int | None = None
    """Of the lease that `state` belongs to; under another, another process may have polled since.
    """

    polled_at: datetime | None = None
    """When the last poll that read the log began."""

    stored_at: datetime | None = None
    """The last such time stored for other processes."""

    taken_on_at: datetime | None = None
    problem: PollProblem | None = None
    """What the last failed poll says of the service."""

    is_failure_logged: bool = False
    """The log says that polls fail, so it must say when they work again."""

    share: float = 1.0
    """The fraction of the time until the next poll to wait, once."""

    def set_back(self, back: timedelta) -> None:
        """Shift all times after the clock was set back."""
        for times in (self, self.failures, self.queue, self.queue.failures):
            for time_field in fields(times):
                at = getattr(times, time_field.name)
                if isinstance(at, datetime):
                    setattr(times, time_field.name, at - back)

    @property
    def read_at(self) -> datetime | None:
        """When its log was last read here, or taken over; None before."""
        return None if self.token is None else self.polled_at or self.taken_on_at

    def is_under(self, lease: Lease) -> bool:
        """Whether no other process can have polled since."""
        return self.token == lease.token

    def to_store(self, lease: Lease) -> LastPoll | None:
        """The last poll, if its time is worth storing, which is not so for every one.

        Only under the same lease, because otherwise another process may have polled since.
        """
        at = self.polled_at
        stored_at = self.stored_at
        if at is None or not self.is_under(lease):
            return None
        last = self.state.last if self.state is not None else None
        is_due = stored_at is None or at - stored_at >= STORED_EVERY
        return LastPoll(at, last.polled_types if last is not None else ()) if is_due else None


TYPES_RETRIED = timedelta(days=1)
"""How long a type that the service refused is left out; a newer version may know it."""

STAMPED_APART = timedelta(minutes=5)
"""How far the times of events may be behind the service's own time."""


@dataclass(slots=True)
class PollState:
    """The state of one repository between polls, in the process that polls."""

    position: Position | None
    subscriptions: Sequence[Subscription] = ()
    #: the `content` of held and stored events, at least of the overlap, by their ids
    seen: dict[int, tuple[datetime, str, int | None]] = field(default_factory=dict)
    #: nothing older is in `seen`, except what was wrongly stamped
    seen_from: datetime | None = None
    #: events not stored yet; `position` is behind them
    held: list[EventRecord] = field(default_factory=list)
    #: the stored events not routed yet, None while unknown
    unrouted: Sequence[EventRecord] | None = None
    #: the types that the service refused, and when; one memory for a process, because a service
    #: knows a type for all repositories or for none
    refused_types: dict[str, datetime] = field(default_factory=dict)
    #: when it refused the filter without saying which types
    filter_refused_at: datetime | None = None
    #: the service's time when the current walk began, None if that was not recorded
    begun: ServiceTime | None = None
    #: how far the service's clock is ahead of the bot's, None until known
    clock_ahead: timedelta | None = None
    #: leaves that wait for an explanation
    grace_period: GracePeriod = field(default_factory=GracePeriod)
    active_at: datetime | None = None  #: when something new was last read, or reading began
    personal: frozenset[str] = frozenset()  #: topics of which some people want direct messages
    has_rule: bool = False  #: a rule pauses the queue after failures in a row
    asked: Collection[str] = ()  #: the event types of the running poll
    last: LastPoll | None = None  #: the last complete poll, perhaps by another process
    #: since when additional types are requested
    requested_since: dict[str, datetime] = field(default_factory=dict)
    read_to: datetime | None = None  #: the newest event of the last walk
    whole_at: datetime | None = None  #: when the last walk began that read the whole overlap
    whole_pages: int = 0  #: how many pages that walk read
    reached_at: datetime | None = None  #: when a walk last moved the watermark
    final_to: datetime | None = None  #: the watermark before which nothing appears any more
    cursor_failures: int = 0  #: failed pages behind a cursor, in a row
    #: ids already reported, because two events share one
    duplicates: set[int] = field(default_factory=set)
    #: pull requests have entered the queue whose titles are not read yet
    titles_wanted: bool = False
    #: pull requests have left since the rule of the repository last decided
    removals_new: bool = True
    rule_failures: int = 0  #: attempts in a row to pause by the rule that failed
    rule_waits_until: datetime | None = None  #: when the rule may try again
    #: whose key the credential is, None until an event asks for it
    application: Application | None = None

    @property
    def known_position(self) -> Position:
        """The position; raises ValueError before the first poll."""
        if self.position is None:
            raise ValueError("a walk continues from a position")
        return self.position

    def begin(self, now: datetime) -> None:
        """Begin a poll: newly requested types are read from the last poll on.

        The watermark may be much older, as old as the last event of the other types.
        """
        self.asked = self.types(now)
        last = self.last
        if last is not None and last.polled_types:
            # If the clock was set back since, it may not have reached that time again.
            new = {*self.asked}.difference(last.polled_types)
            self.requested_since.update(dict.fromkeys(new, min(last.polled_at, now)))

    def is_history(self, event: EventRecord) -> bool:
        """Whether the event's type had no subscribers when it happened.

        Compares with the slower clock, and only once the service's time is known.
        """
        requested_since = self.requested_since.get(event.type)
        if requested_since is None or self.clock_ahead is None:
            return False
        behind = min(self.clock_ahead, timedelta())
        return event.received_at < requested_since + behind - STAMPED_APART

    def types(self, now: datetime) -> Sequence[str]:
        """The types to request: those with subscribers, pauses made elsewhere, and freezes.

        Empty for all types, where the service refused to select any.
        """
        if self.filter_refused_at is not None and _is_recent(self.filter_refused_at, now):
            return ()
        topics = self.personal.union(*(subscription.topics for subscription in self.subscriptions))
        if self.has_rule:
            topics |= {Topic.HEALTH}
        types = event_types_for(topics) | PAUSE_TYPES | {*FREEZE_TYPES}
        if any(subscription.style is Style.THREAD for subscription in self.subscriptions):
            types |= DECISIVE
        return sorted(types.difference(self.recently_refused(now)))

    def leave_out_known(self, now: datetime) -> None:
        """Don't request what another repository's poll has learned since this one began."""
        known = self.recently_refused(now)
        left = [name for name in self.asked if name not in known]
        if left:
            # No types would mean all of them.
            self.asked = left

    def recently_refused(self, now: datetime) -> Collection[str]:
        return {name for name, at in self.refused_types.items() if _is_recent(at, now)}

    def leave_out(self, refused: Collection[str], now: datetime) -> None:
        """Don't request these types of an answer's any more, or none if it doesn't say which."""
        if refused:
            self.refused_types.update(dict.fromkeys(refused, now))
            self.asked = [name for name in self.asked if name not in refused]
        else:
            self.filter_refused_at = now
            self.asked = ()

    def forget(self, overlap: timedelta) -> None:
        """Once in an overlap's length, keep only what the next overlap will show again."""
        kept_from = self.known_position.watermark - overlap
        if self.seen_from is None or kept_from >= self.seen_from + overlap:
            self.seen = {key: of for key, of in self.seen.items() if of[0] >= kept_from}
            self.seen_from = kept_from
            self.duplicates &= self.seen.keys()


def _is_recent(refused_at: datetime, now: datetime) -> bool:
    """A time after `now` comes from a clock that was set back since."""
    return timedelta() <= now - refused_at < TYPES_RETRIED


def content(event: EventRecord) -> tuple[datetime, str, int | None]:
    """Its time, and what else distinguishes two events with the same id."""
    return event.received_at, event.type, event.pull_request


def asked_to_wait(error: Exception) -> float | None:
    """The seconds that the service asked to wait, if it did."""
    return error.retry_after if isinstance(error, MergeQueueUnavailable) else None


def level_of(error: Exception, usual: int = logging.WARNING) -> int:
    """The level at which to log an error; what the log has said for all is only a detail."""
    is_known = isinstance(error, MergeQueueUnavailable) and error.is_logged
    return logging.DEBUG if is_known else usual


def failure(action: str, repository: RepositoryName, error: Exception) -> dict[str, object]:
    """The fields of a log record about an error."""
    facts = {"error": type(error).__name__, "detail": str(error)}
    return {"action": action, "repository": repository, **facts}
