"""Stores the events of a log, and routes them once their walk is complete."""

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.deliveries import Subject, SubjectKind
from bot.domain.errors import MergeQueueError
from bot.domain.event_log import Position
from bot.domain.event_records import EventRecord, PullRequestRecord
from bot.domain.event_types import ENTER, PAUSE_CREATE, PAUSE_UPDATE
from bot.domain.freezes import Freeze
from bot.domain.leases import Lease
from bot.domain.queue import Pause
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import NextDigest
from bot.ports import Clock, LogProblem, Measures, Wake
from bot.store.transactions import Store, Transaction
from bot.usecases.polling.poll_state import Poll, PollState, content
from bot.usecases.polling.queue_reading import QueueReading
from bot.usecases.routing.route_events import Routed, RoutingContext, route_events
from bot.usecases.tasks import ConcurrencyLimit

logger = logging.getLogger(__name__)

PAUSE_STARTS = frozenset({PAUSE_CREATE, PAUSE_UPDATE})
LOGGED = 20
"""Ids in one line of the log at most."""


@dataclass(frozen=True, slots=True)
class _Read:
    """New events read under `lease`, and the position to continue from."""

    lease: Lease
    position: Position
    records: Sequence[EventRecord]


@dataclass(frozen=True, slots=True)
class StoreEvents:
    """Stores events and the next position in one transaction, under the lease of the poll.

    `overlap`: how much of the log the next walk shows again.
    `storing`: limits concurrent transactions and raises LimitClosed when the process ends.
    Anything not stored is read again.
    """

    store: Store
    clock: Clock
    wake: Wake
    next_digest: NextDigest
    overlap: timedelta
    storing: ConcurrencyLimit
    measures: Measures

    async def begin(self, poll: Poll, position: Position, freezes: Sequence[Freeze]) -> None:
        """Store the starting position of a log that was never read, and the earlier freezes."""
        pull_requests = await self._queued(poll)
        async with self.storing.slot():
            poll.state.position = await self.store.run(
                _begin, poll.lease, self.clock.now(), position, pull_requests, freezes
            )

    async def go_on(self, poll: Poll, position: Position, records: Sequence[EventRecord]) -> None:
        """Store a part of a walk; `position` is where it continues."""
        state = poll.state
        state.titles_wanted |= _enters(records)
        state.unrouted = None
        async with self.storing.slot():
            read = _Read(poll.lease, position, records)
            differ = await self.store.run(_keep, read, self.clock.now())
        self._remember(state, position, records, differ)

    async def finish(self, poll: Poll, position: Position, records: Sequence[EventRecord]) -> None:
        """Store the rest of a walk, and route all events that can be classified."""
        state = poll.state
        if not records and state.is_all_routed and position == state.known_position:
            return
        pull_requests = await self._pull_requests(poll, records)
        # Also route events of a pause that waited for an act to end.
        types = {*(state.unrouted or ()), *(record.type for record in records)}
        observed = await self._observed(poll.queue, types)
        state.unrouted = None
        async with self.storing.slot():
            read, context = _Read(poll.lease, position, records), self._context(state, observed)
            differ, routed = await self.store.run(
                _finish, read, pull_requests, context, self.clock.now()
            )
        self._remember(state, position, records, differ)
        await self._route_rest(poll, routed)

    async def _route_rest(self, poll: Poll, routed: Routed) -> None:
        """Route the rest of a backlog, one transaction per slice."""
        state = poll.state
        state.grace_period = routed.grace_period
        while routed.more:
            self.wake()
            async with self.storing.slot():
                routed = await self.store.run(
                    _route, poll.repository, poll.lease, self._context(state), self.clock.now()
                )
            state.grace_period = routed.grace_period
        state.unrouted = routed.left
        if routed.added:
            self.wake()

    def _context(self, state: PollState, observed: Pause | None = None) -> RoutingContext:
        ahead = state.clock_ahead or timedelta()
        return RoutingContext(self.next_digest, observed, state.grace_period, state.personal, ahead)

    def _remember(
        self,
        state: PollState,
        position: Position,
        records: Sequence[EventRecord],
        differ: Sequence[int],
    ) -> None:
        report_duplicates(self.measures, position.repository, state, differ)
        state.position = position
        state.remember(records, self.overlap)

    async def _observed(self, queue: QueueReading, types: Collection[str]) -> Pause | None:
        """Read the pause, because its event doesn't say whether a change made a new one."""
        if PAUSE_STARTS.isdisjoint(types):
            return None
        try:
            return await queue.pause()
        except MergeQueueError as error:
            logger.info("pause not read", extra=_fields("pause_not_read", queue.repository, error))
            return None

    async def _pull_requests(
        self, poll: Poll, records: Sequence[EventRecord]
    ) -> list[PullRequestRecord]:
        """Titles and addresses of pull requests that just entered: events have only numbers."""
        poll.state.titles_wanted |= _enters(records)
        return await self._queued(poll) if poll.state.titles_wanted else []

    async def _queued(self, poll: Poll) -> list[PullRequestRecord]:
        """The queued pull requests, empty if the status can't be read.

        A post without a title is better than none. The next events try again.
        """
        try:
            status = await poll.queue.status()
        except MergeQueueError as error:
            logger.info("titles not read", extra=_fields("titles_not_read", poll.repository, error))
            poll.state.titles_wanted = True
            return []
        poll.state.titles_wanted = False
        name, now = poll.repository, self.clock.now()
        queued = [*status.waiting_pull_requests]
        queued += [one for batch in status.batches for one in batch.pull_requests]
        return [
            PullRequestRecord(name, one.number, one.title, one.url, one.author.login, now)
            for one in {one.number: one for one in queued}.values()
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


def _keep(transaction: Transaction, read: _Read, now: datetime) -> Sequence[int]:
    """Store events; return the ids that were stored before with different content."""
    transaction.leases.require(read.lease, now)
    added = transaction.events.add_new(read.records)
    transaction.positions.save(read.position)
    return _differing(transaction, read.records) if added < len(read.records) else []


def _differing(transaction: Transaction, records: Sequence[EventRecord]) -> list[int]:
    """The ids of events that were stored before with different content."""
    subjects = {Subject(SubjectKind.EVENT, one.repository, one.event_id): one for one in records}
    stored = transaction.events.get(list(subjects))
    return [one.event_id for key, one in subjects.items() if content(stored[key]) != content(one)]


def _finish(
    transaction: Transaction,
    read: _Read,
    pull_requests: Sequence[PullRequestRecord],
    context: RoutingContext,
    now: datetime,
) -> tuple[Sequence[int], Routed]:
    differ = _keep(transaction, read, now)
    transaction.pull_requests.save(pull_requests)
    return differ, route_events(transaction, read.position.repository, context, now)


def _route(
    transaction: Transaction,
    repository: RepositoryName,
    lease: Lease,
    context: RoutingContext,
    now: datetime,
) -> Routed:
    transaction.leases.require(lease, now)
    return route_events(transaction, repository, context, now)


def _enters(records: Sequence[EventRecord]) -> bool:
    return any(record.type == ENTER for record in records)


def _fields(action: str, repository: RepositoryName, error: Exception) -> dict[str, str]:
    return {"action": action, "repository": repository, "error": type(error).__name__}


def report(
    measures: Measures,
    problem: LogProblem,
    repository: RepositoryName,
    sentence: str,
    **facts: object,
) -> None:
    measures.log_problem(problem)
    extra = {"action": problem.value, "repository": repository, **facts}
    logger.warning(sentence, extra=extra)


def report_duplicates(
    measures: Measures, repository: RepositoryName, state: PollState, event_ids: Collection[int]
) -> None:
    """Report each id once, because polls overlap."""
    new = set(event_ids) - state.duplicates
    state.duplicates |= new
    if new:
        report(
            measures,
            LogProblem.DUPLICATE_ID,
            repository,
            "events have the ids of others and are left out",
            event_ids=sorted(new)[:LOGGED],
        )
