"""What the use cases need of the database: one transaction and its parts."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from bot.ports.audit import Audit
from bot.ports.boards import Boards
from bot.ports.groups import GroupActs
from bot.ports.kept_true import Cards, Pauses, ResumeWatchers
from bot.ports.log import (
    Bisections,
    Events,
    Polls,
    Positions,
    PullRequests,
    Stalenesses,
    Stays,
)
from bot.ports.outbox import Outbox
from bot.ports.people import Accounts, Notices
from bot.ports.queue_condition import QueueCondition
from bot.ports.reminders import Reminders
from bot.ports.slack_limits import SlackLimits
from bot.ports.subscriptions import ChannelDefaults, Subscriptions
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
    def queue_condition(self) -> QueueCondition: ...
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

    async def prune(self, before: datetime) -> Mapping[str, int]:
        """Delete a slice of what is older and that nothing refers to; how many rows, by table."""
        ...

    async def rename_channel(self, old: str, new: str) -> bool:
        """Move all that is kept for a channel to its new id; what is there already stays.

        False while a post is being sent to the old id: then nothing is changed.
        """
        ...


class Store(Protocol):
    """The database. No network call is ever made inside a transaction."""

    def begin(self) -> AbstractAsyncContextManager[Transaction]:
        """One transaction: commit on a clean exit, roll back otherwise.

        Raises StoreUnavailable when the database cannot be read or written now.
        """
        ...
