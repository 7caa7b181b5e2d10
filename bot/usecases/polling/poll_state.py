"""The state of a repository between polls: when it is due, and what was read."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta

from bot.domain.classification import PAUSE_TYPES, event_types_for
from bot.domain.errors import MergeQueueUnavailable
from bot.domain.event_log import LastPoll, Position, ServiceTime
from bot.domain.event_records import EventRecord
from bot.domain.freezes import FREEZE_TYPES
from bot.domain.grace_period import GracePeriod
from bot.domain.leases import Lease
from bot.domain.pacing import Failures
from bot.domain.pause_records import PauseRecord
from bot.domain.polling import QueueInterest
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import Style, Subscription, Topic
from bot.domain.threads import DECISIVE

STORED_EVERY = timedelta(seconds=15)
"""How often the times of the last polls are stored, to show how fresh the data is."""


@dataclass(slots=True)
class QueueState:
    """The state of one repository's queue between polls.

    `read_at`: when it was last read; None to read it at the next poll.
    `is_running`: a batch was running then.
    `depth_at`: when to measure the depth of the paused queue next.
    `gone_since`: the monotonic time of the first reading without the pause on record.
    `retry_at`, `edit_at`: no reading, and no edit of boards, before then.
    `answered_at`: when the service last answered for boards.
    """

    interest: QueueInterest = field(default_factory=QueueInterest)
    read_at: datetime | None = None
    is_running: bool = False
    depth_at: datetime | None = None
    gone_since: float | None = None
    failures: Failures = field(default_factory=Failures)
    retry_at: datetime | None = None
    answered_at: datetime | None = None
    edit_at: datetime | None = None


@dataclass(slots=True)
class PollSchedule:
    """The schedule of one repository, while its lease is held or wanted here.

    `state`: None until the repository is taken over, and after its lease was lost.
    `lease`: with another token than before, another process may have polled since.
    `pause`: the one on record.
    `polled_at`: when the last poll that read the log began.
    `stored_at`: the last such time stored for other processes.
    `share`: the fraction of the time until the next poll to wait, once.
    """

    due_at: datetime
    state: "PollState | None" = None
    queue: QueueState = field(default_factory=QueueState)
    pause: PauseRecord | None = None
    failures: Failures = field(default_factory=Failures)
    running: bool = False
    lease: Lease | None = None
    polled_at: datetime | None = None
    stored_at: datetime | None = None
    taken_on_at: datetime | None = None
    share: float = 1.0

    def set_back(self, back: timedelta) -> None:
        """Shift all times after the clock was set back, except for the lease's."""
        for times in (self, self.failures, self.queue, self.queue.failures):
            for one in fields(times):
                at = getattr(times, one.name)
                if isinstance(at, datetime):
                    setattr(times, one.name, at - back)

    @property
    def read_at(self) -> datetime | None:
        """When its log was last read here, or taken over; None without its lease."""
        return None if self.lease is None else self.polled_at or self.taken_on_at

    def has_token_of(self, lease: Lease) -> bool:
        """Whether no other process can have polled since."""
        return self.lease is not None and self.lease.token == lease.token

    def to_store(self, lease: Lease) -> LastPoll | None:
        """The last poll, if its time is worth storing, which is not so for every one.

        Only under the same lease, because otherwise another process may have polled since.
        """
        at, stored_at = self.polled_at, self.stored_at
        if at is None or not self.has_token_of(lease):
            return None
        last = self.state.last if self.state is not None else None
        is_due = stored_at is None or at - stored_at >= STORED_EVERY
        return LastPoll(at, last.polled_types if last is not None else ()) if is_due else None


STAMPED_APART = timedelta(minutes=5)
"""How far the times of events may be behind the service's own time."""


@dataclass(slots=True)
class PollState:
    """The state of one repository between polls, while its lease is held.

    The log:
    `seen`: the `content` of held and stored events, at least of the overlap, by their ids.
    `seen_from`: nothing older is in `seen`, except what was wrongly stamped.
    `held`: events not stored yet; `position` is behind them.
    `unrouted`: the stored events not routed yet, None while unknown.
    `grace_period`: leaves that wait for an explanation.
    `duplicates`: ids already reported, because two events share one.
    `active_at`: when something new was last read, or reading began.
    `titles_wanted`: pull requests have entered the queue whose titles are not read yet.
    `removals_new`: pull requests have left since the rule of the repository last decided.

    The request:
    `personal`: topics of which some people want direct messages.
    `has_rule`: a rule pauses the queue after failures in a row.
    `asked`: the event types of the running poll.
    `last`: the last complete poll, perhaps by another process.
    `requested_since`: since when additional types are requested.
    `refused_types`: the service refused the type filter, so it is not sent again.
    `clock_ahead`: how far the service's clock is ahead of ours, None until known.

    The walk:
    `begun`: the service's time when the current one began, None if that was not recorded.
    `read_to`: the newest event of the last walk.
    `whole_at`, `whole_pages`: when the last walk began that read the whole overlap, and its pages.
    `reached_at`: when a walk last moved the watermark.
    `final_to`: the watermark before which nothing appears any more.
    `cursor_failures`: failed pages behind a cursor, in a row.
    """

    position: Position | None
    subscriptions: Sequence[Subscription] = ()
    seen: dict[int, tuple[datetime, str, int | None]] = field(default_factory=dict)
    seen_from: datetime | None = None
    held: list[EventRecord] = field(default_factory=list)
    unrouted: Sequence[EventRecord] | None = None
    refused_types: bool = False
    begun: ServiceTime | None = None
    clock_ahead: timedelta | None = None
    grace_period: GracePeriod = field(default_factory=GracePeriod)
    active_at: datetime | None = None
    personal: frozenset[str] = frozenset()
    has_rule: bool = False
    asked: Collection[str] = ()
    last: LastPoll | None = None
    requested_since: dict[str, datetime] = field(default_factory=dict)
    read_to: datetime | None = None
    whole_at: datetime | None = None
    whole_pages: int = 0
    reached_at: datetime | None = None
    final_to: datetime | None = None
    cursor_failures: int = 0
    duplicates: set[int] = field(default_factory=set)
    titles_wanted: bool = False
    removals_new: bool = True

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
        self.asked, last = self.types(), self.last
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

    def types(self) -> Sequence[str]:
        """The types to request: those with subscribers, pauses made elsewhere, and freezes."""
        if self.refused_types:
            return ()
        topics = self.personal.union(*(one.topics for one in self.subscriptions))
        if self.has_rule:
            topics |= {Topic.HEALTH}
        types = event_types_for(topics) | PAUSE_TYPES | {*FREEZE_TYPES}
        if any(one.style is Style.THREAD for one in self.subscriptions):
            types |= DECISIVE
        return sorted(types)

    def forget(self, overlap: timedelta) -> None:
        """Once in an overlap's length, keep only what the next overlap will show again."""
        kept_from = self.known_position.watermark - overlap
        if self.seen_from is None or kept_from >= self.seen_from + overlap:
            self.seen = {key: of for key, of in self.seen.items() if of[0] >= kept_from}
            self.seen_from = kept_from


def content(event: EventRecord) -> tuple[datetime, str, int | None]:
    """Its time, and what else distinguishes two events with the same id."""
    return event.received_at, event.type, event.pull_request


def asked_to_wait(error: Exception) -> float | None:
    """The seconds that the service asked to wait, if it did."""
    return error.retry_after if isinstance(error, MergeQueueUnavailable) else None


def failure(action: str, repository: RepositoryName, error: Exception) -> dict[str, object]:
    """The fields of a log record about an error."""
    facts = {"error": type(error).__name__, "detail": str(error)}
    return {"action": action, "repository": repository, **facts}
