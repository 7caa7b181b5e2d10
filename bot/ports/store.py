"""What the use cases need of the database: one transaction and its parts."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from bot.domain.deliveries import Delivery, NewDelivery, Subject
from bot.domain.event_log import LastPoll, Position
from bot.domain.repository import RepositoryName
from bot.domain.staleness import Staleness
from bot.domain.subscriptions import Subscription
from bot.ports.audit import Audit
from bot.ports.boards import Boards
from bot.ports.groups import GroupActs
from bot.ports.kept_true import Cards, Pauses, ResumeWatchers
from bot.ports.log import Bisections, Events, PullRequests, Stays
from bot.ports.notices import Notices
from bot.ports.queue_health import QueueHealth
from bot.ports.reminders import Reminders
from bot.ports.slack_limits import SlackLimits
from bot.ports.timers import Timers
from bot.ports.workers import Workers


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


@dataclass(frozen=True, slots=True)
class ParkedChannel:
    """A channel that Slack refuses posts to; its head delivery is tried again at `retry_at`."""

    channel_id: str
    code: str
    parked_at: datetime
    retry_at: datetime


@dataclass(frozen=True, slots=True)
class OutboxSummary:
    """What is not settled: counts, and the creation time of the oldest outside parked channels."""

    pending: int
    sending: int
    in_doubt: int
    oldest_created_at: datetime | None
    parked: Sequence[ParkedChannel]


@dataclass(frozen=True, slots=True)
class Added:
    """How many deliveries were added, and those of them that are to be sent now."""

    count: int
    claimed: Sequence[Delivery] = ()


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

    async def add_claimed(
        self,
        deliveries: Sequence[NewDelivery],
        at_once: Collection[str],
        *,
        now: datetime,
        claimed_until: datetime,
    ) -> Added:
        """As `add`; and those of `at_once`, by their ids, are claimed as they are added.

        Claimed as the first of its line, with `now` as the time of its attempt, is what `claim`
        would take and send first: what nothing unsettled stands before in its line, which is due,
        and whose channel is not parked.
        """
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
        `at_most`: they become FOLDED. One that tells few others itself hands these over; a
        summary of many is never folded into another.
        """
        ...

    async def drop_digest(self, channel_id: str, repository: RepositoryName, now: datetime) -> None:
        """What the channel's digest was to tell of the repository is not told, and FAILED."""
        ...

    async def folded_into(self, delivery_id: str) -> Folded:
        """What a summary has to tell, itself included."""
        ...

    async def told_with(self, delivery_id: str, limit: int) -> Sequence[Subject]:
        """What a delivery tells with those folded into it, in order, at most `limit`."""
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

    async def of_repositories(
        self, repositories: Collection[RepositoryName]
    ) -> Mapping[RepositoryName, Sequence[Subscription]]:
        """Those of each, as `of_repository` gives them; left out where there are none."""
        ...

    async def all(self, limit: int) -> Sequence[Subscription]:
        """By repository, then channel."""
        ...

    async def replace_configured(
        self, subscriptions: Sequence[Subscription]
    ) -> Sequence[Subscription]:
        """Make those with source CONFIGURATION exactly these; return those that are gone."""
        ...


class ChannelDefaults(Protocol):
    """The repository that is meant in a channel when none is typed."""

    async def set(self, channel_id: str, repository: RepositoryName) -> None:
        """Instead of the one there was, if there was one."""
        ...

    async def forget(self, channel_id: str) -> None: ...

    async def of(self, channel_id: str) -> RepositoryName | None: ...


class SeenRequests(Protocol):
    """What Slack sent and was acted upon, by a key that the same request has every time."""

    async def add(self, key: str, *, now: datetime, until: datetime) -> bool:
        """Remember `key` at least until then; whether it was not remembered yet.

        Some of those whose time has passed are forgotten meanwhile, so that the store of a bot
        that is used does not grow.
        """
        ...


class Stalenesses(Protocol):
    """Event logs that became stale together, by an id of the store's."""

    async def hold(self) -> None:
        """Nobody else adds or changes any until this transaction ends."""
        ...

    async def add(self, begun: Staleness) -> int:
        """Store it and return its id."""
        ...

    async def save(self, changed: Staleness) -> bool:
        """Replace one that lasts; whether it still did."""
        ...

    async def active(self) -> Sequence[Staleness]:
        """Those that last, the oldest first."""
        ...

    async def last_end(self) -> datetime | None:
        """When the latest of those ended that have."""
        ...

    async def get(self, staleness_ids: Collection[int]) -> Mapping[int, Staleness]: ...

    async def delete_before(self, ended_before: datetime) -> int: ...


class Polls(Protocol):
    """When each repository's event log was last read to its end, and for what."""

    async def save(self, polled: Mapping[RepositoryName, LastPoll]) -> None: ...

    async def latest(
        self, repositories: Sequence[RepositoryName]
    ) -> Mapping[RepositoryName, LastPoll]:
        """Those that were never read are left out."""
        ...


class Accounts(Protocol):
    """Which login of the code host a person has, as they told it."""

    async def link(self, user_id: str, login: str, at: datetime) -> None:
        """Insert or replace. Two people may name the same login: nothing is proved by it."""
        ...

    async def unlink(self, user_id: str) -> bool:
        """Whether there was a link."""
        ...

    async def logins(self, user_ids: Collection[str]) -> Mapping[str, str]:
        """By user id; people without a link are left out."""
        ...

    async def people(self, logins: Collection[str]) -> Mapping[str, Sequence[str]]:
        """The ids of those who say that a login is theirs, first come first.

        By the login as it was asked for, which is found whatever its case; logins that nobody
        has named are left out.
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
    def stays(self) -> Stays: ...
    @property
    def bisections(self) -> Bisections: ...
    @property
    def outbox(self) -> Outbox: ...
    @property
    def subscriptions(self) -> Subscriptions: ...
    @property
    def audit(self) -> Audit: ...
    @property
    def seen_requests(self) -> SeenRequests: ...
    @property
    def polls(self) -> Polls: ...

    @property
    def workers(self) -> Workers: ...
    @property
    def slack_limits(self) -> SlackLimits: ...
    @property
    def stalenesses(self) -> Stalenesses: ...
    @property
    def queue_health(self) -> QueueHealth: ...
    @property
    def accounts(self) -> Accounts: ...
    @property
    def notices(self) -> Notices: ...
    @property
    def channel_defaults(self) -> ChannelDefaults: ...
    @property
    def group_acts(self) -> GroupActs: ...
    @property
    def timers(self) -> Timers: ...
    @property
    def reminders(self) -> Reminders: ...
    @property
    def cards(self) -> Cards: ...
    @property
    def boards(self) -> Boards: ...
    @property
    def pauses(self) -> Pauses: ...
    @property
    def resume_watchers(self) -> ResumeWatchers: ...


class Store(Protocol):
    """The database. No network call is ever made inside a transaction."""

    @property
    def one_at_a_time(self) -> bool:
        """Whether a transaction waits for the one before it."""
        ...

    def begin(self) -> AbstractAsyncContextManager[Transaction]:
        """One transaction: commit on a clean exit, roll back otherwise.

        Raises StoreUnavailable when the database cannot be read or written now.
        """
        ...
