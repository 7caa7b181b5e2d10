"""InMemoryStore: the Store port in dictionaries."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from typing_extensions import override

from bot import ports
from bot.domain.alerts import Alert
from bot.domain.audit import AuditRecord
from bot.domain.bisections import Bisection
from bot.domain.boards import Board, Sight
from bot.domain.cards import Card, CardKind
from bot.domain.deliveries import Delivery, DeliveryState, Subject, SubjectKind
from bot.domain.errors import LeaseLost, StoreUnavailable
from bot.domain.event_log import LastPoll, Position
from bot.domain.event_records import EventRecord, PullRequestRecord
from bot.domain.group_acts import GroupAct, HeldPause
from bot.domain.notices import Notice
from bot.domain.pause_records import PauseRecord
from bot.domain.queue_condition import FailureStreak
from bot.domain.reminders import ReminderPlan
from bot.domain.repository import RepositoryName
from bot.domain.staleness import Staleness
from bot.domain.stays import Stay
from bot.domain.subscriptions import Subscription, SubscriptionSource
from bot.domain.timers import Timer
from bot.ports import Lease, ParkedChannel
from tests.support.as_stored import as_stored
from tests.support.store_asides import (
    InMemoryAccounts,
    InMemoryBisections,
    InMemoryChannelDefaults,
    InMemoryPolls,
    InMemoryReminders,
    InMemoryStalenesses,
    InMemoryStays,
    InMemoryTimers,
)
from tests.support.store_audit import InMemoryAudit
from tests.support.store_boards import InMemoryBoards
from tests.support.store_groups import InMemoryGroupActs
from tests.support.store_kept_true import InMemoryCards, InMemoryPauses, InMemoryResumeWatchers
from tests.support.store_notices import InMemoryNotices
from tests.support.store_outbox import InMemoryOutbox, Line
from tests.support.store_queue_condition import InMemoryQueueCondition
from tests.support.store_slack_limits import InMemorySlackLimits
from tests.support.store_workers import InMemoryWorkers

PRUNE_SLICE = 1000
REREAD_MARGIN = timedelta(days=1)
LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass
class Contents:
    """Everything kept. The values are frozen, so a copy of the dictionaries is a snapshot."""

    leases: dict[str, Lease] = field(default_factory=dict)
    positions: dict[RepositoryName, Position] = field(default_factory=dict)
    events: dict[Subject, EventRecord] = field(default_factory=dict)
    routed: dict[Subject, bool] = field(default_factory=dict)
    pull_requests: dict[tuple[RepositoryName, int], PullRequestRecord] = field(default_factory=dict)
    deliveries: dict[str, Delivery] = field(default_factory=dict)
    next_sequences: dict[Line, int] = field(default_factory=dict)
    told_by: dict[str, str] = field(default_factory=dict)
    parked: dict[str, ParkedChannel] = field(default_factory=dict)
    subscriptions: dict[tuple[str, str, str], Subscription] = field(default_factory=dict)
    audit: dict[int, AuditRecord] = field(default_factory=dict)
    seen_requests: dict[str, datetime] = field(default_factory=dict)
    cards: dict[int, Card] = field(default_factory=dict)
    cards_changed_at: dict[int, datetime] = field(default_factory=dict)
    boards: dict[int, Board] = field(default_factory=dict)
    board_sights: dict[RepositoryName, Sight] = field(default_factory=dict)
    pauses: dict[int, PauseRecord] = field(default_factory=dict)
    resume_watchers: dict[tuple[int, str], None] = field(default_factory=dict)
    polls: dict[RepositoryName, LastPoll] = field(default_factory=dict)
    workers: dict[str, datetime] = field(default_factory=dict)
    clock_jumps: dict[datetime, timedelta] = field(default_factory=dict)
    slack_limits: dict[str, float] = field(default_factory=dict)
    accounts: dict[str, str] = field(default_factory=dict)
    notices: dict[tuple[str, Notice], bool] = field(default_factory=dict)
    channel_defaults: dict[str, RepositoryName] = field(default_factory=dict)
    stays: dict[tuple[str, str], Stay] = field(default_factory=dict)
    bisections: dict[tuple[str, str], Bisection] = field(default_factory=dict)
    stalenesses: dict[int, Staleness] = field(default_factory=dict)
    alerts: dict[int, Alert] = field(default_factory=dict)
    failure_streaks: dict[RepositoryName, FailureStreak] = field(default_factory=dict)
    group_acts: dict[int, GroupAct] = field(default_factory=dict)
    group_pauses: dict[tuple[str, str], HeldPause] = field(default_factory=dict)
    timers: dict[tuple[RepositoryName, datetime], Timer] = field(default_factory=dict)
    reminders: dict[int, ReminderPlan] = field(default_factory=dict)

    def group_acts_referred_to(self) -> set[int]:
        """By what is told or shown of them."""
        cards = {
            int(one.name.key) for one in self.cards.values() if one.name.kind is CardKind.GROUP
        }
        unsettled = {
            one.subject.subject_id
            for one in self.deliveries.values()
            if one.subject.kind is SubjectKind.GROUP and not one.state.is_settled
        }
        return cards | unsettled | {one.group_act_id for one in self.pauses.values()}

    def snapshot(self) -> "Contents":
        # Without __init__, which made it the slowest part of tests with thousands of transactions.
        copied = object.__new__(Contents)
        vars(copied).update({name: kept.copy() for name, kept in vars(self).items()})
        return copied


class InMemoryDatabase:
    """What several stores share."""

    def __init__(self) -> None:
        self.contents = Contents()
        self.turn = asyncio.Lock()


class InMemoryStore(ports.Store):
    """A store without a database; `unavailable`, when set, is why the next begin fails."""

    def __init__(self, database: InMemoryDatabase | None = None) -> None:
        self.database = database or InMemoryDatabase()
        self.unavailable: str | None = None
        self.transactions = 0
        self._inside: set[asyncio.Task[object] | None] = set()

    @property
    @override
    def one_at_a_time(self) -> bool:
        return True

    @override
    @asynccontextmanager
    async def begin(self) -> AsyncIterator["InMemoryTransaction"]:
        task = asyncio.current_task()
        if task in self._inside:
            raise RuntimeError("a task has one transaction at a time")
        if self.unavailable is not None:
            raise StoreUnavailable(self.unavailable)
        self._inside.add(task)
        try:
            async with self.database.turn:
                contents = self.database.contents.snapshot()
                yield InMemoryTransaction(contents)
                self.database.contents = contents
                self.transactions += 1
        finally:
            self._inside.discard(task)


def renamed(contents: Contents, old: str, new: str) -> bool:
    """What `Transaction.rename_channel` does."""
    deliveries, lines = contents.deliveries, contents.next_sequences
    moving = [one for one in deliveries.values() if one.channel_id == old]
    if any(one.state is DeliveryState.SENDING for one in moving):
        return False
    for one in moving:
        shift = lines.get((new, one.urgent, one.digest), 1)
        deliveries[one.delivery_id] = replace(one, sequence=one.sequence + shift)
    for line in [line for line in lines if line[0] == old]:
        lines[new, *line[1:]] = lines.get((new, *line[1:]), 1) + lines[line]
    _move(deliveries, old, new, lambda one: one.subject)
    _move(contents.boards, old, new, lambda one: one.repository)
    _move(contents.cards, old, new, lambda one: (one.name, one.generation))
    _move(contents.timers, old, new, lambda one: (one.repository, one.paused_at))
    _move(contents.group_acts, old, new, lambda one: one.group_act_id)
    _move(contents.subscriptions, old, new, lambda one: (one.repository, one.source))
    for key in [key for key in contents.subscriptions if key[0] == old]:
        contents.subscriptions[new, *key[1:]] = contents.subscriptions.pop(key)
    if old in contents.channel_defaults:
        contents.channel_defaults.setdefault(new, contents.channel_defaults.pop(old))
    return True


def _move(kept: dict[Any, Any], old: str, new: str, same: Callable[[Any], object]) -> None:
    """What is the `same` as something that the new id has already goes."""
    there = {same(one) for one in kept.values() if one.channel_id == new}
    for key, one in list(kept.items()):
        if one.channel_id == old and same(one) in there:
            del kept[key]
        elif one.channel_id == old:
            kept[key] = replace(one, channel_id=new)


class InMemoryLeases(ports.Leases):
    def __init__(self, contents: Contents) -> None:
        self._leases = contents.leases

    @override
    async def claim(
        self, names: Sequence[str], *, holder: str, now: datetime, lifetime: timedelta
    ) -> Mapping[str, Lease]:
        claimed: dict[str, Lease] = {}
        for name in names:
            held = self._leases.get(name)
            token = 1
            if held is not None:
                in_force = held.expires_at > now
                if in_force and held.holder != holder:
                    continue
                token = held.token if in_force else held.token + 1
            claimed[name] = Lease(name, holder, token, now + lifetime)
        self._leases.update(claimed)
        return claimed

    @override
    async def require(self, lease: Lease, now: datetime) -> None:
        held = self._leases.get(lease.name)
        if (
            held is None
            or (held.holder, held.token) != (lease.holder, lease.token)
            or held.expires_at <= now
        ):
            raise LeaseLost(lease.name)

    @override
    async def release(self, leases: Sequence[Lease]) -> None:
        for lease in leases:
            held = self._leases.get(lease.name)
            if held is not None and held.token == lease.token:
                self._leases[lease.name] = replace(held, expires_at=LONG_AGO)


class InMemoryPositions(ports.Positions):
    def __init__(self, contents: Contents) -> None:
        self._positions = contents.positions

    @override
    async def load(
        self, repositories: Sequence[RepositoryName]
    ) -> Mapping[RepositoryName, Position]:
        return {each: self._positions[each] for each in repositories if each in self._positions}

    @override
    async def save(self, position: Position) -> None:
        self._positions[position.repository] = as_stored(position)


class InMemoryEvents(ports.Events):
    def __init__(self, contents: Contents) -> None:
        self._contents = contents

    @override
    async def add_new(self, records: Sequence[EventRecord], *, routed: bool = False) -> int:
        before = len(self._contents.events)
        for record in records:
            subject = Subject(SubjectKind.EVENT, record.repository, record.event_id)
            self._contents.events.setdefault(subject, as_stored(record))
            self._contents.routed.setdefault(subject, routed)
        return len(self._contents.events) - before

    @override
    async def any_between(self, repository: RepositoryName, first_id: int, last_id: int) -> bool:
        return any(
            subject.repository == repository and first_id <= subject.subject_id <= last_id
            for subject in self._contents.events
        )

    @override
    async def unrouted(
        self, repository: RepositoryName, limit: int | None = None
    ) -> Sequence[EventRecord]:
        found = [
            record
            for subject, record in self._contents.events.items()
            if record.repository == repository and not self._contents.routed[subject]
        ]
        return sorted(found, key=lambda record: (record.received_at, record.event_id))[:limit]

    @override
    async def with_unrouted(
        self, repositories: Collection[RepositoryName]
    ) -> Collection[RepositoryName]:
        contents = self._contents
        found = {one.repository for key, one in contents.events.items() if not contents.routed[key]}
        return found & set(repositories)

    @override
    async def mark_routed(self, repository: RepositoryName, event_ids: Sequence[int]) -> None:
        self._mark(repository, event_ids, routed=True)

    @override
    async def mark_unrouted(self, repository: RepositoryName, event_ids: Sequence[int]) -> None:
        self._mark(repository, event_ids, routed=False)

    def _mark(self, repository: RepositoryName, event_ids: Sequence[int], *, routed: bool) -> None:
        for event_id in event_ids:
            subject = Subject(SubjectKind.EVENT, repository, event_id)
            if subject in self._contents.routed:
                self._contents.routed[subject] = routed

    @override
    async def of_pull_requests(
        self,
        repository: RepositoryName,
        numbers: Collection[int],
        *,
        since: datetime,
        limit: int = 1000,
    ) -> Sequence[EventRecord]:
        found = [
            record
            for record in self._contents.events.values()
            if record.repository == repository
            and record.pull_request in numbers
            and record.received_at >= since
        ]
        found.sort(key=lambda record: (record.received_at, record.event_id))
        return found[-limit:] if limit else []

    @override
    async def get(self, subjects: Sequence[Subject]) -> Mapping[Subject, EventRecord]:
        return {
            subject: self._contents.events[subject]
            for subject in subjects
            if subject in self._contents.events
        }

    @override
    async def delete_before(self, received_before: datetime) -> int:
        referred_to = {
            delivery.subject
            for delivery in self._contents.deliveries.values()
            if not delivery.state.is_settled
        }
        old = [
            subject
            for subject, record in self._contents.events.items()
            if record.received_at < received_before
            and self._contents.routed[subject]
            and subject not in referred_to
            and not self._is_read_again(record)
        ]
        old.sort(key=lambda subject: self._contents.events[subject].received_at)
        for subject in old[:PRUNE_SLICE]:
            del self._contents.events[subject]
            del self._contents.routed[subject]
        return len(old[:PRUNE_SLICE])

    def _is_read_again(self, record: EventRecord) -> bool:
        position = self._contents.positions.get(record.repository)
        return position is not None and record.received_at >= position.watermark - REREAD_MARGIN


class InMemoryPullRequests(ports.PullRequests):
    def __init__(self, contents: Contents) -> None:
        self._kept = contents.pull_requests

    @override
    async def save(self, records: Sequence[PullRequestRecord]) -> None:
        for record in records:
            key = (record.repository, record.number)
            if key not in self._kept or self._kept[key].seen_at <= record.seen_at:
                self._kept[key] = as_stored(record)

    @override
    async def get(
        self, repository: RepositoryName, numbers: Collection[int]
    ) -> Mapping[int, PullRequestRecord]:
        return {
            number: self._kept[repository, number]
            for number in numbers
            if (repository, number) in self._kept
        }

    @override
    async def repositories_of(
        self, authors: Collection[str], seen_since: datetime
    ) -> Sequence[RepositoryName]:
        wanted = {one.lower() for one in authors}
        latest: dict[RepositoryName, datetime] = {}
        for (repository, _), one in self._kept.items():
            if one.seen_at >= seen_since and one.author.lower() in wanted:
                latest[repository] = max(one.seen_at, latest.get(repository, one.seen_at))
        return sorted(sorted(latest), key=lambda name: latest[name], reverse=True)

    @override
    async def last_seen(self, repository: RepositoryName) -> PullRequestRecord | None:
        own = [one for one in self._kept.values() if one.repository == repository]
        found = own or list(self._kept.values())
        return max(found, key=lambda one: (one.seen_at, one.number), default=None)

    @override
    async def delete_before(self, seen_before: datetime) -> int:
        old = [key for key, record in self._kept.items() if record.seen_at < seen_before]
        old.sort(key=lambda key: self._kept[key].seen_at)
        for key in old[:PRUNE_SLICE]:
            del self._kept[key]
        return len(old[:PRUNE_SLICE])


class InMemorySubscriptions(ports.Subscriptions):
    def __init__(self, contents: Contents) -> None:
        self._kept = contents.subscriptions

    @override
    async def save(self, subscription: Subscription) -> None:
        key = (subscription.channel_id, subscription.repository, subscription.source)
        self._kept[key] = as_stored(subscription)

    @override
    async def delete(self, channel_id: str, repository: RepositoryName) -> bool:
        key = (channel_id, repository, SubscriptionSource.COMMAND)
        return self._kept.pop(key, None) is not None

    @override
    async def of_channel(self, channel_id: str) -> Sequence[Subscription]:
        return [self._kept[key] for key in sorted(self._kept) if key[0] == channel_id]

    @override
    async def hold(self, channel_id: str) -> None:
        """One transaction at a time, as everywhere in this store."""

    @override
    async def of_repository(self, repository: RepositoryName) -> Sequence[Subscription]:
        return [self._kept[key] for key in sorted(self._kept) if key[1] == repository]

    @override
    async def of_repositories(
        self, repositories: Collection[RepositoryName]
    ) -> Mapping[RepositoryName, Sequence[Subscription]]:
        found = {name: await self.of_repository(name) for name in repositories}
        return {name: some for name, some in found.items() if some}

    @override
    async def all(self, limit: int) -> Sequence[Subscription]:
        ordered = sorted(self._kept, key=lambda key: (key[1], key[0], key[2]))
        return [self._kept[key] for key in ordered[:limit]]

    @override
    async def replace_configured(
        self, subscriptions: Sequence[Subscription]
    ) -> Sequence[Subscription]:
        if any(s.source is not SubscriptionSource.CONFIGURATION for s in subscriptions):
            raise ValueError("only configured subscriptions replace the configured ones")
        configured = [key for key in self._kept if key[2] == SubscriptionSource.CONFIGURATION]
        before = {key: self._kept.pop(key) for key in configured}
        for subscription in subscriptions:
            await self.save(subscription)
        return [before[key] for key in sorted(before) if key not in self._kept]


class InMemorySeenRequests(ports.SeenRequests):
    def __init__(self, contents: Contents) -> None:
        self._until = contents.seen_requests

    @override
    async def add(self, key: str, *, now: datetime, until: datetime) -> bool:
        is_new = key not in self._until
        self._until.setdefault(key, as_stored(until))
        for past in [each for each, end in self._until.items() if end < now]:
            del self._until[past]
        return is_new


class InMemoryTransaction(ports.Transaction):
    def __init__(self, contents: Contents) -> None:
        self._leases = InMemoryLeases(contents)
        self._positions = InMemoryPositions(contents)
        self._events = InMemoryEvents(contents)
        self._pull_requests = InMemoryPullRequests(contents)
        self._stays = InMemoryStays(contents.stays)
        self._bisections = InMemoryBisections(contents.bisections)
        self._stalenesses = InMemoryStalenesses(contents.stalenesses)
        self._queue_condition = InMemoryQueueCondition(contents.alerts, contents.failure_streaks)
        self._outbox = InMemoryOutbox(
            contents.deliveries, contents.next_sequences, contents.told_by, contents.parked
        )
        self._subscriptions = InMemorySubscriptions(contents)
        self._audit = InMemoryAudit(contents.audit)
        self._seen_requests = InMemorySeenRequests(contents)
        self._cards = InMemoryCards(
            contents.cards, contents.cards_changed_at, contents.deliveries, contents.told_by
        )
        self._boards = InMemoryBoards(contents.boards, contents.board_sights)
        self._pauses = InMemoryPauses(contents.pauses, contents.cards, contents.resume_watchers)
        self._resume_watchers = InMemoryResumeWatchers(contents.resume_watchers, contents.pauses)
        self._group_acts = InMemoryGroupActs(
            contents.group_acts, contents.group_pauses, contents.group_acts_referred_to
        )
        self._polls = InMemoryPolls(contents.polls)
        self._workers = InMemoryWorkers(contents.workers, contents.leases, contents.clock_jumps)
        self._slack_limits = InMemorySlackLimits(contents.slack_limits)
        self._accounts = InMemoryAccounts(contents.accounts)
        self._notices = InMemoryNotices(contents.notices, contents.accounts)
        self._channel_defaults = InMemoryChannelDefaults(contents.channel_defaults)
        self._timers = InMemoryTimers(contents.timers)
        self._reminders = InMemoryReminders(contents.reminders, contents.pauses)
        self._contents = contents

    @override
    async def rename_channel(self, old: str, new: str) -> bool:
        return renamed(self._contents, old, new)

    @property
    @override
    def leases(self) -> InMemoryLeases:
        return self._leases

    @property
    @override
    def positions(self) -> InMemoryPositions:
        return self._positions

    @property
    @override
    def events(self) -> InMemoryEvents:
        return self._events

    @property
    @override
    def pull_requests(self) -> InMemoryPullRequests:
        return self._pull_requests

    @property
    @override
    def outbox(self) -> InMemoryOutbox:
        return self._outbox

    @property
    @override
    def subscriptions(self) -> InMemorySubscriptions:
        return self._subscriptions

    @property
    @override
    def audit(self) -> InMemoryAudit:
        return self._audit

    @property
    @override
    def seen_requests(self) -> InMemorySeenRequests:
        return self._seen_requests

    @property
    @override
    def cards(self) -> InMemoryCards:
        return self._cards

    @property
    @override
    def boards(self) -> InMemoryBoards:
        return self._boards

    @property
    @override
    def pauses(self) -> InMemoryPauses:
        return self._pauses

    @property
    @override
    def resume_watchers(self) -> InMemoryResumeWatchers:
        return self._resume_watchers

    @property
    @override
    def polls(self) -> InMemoryPolls:
        return self._polls

    @property
    @override
    def workers(self) -> InMemoryWorkers:
        return self._workers

    @property
    @override
    def slack_limits(self) -> InMemorySlackLimits:
        return self._slack_limits

    @property
    @override
    def stalenesses(self) -> InMemoryStalenesses:
        return self._stalenesses

    @property
    @override
    def queue_condition(self) -> InMemoryQueueCondition:
        return self._queue_condition

    @property
    @override
    def stays(self) -> InMemoryStays:
        return self._stays

    @property
    @override
    def bisections(self) -> InMemoryBisections:
        return self._bisections

    @property
    @override
    def accounts(self) -> InMemoryAccounts:
        return self._accounts

    @property
    @override
    def notices(self) -> InMemoryNotices:
        return self._notices

    @property
    @override
    def channel_defaults(self) -> InMemoryChannelDefaults:
        return self._channel_defaults

    @property
    @override
    def group_acts(self) -> InMemoryGroupActs:
        return self._group_acts

    @property
    @override
    def timers(self) -> InMemoryTimers:
        return self._timers

    @property
    @override
    def reminders(self) -> InMemoryReminders:
        return self._reminders
