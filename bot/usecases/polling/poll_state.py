"""What is remembered of a repository between polls: when it is due, and what was read."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from bot.domain.classification import PAUSE_TYPES, event_types_for
from bot.domain.event_log import (
    FIRST_SLICE,
    LastPoll,
    Position,
    ServiceTime,
    is_behind,
)
from bot.domain.event_records import EventRecord
from bot.domain.grace_period import GracePeriod
from bot.domain.leases import Lease
from bot.domain.notices import Notice
from bot.domain.pacing import Failures
from bot.domain.pause_records import PauseRecord
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import Style, Subscription, Topic
from bot.domain.threads import DECISIVE
from bot.store.transactions import Transaction
from bot.usecases.polling.queue_reading import QueueReading, QueueState

LEASE_FLOOR = timedelta(seconds=15)
"""A lease outlives a few missed ticks, and a poll that takes its time."""


@dataclass(slots=True)
class PollSchedule:
    """Of one repository, as long as its lease is held or asked for here.

    `state` is None until the repository is taken on, and after its lease was lost; `token` is that
    of the lease under which it was taken on, so that another one means that another process may
    have polled meanwhile. `queue`: what is remembered of its queue, `pause` the one on record.
    `failures`: of polls in a row, the first of them at `failing_since`. `running`: a poll is under
    way. `lease` lasts until `leased_until`, which a long poll puts off. `polled_at`: when the last
    poll that read the log began. `told_at`: the last such time that is stored for those who ask
    how fresh we are. `share`: so much of the time until the next poll is waited for, once.
    """

    due_at: datetime
    token: int | None = None
    state: "PollState | None" = None
    queue: QueueState = field(default_factory=QueueState)
    pause: PauseRecord | None = None
    failures: Failures = field(default_factory=Failures)
    failing_since: datetime | None = None
    running: bool = False
    lease: Lease | None = None
    leased_until: datetime | None = None
    polled_at: datetime | None = None
    told_at: datetime | None = None
    taken_on_at: datetime | None = None
    share: float = 1.0

    def set_back(self, back: timedelta) -> None:
        """As the clock was."""
        self.due_at -= back
        self.polled_at = self.polled_at and self.polled_at - back
        self.told_at = self.told_at and self.told_at - back
        self.taken_on_at = self.taken_on_at and self.taken_on_at - back
        self.failing_since = self.failing_since and self.failing_since - back
        self.queue.set_back(back)

    @property
    def read_at(self) -> datetime | None:
        """When its log was last read here, or taken on; None while its lease is not held."""
        return None if self.lease is None else self.polled_at or self.taken_on_at

    def is_stale(self, now: datetime, limit: timedelta) -> bool:
        """Whether its polls have failed, or its next one been overdue, for longer than `limit`."""
        return now - min(self.failing_since or now, self.due_at) > limit

    @property
    def types_read(self) -> Collection[str]:
        """The event types that the last whole poll asked for; empty for all of them."""
        last = self.state.last if self.state is not None else None
        return last.types if last is not None else ()

    def wears_out(self, now: datetime) -> bool:
        """Whether a poll goes on so long that its lease has to be renewed."""
        until = self.leased_until
        return self.running and until is not None and until - now < LEASE_FLOOR


SEEN = 200
"""So many ids are remembered without a look at which of them are still needed."""

NEVER = datetime.max.replace(tzinfo=UTC)

STAMPED_APART = timedelta(minutes=5)
"""How far the times of events may be behind the time that the service tells."""


PAGE_SECONDS = timedelta(seconds=1)
"""The overlap is read again no sooner than after so long for each of its pages but the first."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """A whole walk, overlap included: when it began, the newest event it read, and its pages."""

    begun_at: datetime
    reached: datetime
    pages: int


@dataclass(slots=True)
class PollState:
    """What is remembered of one repository between polls, as long as its lease is held.

    The log: `seen`: events of the overlap, at least, that are stored already, with their times and
    what they are by `content`. `unrouted`: the types of stored events that are not routed yet, None
    while that is not known. `grace_period`: leaves that wait for what may explain them.
    `duplicates`: ids that were reported, since another event has the same. `active_at`: when
    something new was last read, or reading began. `titles_wanted`: pull requests have entered the
    queue whose titles are not read yet.
    What is asked for: `personal`: the topics of which some people want direct messages. `asked`:
    the event types of the poll under way. `last`: the last poll that was whole, in another process
    maybe. `heard_from`: since when types are asked for that were not at first. `refused_types`: the
    service refused the type filter, so it is not sent again.
    The poll: `due_at`: when the one was due that has not asked anything yet. `asked_at`: when it
    did. `clock_ahead`: how far the service's clock is ahead of ours, None while it has not told.
    The walk: `begun`: the service's time when the one under way was begun, None when it was begun
    before this was remembered. `slice_length`: how much of a backlog the next one reads. `sweeps`:
    the one under way reads the whole overlap. `sweep`: the last that did, `proven` an earlier one
    that is waited for until all it may have read too early must have shown. `final_to`: what is
    older was read after it could no longer change. `read_to`: the newest event of the last walk.
    `cursor_failures`: pages behind a cursor that failed in a row. `went_round`: the links of the
    last walk led back to a page that had been read.
    """

    position: Position | None
    subscriptions: Sequence[Subscription]
    seen: dict[int, tuple[datetime, int]] = field(default_factory=dict)
    seen_at_most: int = 0
    unrouted: frozenset[str] | None = None
    refused_types: bool = False
    slice_length: timedelta = FIRST_SLICE
    begun: ServiceTime | None = None
    clock_ahead: timedelta | None = None
    grace_period: GracePeriod = field(default_factory=GracePeriod)
    due_at: datetime | None = None
    active_at: datetime | None = None
    asked_at: datetime | None = None
    personal: frozenset[str] = frozenset()
    asked: Collection[str] = ()
    last: LastPoll | None = None
    heard_from: dict[str, datetime] = field(default_factory=dict)
    sweep: Sweep | None = None
    proven: Sweep | None = None
    final_to: datetime | None = None
    read_to: datetime | None = None
    sweeps: bool = True
    cursor_failures: int = 0
    duplicates: set[int] = field(default_factory=set)
    titles_wanted: bool = False
    went_round: bool = False

    @property
    def known_position(self) -> Position:
        """Raises ValueError before the first poll has given one."""
        if self.position is None:
            msg = "a walk goes on from a position"
            raise ValueError(msg)
        return self.position

    @property
    def is_all_routed(self) -> bool:
        return self.unrouted is not None and not self.unrouted

    def begin(self, now: datetime) -> None:
        """A poll begins: what nobody wanted to hear of until now is heard from the last poll on.

        The watermark is as old as the last event that somebody did want to hear of.
        """
        types, last = self.types(), self.last
        if last is not None and last.types and last.types is not types:
            # A clock that was set back since may not have reached that time again.
            heard_from = min(last.at, now)
            self.heard_from.update(dict.fromkeys({*types}.difference(last.types), heard_from))
        self.asked, self.asked_at = types, None

    def is_history(self, event: EventRecord) -> bool:
        """Whether nobody wanted to hear of it when it happened.

        By whichever clock is behind the other, and not while the service has not told its time.
        """
        heard_from = self.heard_from.get(event.type)
        if heard_from is None or self.clock_ahead is None:
            return False
        behind = min(self.clock_ahead, timedelta())
        return event.received_at < heard_from + behind - STAMPED_APART

    def end(self) -> None:
        """All was read up to when the log was asked."""
        if self.asked_at is not None:
            self.last = LastPoll(self.asked_at, self.asked)

    def types(self) -> Sequence[str]:
        """What has to be asked for: what is subscribed to, and pauses made elsewhere."""
        if self.refused_types:
            return ()
        topics = self.personal.union(*(one.topics for one in self.subscriptions))
        return _types_of(topics, any(one.style is Style.THREAD for one in self.subscriptions))

    def remember(self, records: Collection[EventRecord], overlap: timedelta) -> None:
        """Keep the ids that the next walk's overlap will show again."""
        self.seen.update((one.event_id, (one.received_at, content(one))) for one in records)
        if len(self.seen) <= self.seen_at_most:
            return
        kept_from = self.known_position.watermark - overlap
        self.seen = {key: of for key, of in self.seen.items() if of[0] >= kept_from}
        # Twice as many before the next look at all of them: a burst costs by its length.
        self.seen_at_most = max(SEEN, 2 * len(self.seen))

    def begin_walk(self, time: ServiceTime, now: datetime, overlap: timedelta) -> datetime | None:
        """Return up to where nothing need be read again.

        A long overlap, as after a burst, is not read again with every poll: in between only what
        is newer than all that was read.
        """
        self.begun, self.sweeps = time, True
        if self.sweep is None or is_behind(self.known_position, time):
            return None
        rest = min(overlap, (self.sweep.pages - 1) * PAGE_SECONDS)
        if timedelta() <= now - self.sweep.begun_at < rest:
            self.sweeps = False
            return self.read_to
        return self.final_to

    def end_walk(
        self, reached: datetime, begun_at: datetime, pages: int, overlap: timedelta
    ) -> None:
        """A walk has read to its end, up to an event of the time `reached`."""
        self.read_to = reached
        if not self.sweeps:
            return
        self.sweep = Sweep(begun_at, reached, pages)
        if self.proven is not None and begun_at - self.proven.begun_at >= overlap:
            # Whatever it read too early has shown by now, and was read by this one.
            self.final_to, self.proven = self.proven.reached, None
        if self.proven is None and pages > 1:
            self.proven = self.sweep


def content(event: EventRecord) -> int:
    """What tells two events with the same id apart."""
    return hash((event.received_at, event.type, event.pull_request))


@lru_cache
def _types_of(topics: frozenset[str], in_threads: bool) -> Sequence[str]:  # noqa: FBT001 - a key of the cache
    """Sorted. Asked for with each page, and for most repositories the same."""
    told_in_threads = DECISIVE if in_threads else frozenset[str]()
    return sorted(event_types_for(topics) | PAUSE_TYPES | told_in_threads)


@dataclass(frozen=True, slots=True)
class Poll:
    """One poll under way: its lease, what is remembered of the repository, its queue."""

    lease: Lease
    state: PollState
    queue: QueueReading

    @property
    def repository(self) -> RepositoryName:
        return self.queue.repository


PERSONAL_TOPICS_KEPT = timedelta(seconds=10)
"""So long may pass until the first one of a workspace hears what they have switched on."""

_TOPICS: Mapping[Notice, Topic] = {Notice.FAILURE: Topic.FAILURE, Notice.MERGE: Topic.MERGE}


@dataclass(frozen=True, slots=True)
class PersonalTopics:
    """As far as this process knows; where nobody wants any, polls and routes cost nothing more."""

    topics: frozenset[str] = frozenset()
    read_at: datetime | None = None

    def read(self, transaction: Transaction, now: datetime) -> "PersonalTopics":
        """Those of now; these still, where they were read a moment ago."""
        if self.read_at is not None and self.read_at <= now < self.read_at + PERSONAL_TOPICS_KEPT:
            return self
        wanted = transaction.notices.switched_on_by_anybody(list(_TOPICS))
        return PersonalTopics(frozenset(_TOPICS[one].value for one in wanted), now)
