"""Stores the events of a log, and routes them once their walk is complete."""

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import NamedTuple

from bot.acts.causes import with_owner
from bot.channels.subscription import NextDigest
from bot.feed.poll import Poll
from bot.feed.poll_state import failure, log_level_of
from bot.feed.read_events import ReadEvents, content
from bot.feed.route_events import ROUTED_AT_ONCE, Routed, RoutingContext, route_events
from bot.feed.route_pauses import ReadAfter
from bot.feed.route_subscribers import EDIT_DELAY
from bot.freezes.following import identify_freezes
from bot.freezes.freeze import Freeze, advanced
from bot.freezes.matching import only_listed
from bot.freezes.reading import listed_freezes
from bot.freezes.rows import Freezes
from bot.kernel.clock import Clock
from bot.kernel.errors import MergeQueueError
from bot.kernel.metrics import UNSCRAPED, LogProblem, Metrics
from bot.kernel.repository import RepositoryName
from bot.kernel.tasks import CONCURRENT_STORES, ConcurrencyLimit
from bot.log.classification import PAUSE_TYPES
from bot.log.position import Position
from bot.log.rows import Events, Positions, PullRequests
from bot.log.types import FREEZE_TYPES
from bot.merge_queue.errors import (
    CredentialRefused,
    FreezesNotOffered,
    MergeQueueUnavailable,
    PauseNotOffered,
)
from bot.merge_queue.event_records import EventRecord, PullRequestRecord, in_order
from bot.merge_queue.event_types import ENTER
from bot.merge_queue.port import FreezeSupport
from bot.merge_queue.queue import Application
from bot.pauses.known import StatusSays
from bot.pauses.readings import PauseReading
from bot.pauses.settling import status_says
from bot.posts.delivery import Subject, SubjectKind
from bot.posts.events import events_about
from bot.posts.wake import Wake
from bot.store.coordination import Leases
from bot.store.lease_values import Lease
from bot.store.transaction import Transaction
from bot.store.transactions import Store

logger = logging.getLogger(__name__)

LOGGED = 20
"""Ids in one line of the log at most."""


@dataclass(frozen=True, slots=True)
class StoreEvents:
    """Stores events and the next position in one transaction, under the lease of the poll."""

    store: Store
    clock: Clock
    wake: Wake
    next_digest: NextDigest
    overlap: timedelta  #: how far a walk reaches back for events that appear late
    metrics: Metrics = UNSCRAPED
    #: limits concurrent transactions and raises LimitClosed when the process ends. Anything not
    #: stored is read again.
    storing: ConcurrencyLimit = field(default_factory=lambda: ConcurrencyLimit(CONCURRENT_STORES))
    edit_delay: timedelta = EDIT_DELAY

    async def begin(self, poll: Poll, position: Position, freezes: Sequence[Freeze]) -> None:
        """Store the starting position of a log that was never read, and the earlier freezes."""
        pull_requests = await self._queued(poll)
        async with self.storing.slot():
            poll.state.reading.position = await self.store.run(
                _begin_log, poll.lease, self.clock.now(), position, pull_requests, freezes
            )

    async def continue_walk(self, poll: Poll, position: Position) -> None:
        """Continue a walk at `position`; what it read is stored once it fills a slice."""
        poll.state.reading.position = position
        if len(poll.state.events.unstored) >= ROUTED_AT_ONCE:
            await self.store_new(poll)

    async def store_new(self, poll: Poll) -> None:
        """Store the events read and not stored yet, and the position behind them."""
        events = poll.state.events
        if not events.unstored:
            return
        records = await self._with_owner(poll, events.unstored)
        if _enters(records):
            events.titles_wanted = True
        unrouted = events.unrouted
        # Unknown if the transaction fails.
        events.unrouted = None
        position = poll.state.reading.known_position
        async with self.storing.slot():
            stored = await self.store.run(_store, poll.lease, position, records, self.clock.now())
        if stored.are_all_new:
            events.unrouted = _with(unrouted, records)
        events.unstored = []
        self.report_duplicates(poll.repository, events, stored.duplicates)

    async def finish(self, poll: Poll, position: Position) -> None:
        """Store the rest of a walk, and route all events that can be classified.

        A backlog is routed one transaction per slice.
        """
        state = poll.state
        events = state.events
        records: Sequence[EventRecord] = events.unstored
        is_unmoved = position == state.reading.known_position
        if not records and events.are_all_routed and is_unmoved:
            return
        records = await self._with_owner(poll, records)
        if _enters(records):
            events.titles_wanted = True
        pull_requests = await self._queued(poll) if events.titles_wanted else []
        # Also route events of a pause that waited for an act to end.
        types = {record.type for record in (*(events.unrouted or ()), *records)}
        pause = await self._read_pause(poll, types)
        freezes = await self._freezes(poll, types)
        context = RoutingContext(
            self.next_digest,
            self.clock.now(),
            pause,
            freezes,
            events.grace_period,
            state.types.personal,
            state.reading.clock_ahead or timedelta(),
            events.unrouted,
            self.edit_delay,
        )
        # Unknown if the transaction fails.
        events.unrouted = None
        is_more = await self._finish(poll, position, records, pull_requests, context)
        while is_more:
            context = replace(
                context, now=self.clock.now(), grace_period=events.grace_period, unrouted=None
            )
            is_more = await self._finish(poll, position, (), (), context)
        events.forget(position.watermark, self.overlap)

    async def _finish(
        self,
        poll: Poll,
        position: Position,
        records: Sequence[EventRecord],
        pull_requests: Sequence[PullRequestRecord],
        context: RoutingContext,
    ) -> bool:
        """Store the events and route one slice; return whether more can be routed."""
        events = poll.state.events
        async with self.storing.slot():
            finished = await self.store.run(
                _finish, poll.lease, position, records, pull_requests, context
            )
        routed = finished.routed
        self.report_duplicates(position.repository, events, finished.duplicates)
        poll.state.reading.position = position
        events.unstored = []
        events.grace_period = routed.grace_period
        events.unrouted = routed.left
        if routed.more or routed.has_posts:
            self.wake()
        return routed.more

    def report(
        self, problem: LogProblem, repository: RepositoryName, sentence: str, **facts: object
    ) -> None:
        self.metrics.log_problems.labels(problem).inc()
        extra = {"action": problem.value, "repository": repository, **facts}
        logger.warning(sentence, extra=extra)

    def report_duplicates(
        self, repository: RepositoryName, events: ReadEvents, event_ids: Collection[int]
    ) -> None:
        """Report each id once, because polls overlap."""
        new = events.not_reported(event_ids)
        if new:
            self.report(
                LogProblem.DUPLICATE_ID,
                repository,
                "events with repeated ids were left out",
                event_ids=sorted(new)[:LOGGED],
            )

    async def _read_pause(self, poll: Poll, types: Collection[str]) -> ReadAfter:
        """Read the pause, because the log tells who, and when, but not what is in force."""
        if PAUSE_TYPES.isdisjoint(types):
            return ReadAfter()
        try:
            pause = await poll.pause()
            status = StatusSays.NOTHING
            if pause is None:
                status = status_says(await poll.status())
        except PauseNotOffered:
            return ReadAfter(is_offered=False)
        except MergeQueueError as error:
            extra = failure("pause_not_read", poll.repository, error)
            logger.log(log_level_of(error, logging.INFO), "pause not read", extra=extra)
            poll.state.events.pause_wanted = True
            return ReadAfter()
        reading = PauseReading(pause, poll.requests.merge_queue.service_time, status)
        return ReadAfter(reading, poll.revision)

    async def _freezes(self, poll: Poll, types: set[str]) -> Sequence[Freeze] | None:
        """Read the freezes, because their events carry no ids; None where that isn't possible."""
        events = poll.state.events
        is_wanted = events.freezes_wanted and _may_offer_freezes(poll)
        if not is_wanted and types.isdisjoint(FREEZE_TYPES):
            return None
        return await self.listed_freezes(poll)

    async def listed_freezes(self, poll: Poll) -> Sequence[Freeze] | None:
        """The service's freezes; None if it has no such list, or it can't be read.

        Then the next events try again.
        """
        events = poll.state.events
        events.freezes_wanted = False
        try:
            async with poll.requests.next() as service:
                reading = await listed_freezes(service, poll.repository)
        except MergeQueueError as error:
            if not isinstance(error, FreezesNotOffered):
                extra = failure("freezes_not_read", poll.repository, error)
                logger.log(log_level_of(error, logging.INFO), "freezes not read", extra=extra)
            events.freezes_wanted = True
            is_beginning = poll.state.reading.position is None
            # A gateway may have answered that there are no freezes.
            is_temporary = isinstance(error, MergeQueueUnavailable | FreezesNotOffered)
            lacks_listed = is_beginning or events.lacks_listed_freezes
            events.lacks_listed_freezes = lacks_listed and is_temporary
            return None
        return reading.freezes

    async def add_listed_freezes(self, poll: Poll) -> None:
        """Store the freezes that only the list shows, where it was unavailable at the beginning.

        Not while events wait to be routed: they may tell of those freezes.
        """
        events = poll.state.events
        if not events.lacks_listed_freezes or not events.are_all_routed:
            return
        if not _may_offer_freezes(poll):
            return
        listed = await self.listed_freezes(poll)
        if listed is None:
            return
        position = poll.state.reading.known_position
        async with self.storing.slot():
            await self.store.run(_add_listed, poll.lease, position, listed, self.clock.now())
        events.lacks_listed_freezes = False

    async def _with_owner(
        self, poll: Poll, records: Sequence[EventRecord]
    ) -> Sequence[EventRecord]:
        """The events, with those marked that pause or resume the queue through the bot."""
        if not any(_may_be_ours(record) for record in records):
            return records
        if poll.state.application is None:
            try:
                poll.state.application = await poll.application()
            except CredentialRefused:
                # A personal access token has no application.
                poll.state.application = Application()
            except MergeQueueError as error:
                extra = failure("credential_not_read", poll.repository, error)
                logger.log(log_level_of(error, logging.INFO), "credential not read", extra=extra)
        own = poll.state.application
        return [with_owner(event, own) if _may_be_ours(event) else event for event in records]

    async def _queued(self, poll: Poll) -> list[PullRequestRecord]:
        """The queued pull requests, empty if the status can't be read.

        A post without a title is better than none. The next events try again.
        """
        events = poll.state.events
        try:
            status = await poll.status()
        except MergeQueueError as error:
            fields = failure("titles_not_read", poll.repository, error)
            logger.log(log_level_of(error, logging.INFO), "titles not read", extra=fields)
            events.titles_wanted = True
            return []
        events.titles_wanted = False
        name = poll.repository
        now = self.clock.now()
        by_number = {queued.number: queued for queued in status.queued}
        return [
            PullRequestRecord(
                name, queued.number, queued.title, queued.url, queued.author.login, now
            )
            for queued in by_number.values()
        ]


def _may_be_ours(record: EventRecord) -> bool:
    return record.type in PAUSE_TYPES and record.details.actor_type is not None


def _begin_log(
    transaction: Transaction,
    lease: Lease,
    now: datetime,
    position: Position,
    pull_requests: Sequence[PullRequestRecord],
    freezes: Sequence[Freeze],
) -> Position:
    Leases(transaction).require(lease, now)
    # It exists if only the answer to its commit was lost; then its origin is the earlier one.
    stored = Positions(transaction).load([position.repository])
    if not stored:
        for freeze in freezes:
            Freezes(transaction).save(freeze)
    position = stored.get(position.repository, position)
    Positions(transaction).save(position)
    PullRequests(transaction).save(pull_requests)
    return position


def _add_listed(
    transaction: Transaction,
    lease: Lease,
    position: Position,
    listed: Sequence[Freeze],
    now: datetime,
) -> None:
    Leases(transaction).require(lease, now)
    identify_freezes(transaction, position.repository, listed, now)
    known = Freezes(transaction).locked(position.repository)
    for freeze in only_listed(known, listed, position.origin):
        Freezes(transaction).save(advanced(freeze, position.origin))


class StoreResult(NamedTuple):
    """What became of events that were to be stored."""

    are_all_new: bool
    duplicates: Sequence[int]  #: ids that were stored before with other content


def _store(
    transaction: Transaction,
    lease: Lease,
    position: Position,
    records: Sequence[EventRecord],
    now: datetime,
) -> StoreResult:
    """Store events and the position behind them."""
    Leases(transaction).require(lease, now)
    added = Events(transaction).add_new(records)
    Positions(transaction).save(position)
    if added == len(records):
        return StoreResult(are_all_new=True, duplicates=[])
    subjects = {
        Subject(SubjectKind.EVENT, record.repository, record.event_id): record for record in records
    }
    stored = events_about(transaction, list(subjects))
    duplicates = [
        event.event_id
        for subject, event in subjects.items()
        if content(stored[subject]) != content(event)
    ]
    return StoreResult(are_all_new=False, duplicates=duplicates)


class Finished(NamedTuple):
    """The end of a walk, or one slice of its routing."""

    duplicates: Sequence[int]  #: ids that were stored before with other content
    routed: Routed


def _finish(
    transaction: Transaction,
    lease: Lease,
    position: Position,
    records: Sequence[EventRecord],
    pull_requests: Sequence[PullRequestRecord],
    context: RoutingContext,
) -> Finished:
    stored = _store(transaction, lease, position, records, context.now)
    PullRequests(transaction).save(pull_requests)
    unrouted = _with(context.unrouted, records) if stored.are_all_new else None
    context = replace(context, unrouted=unrouted)
    routed = route_events(transaction, position.repository, context)
    return Finished(stored.duplicates, routed)


def _with(
    unrouted: Sequence[EventRecord] | None, records: Sequence[EventRecord]
) -> Sequence[EventRecord] | None:
    """All unrouted events in order; None if they are to be read, as when there are many."""
    if unrouted is None or len(unrouted) + len(records) > ROUTED_AT_ONCE:
        return None
    return in_order([*unrouted, *records])


def _may_offer_freezes(poll: Poll) -> bool:
    return poll.requests.merge_queue.freeze_support is not FreezeSupport.NOT_OFFERED


def _enters(records: Sequence[EventRecord]) -> bool:
    return any(record.type == ENTER for record in records)
