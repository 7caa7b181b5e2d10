"""What is read of an event log is stored, and routed once its walk is whole."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from operator import attrgetter

from bot.domain.deliveries import Subject, SubjectKind
from bot.domain.digests import NextDigest
from bot.domain.errors import MergeQueueError
from bot.domain.event_log import Position
from bot.domain.event_records import EventRecord, PullRequestRecord
from bot.domain.event_types import ENTER, PAUSE_CREATE, PAUSE_UPDATE
from bot.domain.leases import Lease
from bot.domain.queue import Pause
from bot.domain.repository import RepositoryName
from bot.ports import Clock, Measures, MergeQueue, Nudge
from bot.store.transactions import Store, Transaction
from bot.usecases.polling.log_problems import report_duplicates
from bot.usecases.polling.log_reader import LogReader, content
from bot.usecases.routing.route_events import Routed, Unrouted, route_events
from bot.usecases.tasks import Gate

logger = logging.getLogger(__name__)

TELLS_OF_PAUSE = frozenset({PAUSE_CREATE, PAUSE_UPDATE})
HELD = 2000
"""Of more unrouted events than these the rest is left in the store, and read from there."""

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

    `overlap`: how much of the log the next walk shows again. `gate`: of requests; `storing`: of
    transactions, which raise GateClosed at the end of the process: what was not stored is read
    again.
    """

    store: Store
    merge_queue: MergeQueue
    clock: Clock
    nudge: Nudge
    next_digest: NextDigest
    overlap: timedelta
    gate: Gate
    storing: Gate
    measures: Measures

    async def begin(
        self, repository: RepositoryName, reader: LogReader, position: Position, lease: Lease
    ) -> None:
        """Store where the log of a repository that was never read is read from."""
        pull_requests = await self._queued(repository, reader)
        async with self.storing.entered():
            reader.position = await self.store.run(
                _begin, lease, self.clock.now(), position, pull_requests
            )

    async def go_on(
        self,
        reader: LogReader,
        position: Position,
        lease: Lease,
        records: Sequence[EventRecord],
    ) -> None:
        """Store what was read of a walk that goes on; `position` says from where."""
        reader.titles_wanted |= _enters(records)
        async with self.storing.entered():
            kept = await self.store.run(_keep, self._read(reader, position, lease, records))
        self._remember(reader, position, records, kept)
        reader.unrouted = kept.unrouted

    async def finish(
        self,
        reader: LogReader,
        position: Position,
        lease: Lease,
        records: Sequence[EventRecord],
    ) -> None:
        """Store the rest of a walk and route what is not routed yet, as far as it can be judged."""
        before = reader.known_position
        if not records and reader.unrouted == [] and position == before:
            return
        pull_requests = await self._pull_requests(before.repository, records, reader)
        # Those that waited for an act to end are routed now, too.
        observed = await self._observed(before.repository, [*(reader.unrouted or ()), *records])
        async with self.storing.entered():
            read = self._read(reader, position, lease, records)
            kept, routed = await self.store.run(
                _finish, read, pull_requests, self.next_digest, observed
            )
        self._remember(reader, position, records, kept)
        reader.settling = routed.settling
        added = await self._route_rest(reader, before.repository, lease, routed)
        if added:
            self.nudge()

    async def _route_rest(
        self, reader: LogReader, repository: RepositoryName, lease: Lease, routed: Routed
    ) -> int:
        """Route the rest of a backlog, in a transaction for each slice; what the last added."""
        while routed.more:
            self.nudge()
            before = _unrouted(reader, routed.left)
            async with self.storing.entered():
                routed = await self.store.run(
                    _route, repository, lease, self.clock.now(), self.next_digest, before
                )
            reader.settling = routed.settling
        reader.unrouted = routed.left
        return routed.added

    def _read(
        self,
        reader: LogReader,
        position: Position,
        lease: Lease,
        records: Sequence[EventRecord],
    ) -> _Read:
        before = _unrouted(reader, reader.unrouted)
        # Whatever becomes of the transaction, an answer of it that is lost leaves nothing known.
        reader.unrouted = None
        return _Read(lease, self.clock.now(), position, records, before)

    def _remember(
        self, reader: LogReader, position: Position, records: Sequence[EventRecord], kept: _Kept
    ) -> None:
        report_duplicates(self.measures, position.repository, reader, kept.differ)
        reader.position = position
        reader.remember(records, self.overlap)

    async def _observed(
        self, repository: RepositoryName, records: Sequence[EventRecord]
    ) -> Pause | None:
        """An event has its own time, and says of a change not whether that made a new pause."""
        if TELLS_OF_PAUSE.isdisjoint([record.type for record in records]):
            return None
        try:
            async with self.gate.entered():
                return await self.merge_queue.current_pause(repository)
        except MergeQueueError as error:
            logger.info("pause not read", extra=_fields("pause_not_read", repository, error))
            return None

    async def _pull_requests(
        self, repository: RepositoryName, records: Sequence[EventRecord], reader: LogReader
    ) -> list[PullRequestRecord]:
        """Titles and addresses of pull requests that just entered: events carry only numbers."""
        reader.titles_wanted |= _enters(records)
        return await self._queued(repository, reader) if reader.titles_wanted else []

    async def _queued(
        self, repository: RepositoryName, reader: LogReader
    ) -> list[PullRequestRecord]:
        """A post without a title is better than none, so a failing status read stops nothing.

        It is read again with the next events.
        """
        try:
            async with self.gate.entered():
                status = await self.merge_queue.status(repository)
        except MergeQueueError as error:
            logger.info("titles not read", extra=_fields("titles_not_read", repository, error))
            reader.titles_wanted = True
            return []
        reader.titles_wanted = False
        now = self.clock.now()
        queued = [*status.waiting_pull_requests]
        queued += [one for batch in status.batches for one in batch.pull_requests]
        return [
            PullRequestRecord(repository, one.number, one.title, one.url, one.author.login, now)
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


def _unrouted(reader: LogReader, records: Sequence[EventRecord] | None) -> Unrouted:
    """`records`: all that is unrouted, where that is known."""
    return Unrouted(records, reader.settling, reader.personal, reader.clock_ahead or timedelta())


def _fields(action: str, repository: RepositoryName, error: Exception) -> dict[str, str]:
    return {"action": action, "repository": repository, "error": type(error).__name__}
