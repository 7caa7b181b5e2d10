"""What the use cases need of the outside world: protocols only."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from bot.domain.channels import ChannelAccess
from bot.domain.deliveries import Delivery, NewDelivery, Subject
from bot.domain.event_log import Position, Window
from bot.domain.event_records import EventRecord, PullRequestRecord
from bot.domain.events import EventPage
from bot.domain.message import Message
from bot.domain.people import Person, Unanswered
from bot.domain.queue import Application, Pause, QueueRule, QueueStatus
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import Subscription
from bot.ports.audit import Audit
from bot.ports.kept_true import Cards, Pauses, ResumeWatchers


class Clock(Protocol):
    """The time, and waiting."""

    def now(self) -> datetime:
        """The wall clock, aware, in UTC."""
        ...

    async def sleep(self, seconds: float) -> None: ...


class Hear(Protocol):
    """Is told what the service answered to a change, for the record: "200"; in order if several.

    An answer that becomes an error is not told here: `bot.domain.service_answers` words it.
    """

    def __call__(self, answer: str, /) -> object: ...


class MergeQueue(Protocol):
    """The merge queue service. Every method raises only MergeQueueError."""

    async def status(
        self, repository: RepositoryName, branch: str | None = None
    ) -> QueueStatus: ...

    async def current_pause(self, repository: RepositoryName) -> Pause | None:
        """The pause in force, or None when the queue is not paused."""
        ...

    async def pause(
        self, repository: RepositoryName, reason: str, *, hear: "Hear | None" = None
    ) -> Pause:
        """The pause now in force; `hear` is told what the service answered."""
        ...

    async def unpause(self, repository: RepositoryName, *, hear: "Hear | None" = None) -> bool:
        """Whether a pause was in force and is now lifted; `hear` is told the answer."""
        ...

    async def rules(self, repository: RepositoryName) -> Sequence[QueueRule]:
        """The queue rules in processing order."""
        ...

    async def event_page(
        self,
        repository: RepositoryName,
        window: Window,
        *,
        types: Collection[str] = (),
        cursor: str | None = None,
    ) -> EventPage:
        """One page in the service's own order; all event types when `types` is empty."""
        ...

    async def branches(self, repository: RepositoryName, window: Window) -> Sequence[str]: ...

    async def application(self) -> Application: ...


class ChannelPoster(Protocol):
    """Posts to Slack channels. Every method raises only PostError."""

    async def post(self, channel_id: str, message: Message, delivery_id: str) -> str:
        """Send at most one request; return the message's `ts`."""
        ...

    async def find(self, channel_id: str, delivery_id: str, since: datetime) -> str | None:
        """The `ts` of the message that carries `delivery_id`, or None if history lacks it."""
        ...


class ChannelDirectory(Protocol):
    """What Slack tells of its channels."""

    async def access(self, channel_id: str) -> ChannelAccess:
        """Whether the bot can post there; joins public channels, so that it can read back.

        Never raises: a failure to find out is `ChannelAccess.UNKNOWN`.
        """
        ...

    async def is_shared(self, channel_id: str) -> bool:
        """Whether people of other organisations are there, or may soon be.

        Never raises: True when it cannot be found out.
        """
        ...


class PeopleDirectory(Protocol):
    """What Slack tells of people and user groups, at most a minute old. Nothing here raises."""

    async def person(self, user_id: str) -> Person | Unanswered | None:
        """None when Slack knows nobody of that id."""
        ...

    async def members(self, group_id: str) -> Collection[str] | Unanswered:
        """The ids of a user group's members; a disabled or unknown group has none."""
        ...

    async def handle(self, group_id: str) -> str | None:
        """The name people use for a user group, without its `@`; None when it is not known."""
        ...


class Nudge(Protocol):
    """Tells the schedule that there is something to post, now or `after` so many seconds."""

    def __call__(self, after: float = 0.0) -> None: ...


@dataclass(frozen=True, slots=True)
class Lease:
    """An exclusive right until `expires_at`. Only the store makes one.

    `token` grows at every change of hands, so that a holder that slept is found out.
    """

    name: str
    holder: str
    token: int
    expires_at: datetime


class Leases(Protocol):
    """Exclusive rights that several processes on one database share out."""

    async def claim(
        self, names: Sequence[str], *, holder: str, now: datetime, lifetime: timedelta
    ) -> Mapping[str, Lease]:
        """Take or renew those that are free, expired or already ours; the others are left out."""
        ...

    async def require(self, lease: Lease, now: datetime) -> None:
        """Raise LeaseLost unless the lease is still ours and has not expired."""
        ...

    async def release(self, leases: Sequence[Lease]) -> None: ...


class Positions(Protocol):
    """The bookmark of each repository's event log."""

    async def load(
        self, repositories: Sequence[RepositoryName]
    ) -> Mapping[RepositoryName, Position]: ...

    async def save(self, position: Position) -> None: ...


class Events(Protocol):
    """Events as kept, unique by (repository, event id)."""

    async def add_new(self, records: Sequence[EventRecord]) -> int:
        """Store those not stored yet, unrouted; return how many were new."""
        ...

    async def unrouted(
        self, repository: RepositoryName, limit: int | None = None
    ) -> Sequence[EventRecord]:
        """Oldest first, by (received_at, event id); at most `limit`."""
        ...

    async def mark_routed(self, repository: RepositoryName, event_ids: Sequence[int]) -> None: ...

    async def get(self, subjects: Sequence[Subject]) -> Mapping[Subject, EventRecord]: ...

    async def delete_before(self, received_before: datetime) -> int:
        """Delete routed events that no unsettled delivery refers to; return how many."""
        ...


class PullRequests(Protocol):
    """Titles, addresses and authors of pull requests seen in a queue."""

    async def save(self, records: Sequence[PullRequestRecord]) -> None:
        """Insert, or bring up to date."""
        ...

    async def get(
        self, repository: RepositoryName, numbers: Collection[int]
    ) -> Mapping[int, PullRequestRecord]: ...

    async def delete_before(self, seen_before: datetime) -> int: ...


@dataclass(frozen=True, slots=True)
class ParkedChannel:
    """A channel that Slack refuses posts to; its head delivery is tried again at `retry_at`."""

    channel_id: str
    code: str
    parked_at: datetime
    retry_at: datetime


@dataclass(frozen=True, slots=True)
class OutboxSummary:
    """What is not settled: counts, and the creation time of the oldest."""

    pending: int
    sending: int
    in_doubt: int
    oldest_created_at: datetime | None
    parked: Sequence[ParkedChannel]


@dataclass(frozen=True, slots=True)
class Folded:
    """What a summary tells: how many deliveries of each repository and kind, and since when.

    `subjects` are the latest failures among them, at most ten, oldest first.
    """

    counts: Mapping[tuple[RepositoryName, str | None], int]
    oldest_created_at: datetime
    subjects: Sequence[Subject]


class Outbox(Protocol):
    """Deliveries, in order per line of a channel. Nothing here grows slower as history grows."""

    async def add(self, deliveries: Sequence[NewDelivery]) -> int:
        """Append in the given order; one that exists for (channel, subject) is left as it is."""
        ...

    async def claim(
        self, *, now: datetime, claimed_until: datetime, channels: int, per_channel: int
    ) -> Sequence[Delivery]:
        """Take what is due, as `SENDING`, with the attempt counted.

        From each channel's line the unbroken run of due deliveries from its first unsettled one,
        at most `per_channel` and one from a parked channel; ordered by (line, sequence). Due
        are: pending and in-doubt ones whose time has come, sending ones whose claim expired. A
        delivery that was sending or in doubt keeps its old `attempted_at` (not None): it must
        be looked for before it is posted. One that comes with `attempted_at` = None is stored
        with `now` when it is the first of its line, and is to be sent then; the others need
        `attempt` first.
        """
        ...

    async def attempt(self, delivery: Delivery, now: datetime) -> None:
        """Store that a claimed delivery is about to be sent, so that a crash is found out.

        Raises LeaseLost when its claim is another's by now.
        """
        ...

    async def record(self, deliveries: Sequence[Delivery]) -> None:
        """Store the states after an attempt. A settled delivery is never changed again.

        Raises LeaseLost when a claim among them is another's by now.
        """
        ...

    async def fold(self, *, now: datetime, longer_than: int, at_most: int) -> int:
        """Make summaries of backlogs; return how many deliveries were folded.

        In each ordinary line with more than `longer_than` unsettled deliveries that can be
        claimed, the first that is certainly not posted, the head or the one behind it, tells
        those that follow it in one unbroken run and are certainly not posted either, at most
        `at_most`: they become FOLDED.
        """
        ...

    async def folded_into(self, delivery_id: str) -> Folded:
        """What a summary has to tell, itself included."""
        ...

    async def park(self, parked: ParkedChannel) -> None: ...

    async def unpark(self, channel_id: str) -> None: ...

    async def get(self, channel_id: str, subject: Subject) -> Delivery | None: ...

    async def in_doubt(self, limit: int) -> Sequence[Delivery]: ...

    async def summary(self) -> OutboxSummary: ...

    async def delete_settled_before(self, settled_before: datetime) -> int: ...


class Subscriptions(Protocol):
    """Who hears about what; unique by (channel, repository, source)."""

    async def save(self, subscription: Subscription) -> None:
        """Insert, or replace the one with the same channel, repository and source."""
        ...

    async def delete(self, channel_id: str, repository: RepositoryName) -> bool:
        """Remove the one made by command; whether there was one."""
        ...

    async def of_channel(self, channel_id: str) -> Sequence[Subscription]: ...

    async def of_repository(self, repository: RepositoryName) -> Sequence[Subscription]: ...

    async def replace_configured(self, subscriptions: Sequence[Subscription]) -> None:
        """Make those with source CONFIGURATION exactly these."""
        ...


class SeenRequests(Protocol):
    """What Slack sent and was acted upon, by a key that the same request has every time."""

    async def add(self, key: str, *, now: datetime, until: datetime) -> bool:
        """Remember `key` at least until then; whether it was not remembered yet.

        Some of those whose time has passed are forgotten meanwhile, so that the store of a bot
        that is used does not grow.
        """
        ...


class Transaction(Protocol):
    """One transaction's view of the store."""

    @property
    def leases(self) -> Leases: ...
    @property
    def positions(self) -> Positions: ...
    @property
    def events(self) -> Events: ...
    @property
    def pull_requests(self) -> PullRequests: ...
    @property
    def outbox(self) -> Outbox: ...
    @property
    def subscriptions(self) -> Subscriptions: ...
    @property
    def audit(self) -> Audit: ...
    @property
    def seen_requests(self) -> SeenRequests: ...
    @property
    def cards(self) -> Cards: ...
    @property
    def pauses(self) -> Pauses: ...
    @property
    def resume_watchers(self) -> ResumeWatchers: ...


class Store(Protocol):
    """The database. No network call is ever made inside a transaction."""

    def begin(self) -> AbstractAsyncContextManager[Transaction]:
        """One transaction: commit on a clean exit, roll back otherwise.

        Raises StoreUnavailable when the database cannot be read or written now.
        """
        ...
