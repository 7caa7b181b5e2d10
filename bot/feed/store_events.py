"""Stores the events of a log, and routes them once their walk is complete."""

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.acts.causes import with_owner
from bot.channels.subscription import NextDigest
from bot.feed.poll import Poll
from bot.feed.poll_state import PollState, content, failure, level_of
from bot.feed.route_events import ROUTED_AT_ONCE, Routed, RoutingContext, route_events
from bot.freezes.freeze import Freeze
from bot.freezes.rows import Freezes
from bot.kernel.clock import Clock
from bot.kernel.errors import MergeQueueError
from bot.kernel.metrics import UNSCRAPED, LogProblem, Metrics
from bot.kernel.repository import RepositoryName
from bot.kernel.tasks import CONCURRENT_STORES, ConcurrencyLimit
from bot.log.classification import PAUSE_TYPES
from bot.log.position import Position
from bot.log.rows import Events, Positions, PullRequests
from bot.merge_queue.errors import CredentialRefused
from bot.merge_queue.event_records import EventRecord, PullRequestRecord, in_order
from bot.merge_queue.event_types import ENTER, PAUSE_CREATE, PAUSE_UPDATE
from bot.merge_queue.queue import Application, Pause
from bot.posts.delivery import Subject, SubjectKind
from bot.posts.events import events_about
from bot.posts.wake import Wake
from bot.store.coordination import Leases
from bot.store.lease_values import Lease
from bot.store.transaction import Transaction
from bot.store.transactions import Store

logger = logging.getLogger(__name__)

PAUSE_STARTS = frozenset({PAUSE_CREATE, PAUSE_UPDATE})
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

    async def begin(self, poll: Poll, position: Position, freezes: Sequence[Freeze]) -> None:
        """Store the starting position of a log that was never read, and the earlier freezes."""
        pull_requests = await self._queued(poll)
        async with self.storing.slot():
            poll.state.position = await self.store.run(
                _begin, poll.lease, self.clock.now(), position, pull_requests, freezes
            )

    async def go_on(self, poll: Poll, position: Position) -> None:
        """Continue a walk at `position`; what it read is stored once it fills a slice."""
        poll.state.position = position
        if len(poll.state.held) >= ROUTED_AT_ONCE:
            await self.store_held(poll)

    async def store_held(self, poll: Poll) -> None:
        """Store the events that are held, and the position behind them."""
        state = poll.state
        if not state.held:
            return
        records = await self._with_owner(poll, state.held)
        state.titles_wanted |= _enters(records)
        unrouted = state.unrouted
        state.unrouted = None
        async with self.storing.slot():
            are_new, differ = await self.store.run(
                _keep, poll.lease, state.known_position, records, self.clock.now()
            )
        state.unrouted = _with(unrouted, records) if are_new else None
        state.held = []
        self.report_duplicates(poll.repository, state, differ)

    async def finish(self, poll: Poll, position: Position) -> None:
        """Store the rest of a walk, and route all events that can be classified.

        A backlog is routed one transaction per slice.
        """
        state = poll.state
        records: Sequence[EventRecord] = state.held
        is_all_routed = state.unrouted is not None and not state.unrouted
        if not records and is_all_routed and position == state.known_position:
            return
        records = await self._with_owner(poll, records)
        state.titles_wanted |= _enters(records)
        pull_requests = await self._queued(poll) if state.titles_wanted else []
        # Also route events of a pause that waited for an act to end.
        types = {record.type for record in (*(state.unrouted or ()), *records)}
        observed = await self._observed(poll, types)
        unrouted = state.unrouted
        state.unrouted = None
        is_more = True
        while is_more:
            context = RoutingContext(
                self.next_digest,
                self.clock.now(),
                observed,
                state.grace_period,
                state.personal,
                state.clock_ahead or timedelta(),
                unrouted,
            )
            async with self.storing.slot():
                differ, routed = await self.store.run(
                    _finish, poll.lease, position, records, pull_requests, context
                )
            self.report_duplicates(position.repository, state, differ)
            state.position = position
            state.held = []
            records = ()
            pull_requests = []
            unrouted = None
            state.grace_period = routed.grace_period
            state.unrouted = routed.left
            is_more = routed.more
            if is_more or routed.added:
                self.wake()
        state.forget(self.overlap)

    def report(
        self, problem: LogProblem, repository: RepositoryName, sentence: str, **facts: object
    ) -> None:
        self.metrics.log_problems.labels(problem).inc()
        extra = {"action": problem.value, "repository": repository, **facts}
        logger.warning(sentence, extra=extra)

    def report_duplicates(
        self, repository: RepositoryName, state: PollState, event_ids: Collection[int]
    ) -> None:
        """Report each id once, because polls overlap."""
        new = set(event_ids) - state.duplicates
        state.duplicates |= new
        if new:
            self.report(
                LogProblem.DUPLICATE_ID,
                repository,
                "events have the ids of others and are left out",
                event_ids=sorted(new)[:LOGGED],
            )

    async def _observed(self, poll: Poll, types: Collection[str]) -> Pause | None:
        """Read the pause, because its event doesn't say whether a change made a new one."""
        if PAUSE_STARTS.isdisjoint(types):
            return None
        try:
            return await poll.pause()
        except MergeQueueError as error:
            extra = failure("pause_not_read", poll.repository, error)
            logger.log(level_of(error, logging.INFO), "pause not read", extra=extra)
            return None

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
                logger.log(level_of(error, logging.INFO), "credential not read", extra=extra)
        own = poll.state.application
        return [with_owner(event, own) if _may_be_ours(event) else event for event in records]

    async def _queued(self, poll: Poll) -> list[PullRequestRecord]:
        """The queued pull requests, empty if the status can't be read.

        A post without a title is better than none. The next events try again.
        """
        try:
            status = await poll.status()
        except MergeQueueError as error:
            fields = failure("titles_not_read", poll.repository, error)
            logger.log(level_of(error, logging.INFO), "titles not read", extra=fields)
            poll.state.titles_wanted = True
            return []
        poll.state.titles_wanted = False
        name = poll.repository
        now = self.clock.now()
        return [
            PullRequestRecord(
                name, queued.number, queued.title, queued.url, queued.author.login, now
            )
            for queued in {queued.number: queued for queued in status.queued}.values()
        ]


def _may_be_ours(record: EventRecord) -> bool:
    return record.type in PAUSE_TYPES and record.details.actor_type is not None


def _begin(
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
    for freeze in freezes if not stored else ():
        Freezes(transaction).save(freeze)
    position = stored.get(position.repository, position)
    Positions(transaction).save(position)
    PullRequests(transaction).save(pull_requests)
    return position


def _keep(
    transaction: Transaction,
    lease: Lease,
    position: Position,
    records: Sequence[EventRecord],
    now: datetime,
) -> tuple[bool, Sequence[int]]:
    """Store events; return whether all are new, and the ids stored before with other content."""
    Leases(transaction).require(lease, now)
    added = Events(transaction).add_new(records)
    Positions(transaction).save(position)
    if added == len(records):
        return True, []
    subjects = {
        Subject(SubjectKind.EVENT, record.repository, record.event_id): record for record in records
    }
    stored = events_about(transaction, list(subjects))
    differ = [event for key, event in subjects.items() if content(stored[key]) != content(event)]
    return False, [event.event_id for event in differ]


def _finish(
    transaction: Transaction,
    lease: Lease,
    position: Position,
    records: Sequence[EventRecord],
    pull_requests: Sequence[PullRequestRecord],
    context: RoutingContext,
) -> tuple[Sequence[int], Routed]:
    are_new, differ = _keep(transaction, lease, position, records, context.now)
    PullRequests(transaction).save(pull_requests)
    unrouted = _with(context.unrouted, records) if are_new else None
    return differ, route_events(transaction, position.repository, context, unrouted)


def _with(
    unrouted: Sequence[EventRecord] | None, records: Sequence[EventRecord]
) -> Sequence[EventRecord] | None:
    """All unrouted events in order; None if they are to be read, as when there are many."""
    if unrouted is None or len(unrouted) + len(records) > ROUTED_AT_ONCE:
        return None
    return in_order([*unrouted, *records])


def _enters(records: Sequence[EventRecord]) -> bool:
    return any(record.type == ENTER for record in records)
