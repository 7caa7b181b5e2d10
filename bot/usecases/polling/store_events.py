"""Stores the events of a log, and routes them once their walk is complete."""

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.domain.deliveries import Subject, SubjectKind
from bot.domain.errors import MergeQueueError
from bot.domain.event_log import Position
from bot.domain.event_records import EventRecord, PullRequestRecord, in_order
from bot.domain.event_types import ENTER, PAUSE_CREATE, PAUSE_UPDATE
from bot.domain.freezes import Freeze
from bot.domain.leases import Lease
from bot.domain.queue import Pause
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import NextDigest
from bot.metrics import UNSCRAPED, LogProblem, Metrics
from bot.ports import Clock, Wake
from bot.store.transactions import Store, Transaction
from bot.usecases.polling.poll import Poll
from bot.usecases.polling.poll_state import PollState, content, failure
from bot.usecases.routing.route_events import SLICE, Routed, RoutingContext, route_events
from bot.usecases.tasks import CONCURRENT_STORES, ConcurrencyLimit

logger = logging.getLogger(__name__)

PAUSE_STARTS = frozenset({PAUSE_CREATE, PAUSE_UPDATE})
LOGGED = 20
"""Ids in one line of the log at most."""


@dataclass(frozen=True, slots=True)
class StoreEvents:
    """Stores events and the next position in one transaction, under the lease of the poll.

    `overlap`: how far a walk reaches back for events that appear late.
    `storing`: limits concurrent transactions and raises LimitClosed when the process ends.
    Anything not stored is read again.
    """

    store: Store
    clock: Clock
    wake: Wake
    next_digest: NextDigest
    overlap: timedelta
    metrics: Metrics = UNSCRAPED
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
        if len(poll.state.held) >= SLICE:
            await self.store_held(poll)

    async def store_held(self, poll: Poll) -> None:
        """Store the events that are held, and the position behind them."""
        state, records = poll.state, poll.state.held
        if not records:
            return
        state.titles_wanted |= _enters(records)
        unrouted, state.unrouted = state.unrouted, None
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
        state.titles_wanted |= _enters(records)
        pull_requests = await self._queued(poll) if state.titles_wanted else []
        # Also route events of a pause that waited for an act to end.
        types = {record.type for record in (*(state.unrouted or ()), *records)}
        observed = await self._observed(poll, types)
        unrouted, state.unrouted, is_more = state.unrouted, None, True
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
            state.position, state.held = position, []
            records, pull_requests, unrouted = (), [], None
            state.grace_period, state.unrouted = routed.grace_period, routed.left
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
            logger.info("pause not read", extra=failure("pause_not_read", poll.repository, error))
            return None

    async def _queued(self, poll: Poll) -> list[PullRequestRecord]:
        """The queued pull requests, empty if the status can't be read.

        A post without a title is better than none. The next events try again.
        """
        try:
            status = await poll.status()
        except MergeQueueError as error:
            fields = failure("titles_not_read", poll.repository, error)
            logger.info("titles not read", extra=fields)
            poll.state.titles_wanted = True
            return []
        poll.state.titles_wanted = False
        name, now = poll.repository, self.clock.now()
        return [
            PullRequestRecord(name, one.number, one.title, one.url, one.author.login, now)
            for one in {one.number: one for one in status.queued}.values()
        ]


def _begin(
    transaction: Transaction,
    lease: Lease,
    now: datetime,
    position: Position,
    pull_requests: Sequence[PullRequestRecord],
    freezes: Sequence[Freeze],
) -> Position:
    transaction.leases.require(lease, now)
    # It exists if only the answer to its commit was lost; then its origin is the earlier one.
    stored = transaction.positions.load([position.repository])
    for one in freezes if not stored else ():
        transaction.freezes.save(one)
    position = stored.get(position.repository, position)
    transaction.positions.save(position)
    transaction.pull_requests.save(pull_requests)
    return position


def _keep(
    transaction: Transaction,
    lease: Lease,
    position: Position,
    records: Sequence[EventRecord],
    now: datetime,
) -> tuple[bool, Sequence[int]]:
    """Store events; return whether all are new, and the ids stored before with other content."""
    transaction.leases.require(lease, now)
    added = transaction.events.add_new(records)
    transaction.positions.save(position)
    if added == len(records):
        return True, []
    subjects = {Subject(SubjectKind.EVENT, one.repository, one.event_id): one for one in records}
    stored = transaction.events.get(list(subjects))
    differ = [one for key, one in subjects.items() if content(stored[key]) != content(one)]
    return False, [one.event_id for one in differ]


def _finish(
    transaction: Transaction,
    lease: Lease,
    position: Position,
    records: Sequence[EventRecord],
    pull_requests: Sequence[PullRequestRecord],
    context: RoutingContext,
) -> tuple[Sequence[int], Routed]:
    are_new, differ = _keep(transaction, lease, position, records, context.now)
    transaction.pull_requests.save(pull_requests)
    unrouted = _with(context.unrouted, records) if are_new else None
    return differ, route_events(transaction, position.repository, context, unrouted)


def _with(
    unrouted: Sequence[EventRecord] | None, records: Sequence[EventRecord]
) -> Sequence[EventRecord] | None:
    """All unrouted events in order; None if they are to be read, as when there are many."""
    if unrouted is None or len(unrouted) + len(records) > SLICE:
        return None
    return in_order([*unrouted, *records])


def _enters(records: Sequence[EventRecord]) -> bool:
    return any(record.type == ENTER for record in records)
