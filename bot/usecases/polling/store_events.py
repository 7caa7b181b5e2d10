"""What is read of an event log is stored, and routed once its walk is whole."""

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from operator import attrgetter

from bot.domain.deliveries import Subject, SubjectKind
from bot.domain.errors import MergeQueueError
from bot.domain.event_log import Position
from bot.domain.event_records import EventRecord, PullRequestRecord
from bot.domain.event_types import ENTER, PAUSE_CREATE, PAUSE_UPDATE
from bot.domain.leases import Lease
from bot.domain.queue import Pause
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import NextDigest
from bot.ports import Clock, LogProblem, Measures, Nudge
from bot.store.transactions import Store, Transaction
from bot.usecases.polling.poll_state import Poll, PollState, content
from bot.usecases.polling.queue_reading import QueueReading
from bot.usecases.routing.route_events import Routed, Unrouted, route_events
from bot.usecases.tasks import Gate

logger = logging.getLogger(__name__)

TELLS_OF_PAUSE = frozenset({PAUSE_CREATE, PAUSE_UPDATE})
HELD = 2000
"""Of more unrouted events than these the rest is left in the store, and read from there."""

LOGGED = 20
"""Ids in one line of the log at most."""

IN_ORDER = attrgetter("received_at", "event_id")


@dataclass(frozen=True, slots=True)
class _Read:
    """What was read under `lease`: `records`, and where to go on; `before`: what was not routed."""

    lease: Lease
    now: datetime
    position: Position
    records: Sequence[EventRecord]
    before: Unrouted


@dataclass(frozen=True, slots=True)
class _Kept:
    """All that is stored and not routed, None where that has to be read.

    `differ`: the ids of those that were stored before with other content.
    """

    unrouted: Sequence[EventRecord] | None
    differ: Sequence[int]


@dataclass(frozen=True, slots=True)
class StoreEvents:
    """Events with the place to go on from, in one transaction, under the lease of the poll.

    `overlap`: how much of the log the next walk shows again. `storing`: lets some transactions
    at a time, and raises GateClosed at the end of the process: what was not stored is read again.
    """

    store: Store
    clock: Clock
    nudge: Nudge
    next_digest: NextDigest
    overlap: timedelta
    storing: Gate
    measures: Measures

    async def begin(self, poll: Poll, position: Position) -> None:
        """Store where the log of a repository that was never read is read from."""
        pull_requests = await self._queued(poll)
        async with self.storing.entered():
            poll.state.position = await self.store.run(
                _begin, poll.lease, self.clock.now(), position, pull_requests
            )

    async def go_on(self, poll: Poll, position: Position, records: Sequence[EventRecord]) -> None:
        """Store what was read of a walk that goes on; `position` says from where."""
        poll.state.titles_wanted |= _enters(records)
        async with self.storing.entered():
            kept = await self.store.run(_keep, self._read(poll, position, records))
        self._remember(poll.state, position, records, kept)
        poll.state.unrouted = kept.unrouted

    async def finish(self, poll: Poll, position: Position, records: Sequence[EventRecord]) -> None:
        """Store the rest of a walk and route what is not routed yet, as far as it can be judged."""
        state = poll.state
        if not records and state.unrouted == [] and position == state.known_position:
            return
        pull_requests = await self._pull_requests(poll, records)
        # Those that waited for an act to end are routed now, too.
        observed = await self._observed(poll.queue, [*(state.unrouted or ()), *records])
        async with self.storing.entered():
            read = self._read(poll, position, records)
            kept, routed = await self.store.run(
                _finish, read, pull_requests, self.next_digest, observed
            )
        self._remember(state, position, records, kept)
        state.grace_period = routed.grace_period
        added = await self._route_rest(poll, routed)
        if added:
            self.nudge()

    async def _route_rest(self, poll: Poll, routed: Routed) -> int:
        """Route the rest of a backlog, in a transaction for each slice; what the last added."""
        state = poll.state
        while routed.more:
            self.nudge()
            before = _unrouted(state, routed.left)
            async with self.storing.entered():
                routed = await self.store.run(
                    _route, poll.repository, poll.lease, self.clock.now(), self.next_digest, before
                )
            state.grace_period = routed.grace_period
        state.unrouted = routed.left
        return routed.added

    def _read(self, poll: Poll, position: Position, records: Sequence[EventRecord]) -> _Read:
        before = _unrouted(poll.state, poll.state.unrouted)
        # Whatever becomes of the transaction, an answer of it that is lost leaves nothing known.
        poll.state.unrouted = None
        return _Read(poll.lease, self.clock.now(), position, records, before)

    def _remember(
        self, state: PollState, position: Position, records: Sequence[EventRecord], kept: _Kept
    ) -> None:
        report_duplicates(self.measures, position.repository, state, kept.differ)
        state.position = position
        state.remember(records, self.overlap)

    async def _observed(self, queue: QueueReading, records: Sequence[EventRecord]) -> Pause | None:
        """An event has its own time, and says of a change not whether that made a new pause."""
        if TELLS_OF_PAUSE.isdisjoint([record.type for record in records]):
            return None
        try:
            return await queue.pause()
        except MergeQueueError as error:
            logger.info("pause not read", extra=_fields("pause_not_read", queue.repository, error))
            return None

    async def _pull_requests(
        self, poll: Poll, records: Sequence[EventRecord]
    ) -> list[PullRequestRecord]:
        """Titles and addresses of pull requests that just entered: events carry only numbers."""
        poll.state.titles_wanted |= _enters(records)
        return await self._queued(poll) if poll.state.titles_wanted else []

    async def _queued(self, poll: Poll) -> list[PullRequestRecord]:
        """A post without a title is better than none, so a failing status read stops nothing.

        It is read again with the next events.
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
) -> Position:
    transaction.leases.require(lease, now)
    # There is one if only the answer to its commit was lost: its origin is the earlier.
    stored = transaction.positions.load([position.repository])
    position = stored.get(position.repository, position)
    transaction.positions.save(position)
    transaction.pull_requests.save(pull_requests)
    return position


def _keep(transaction: Transaction, read: _Read) -> _Kept:
    transaction.leases.require(read.lease, read.now)
    records, known = read.records, read.before.records
    added = transaction.events.add_new(records) if records else 0
    differ = _differing(transaction, records) if added < len(records) else []
    transaction.positions.save(read.position)
    if known is None or added < len(records) or len(known) + added > HELD:
        return _Kept(None, differ)
    return _Kept([*known, *records], differ)


def _differing(transaction: Transaction, records: Sequence[EventRecord]) -> list[int]:
    """The ids of those that were stored before with other content."""
    subjects = {Subject(SubjectKind.EVENT, one.repository, one.event_id): one for one in records}
    stored = transaction.events.get(list(subjects))
    return [one.event_id for key, one in subjects.items() if content(stored[key]) != content(one)]


def _finish(
    transaction: Transaction,
    read: _Read,
    pull_requests: Sequence[PullRequestRecord],
    next_digest: NextDigest,
    observed: Pause | None,
) -> tuple[_Kept, Routed]:
    kept = _keep(transaction, read)
    transaction.pull_requests.save(pull_requests)
    before = replace(read.before, records=kept.unrouted and sorted(kept.unrouted, key=IN_ORDER))
    repository = read.position.repository
    return kept, route_events(transaction, repository, read.now, next_digest, observed, before)


def _route(
    transaction: Transaction,
    repository: RepositoryName,
    lease: Lease,
    now: datetime,
    next_digest: NextDigest,
    before: Unrouted,
) -> Routed:
    transaction.leases.require(lease, now)
    return route_events(transaction, repository, now, next_digest, before=before)


def _enters(records: Sequence[EventRecord]) -> bool:
    return any(record.type == ENTER for record in records)


def _unrouted(state: PollState, records: Sequence[EventRecord] | None) -> Unrouted:
    """`records`: all that is unrouted, where that is known."""
    return Unrouted(records, state.grace_period, state.personal, state.clock_ahead or timedelta())


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
    """Once for each id, as polls overlap."""
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
