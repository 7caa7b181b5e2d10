"""Advance one repository's position by one walk of its event log."""

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from operator import attrgetter

from bot.domain.digests import NextDigest
from bot.domain.errors import (
    InvalidRequest,
    LeaseLost,
    MergeQueueError,
    MergeQueueProtocolError,
    ResourceNotFound,
)
from bot.domain.event_log import (
    FIRST_SLICE,
    Position,
    ServiceTime,
    Walk,
    finish_walk,
    first_position,
    is_behind,
    next_length,
    next_walk,
    service_time,
    turn_page,
)
from bot.domain.event_records import EventRecord, PullRequestRecord
from bot.domain.event_types import ENTER, PAUSE_CREATE, PAUSE_UPDATE
from bot.domain.events import EventPage
from bot.domain.keeping import keep
from bot.domain.queue import Pause
from bot.domain.repository import RepositoryName
from bot.ports import Clock, Lease, MergeQueue, Nudge, Store, Transaction
from bot.ports.measures import UNMEASURED, Measures
from bot.usecases.gate import Gate, GateClosed
from bot.usecases.log_reader import LogReader
from bot.usecases.post_at_once import PostAtOnce, Sending
from bot.usecases.route_events import SLICE, Routed, Unrouted, route_events

logger = logging.getLogger(__name__)

TELLS_OF_PAUSE = frozenset({PAUSE_CREATE, PAUSE_UPDATE})
PAGES_AT_ONCE = 6
"""Of the 8 requests that the client lets be in flight by default, one of which is for people."""

TOGETHER = 1000
"""Events of several pages, stored in one transaction; after a crash these are read again."""

HELD = 2000
"""Of more unrouted events than these the rest is left in the store, and read from there."""

IN_ORDER = attrgetter("received_at", "event_id")


@dataclass(slots=True)
class _Read:
    """What of a walk is read and not stored; `walk` is where it goes on behind that."""

    walk: Walk | None
    records: list[EventRecord] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Kept:
    """What is stored and not routed, as far as known; those in `early` are stored as routed."""

    records: Sequence[EventRecord] | None
    early: Collection[int] = ()


@dataclass(frozen=True, slots=True)
class PollEventLog:
    """Reads new events, stores them, and routes them when the walk is whole.

    An unchanged log costs one request and no transaction. `overlap`: how far a walk reaches back
    for events that show late. `backfill`: how much history the very first walk tells. `together`:
    pages are stored with others until there are so many events, or no more pages to be had.
    """

    store: Store
    merge_queue: MergeQueue
    clock: Clock
    nudge: Nudge
    next_digest: NextDigest
    overlap: timedelta
    backfill: timedelta = timedelta()
    gate: Gate = field(default_factory=lambda: Gate(PAGES_AT_ONCE))
    measures: Measures = UNMEASURED
    together: int = TOGETHER
    at_once: PostAtOnce | None = None

    async def run(self, repository: RepositoryName, lease: Lease, reader: LogReader) -> None:
        """Raises MergeQueueError, StoreError or GateClosed; what was read until then is kept."""
        reader.begin()
        if reader.active_at is None:
            known = reader.position
            reader.active_at = known.watermark if known is not None else self.clock.now()
        if reader.position is None:
            await self._begin(repository, lease, reader)
            return
        if reader.clock_ahead is None and is_behind(reader.position, ServiceTime(self.clock.now())):
            await self._probe(reader.position.repository, reader)
        reader.slice_length = FIRST_SLICE
        pages = await self._walk(reader.position, lease, reader)
        while is_behind(_known(reader.position), self._time(reader)):
            reader.slice_length = next_length(reader.slice_length, pages)
            pages = await self._walk(_known(reader.position), lease, reader)
        reader.end()

    async def _walk(self, position: Position, lease: Lease, reader: LogReader) -> int:
        """Return how many pages it took."""
        read = _Read(position.walk)
        try:
            return await self._pages(position, lease, reader, read)
        except (MergeQueueError, GateClosed):
            if read.records:
                await self._turn(reader, lease, read)
            raise

    async def _pages(
        self, position: Position, lease: Lease, reader: LogReader, read: "_Read"
    ) -> int:
        repository, time = position.repository, self._time(reader)
        if position.walk is None:
            reader.begun = time
        walk = next_walk(position, time, self.overlap, reader.slice_length)
        pages = restarts = 0
        cursors: set[str] = set()
        while True:
            asked = walk
            page, walk = await self._page(repository, walk, reader)
            pages += 1
            if walk is not asked:
                restarts += 1
                cursors.clear()
            read.records += self._new(page, position, reader)
            newest = max((event.received_at for event in page.events), default=None)
            if page.next_cursor is None:
                finished = finish_walk(position, walk, newest, reader.begun)
                await self._finish(reader, finished, lease, read.records)
                return pages
            if page.next_cursor in cursors or restarts > 1:
                # The next poll begins a walk of its own instead of going round again.
                read.walk = None
                reader.position = replace(_known(reader.position), walk=None)
                raise MergeQueueProtocolError("the event log repeats or refuses its cursors")
            cursors.add(page.next_cursor)
            read.walk = walk = turn_page(walk, newest, page.next_cursor)
            if len(read.records) >= self.together:
                await self._turn(reader, lease, read)

    def _new(self, page: EventPage, position: Position, reader: LogReader) -> list[EventRecord]:
        """What of the page is not stored yet, and somebody may want to hear of."""
        records = [
            keep(event, position.repository)
            for event in page.events
            if event.id not in reader.seen
            and event.received_at >= position.origin
            and not reader.is_history(event)
        ]
        if records:
            reader.active_at = self.clock.now()
        return records

    async def _begin(self, repository: RepositoryName, lease: Lease, reader: LogReader) -> None:
        """Start at the service's own "now": its clock need not agree with ours."""
        now = self.clock.now()
        page = await self._probe(repository, reader)
        served_at = page.served_at or now
        origin = min(served_at, now + timedelta(days=1)) - self.backfill
        position = first_position(repository, origin)
        pull_requests = await self._queued(repository)
        async with self.store.begin() as transaction:
            await transaction.leases.require(lease, self.clock.now())
            # There is one if only the answer to its commit was lost: its origin is the earlier.
            stored = await transaction.positions.load([repository])
            position = stored.get(repository, position)
            await transaction.positions.save(position)
            await transaction.pull_requests.save(pull_requests)
        reader.position = position

    async def _probe(self, repository: RepositoryName, reader: LogReader) -> EventPage:
        """One page of what is newest, for the service's time."""
        now = self.clock.now()
        walk = next_walk(first_position(repository, now), self._time(reader), self.overlap)
        page, _ = await self._page(repository, walk, reader)
        return page

    def _time(self, reader: LogReader) -> ServiceTime:
        return service_time(self.clock.now(), reader.clock_ahead)

    async def _page(
        self, repository: RepositoryName, walk: Walk, reader: LogReader
    ) -> tuple[EventPage, Walk]:
        """One page; the walk starts again when its cursor, or our type filter, is refused."""
        while True:
            try:
                return await self._ask(repository, walk, reader), walk
            except (InvalidRequest, ResourceNotFound) as error:
                if walk.cursor is not None:
                    logger.info(
                        "walk restarted", extra=_fields("cursor_refused", repository, error)
                    )
                    walk = replace(walk, cursor=None)
                elif isinstance(error, InvalidRequest) and not reader.refused_types:
                    logger.warning("type filter refused", extra=_fields("types", repository, error))
                    reader.refused_types = True
                else:
                    raise

    async def _ask(self, repository: RepositoryName, walk: Walk, reader: LogReader) -> EventPage:
        async with self.gate.entered():
            if reader.due_at is not None:
                self.measures.poll_started(self.clock.now() - reader.due_at)
                reader.due_at = None
            reader.asked_at = reader.asked_at or self.clock.now()
            page = await self.merge_queue.event_page(
                repository, walk.window, types=reader.types(), cursor=walk.cursor
            )
        if page.served_at is not None:
            reader.clock_ahead = page.served_at - self.clock.now()
        return page

    async def _turn(self, reader: LogReader, lease: Lease, read: "_Read") -> None:
        position = replace(_known(reader.position), walk=read.walk)
        async with self.store.begin() as transaction:
            kept = await self._keep(transaction, lease, position, read.records, reader)
        reader.position, reader.unrouted = position, kept.records
        reader.remember(read.records, self.overlap)
        read.records = []

    async def _finish(
        self,
        reader: LogReader,
        position: Position,
        lease: Lease,
        records: Sequence[EventRecord],
    ) -> None:
        before = _known(reader.position)
        if not records and reader.unrouted == [] and position == before:
            return
        pull_requests = await self._pull_requests(before.repository, records)
        observed = await self._observed(before.repository, records)
        async with self.store.begin() as transaction:
            sending = await self.at_once.begin(transaction) if self.at_once is not None else None
            kept = await self._keep(
                transaction, lease, position, records, reader, are_routed_now=True
            )
            await transaction.pull_requests.save(pull_requests)
            routed = await route_events(
                transaction,
                before.repository,
                self.clock.now(),
                self.next_digest,
                observed,
                _unrouted(
                    reader,
                    kept.records and sorted(kept.records, key=IN_ORDER),
                    sending=sending,
                    early=kept.early,
                ),
            )
            if sending is not None:
                await sending.render(transaction)
        if self.at_once is not None and sending is not None:
            self.at_once.send(sending)
        reader.position = position
        reader.remember(records, self.overlap)
        routed = await self._rest(reader, before.repository, lease, routed)
        reader.unrouted = routed.left
        if routed.added > (len(sending.claimed) if sending is not None else 0):
            self.nudge()

    async def _rest(
        self, reader: LogReader, repository: RepositoryName, lease: Lease, routed: Routed
    ) -> Routed:
        """Route the rest of a backlog, in a transaction for each slice."""
        while routed.more:
            self.nudge()
            async with self.store.begin() as transaction:
                await transaction.leases.require(lease, self.clock.now())
                routed = await route_events(
                    transaction,
                    repository,
                    self.clock.now(),
                    self.next_digest,
                    before=_unrouted(reader, routed.left),
                )
        return routed

    async def _keep(
        self,
        transaction: Transaction,
        lease: Lease,
        position: Position,
        records: Sequence[EventRecord],
        reader: LogReader,
        *,
        are_routed_now: bool = False,
    ) -> "_Kept":
        # Whatever becomes of the transaction, an answer of it that is lost leaves nothing known.
        known, reader.unrouted = reader.unrouted, None
        await transaction.leases.require(lease, self.clock.now())
        early = await self._early(transaction, known, records) if are_routed_now else ()
        added = await transaction.events.add_new(records, routed=bool(early)) if records else 0
        if added < len(early):
            # They were not there a moment ago, and only who holds the lease stores any.
            raise LeaseLost(lease.name)
        await transaction.positions.save(position)
        if known is None or added < len(records) or len(known) + added > HELD:
            return _Kept(None)
        return _Kept([*known, *records], early)

    async def _early(
        self,
        transaction: Transaction,
        known: Sequence[EventRecord] | None,
        records: Sequence[EventRecord],
    ) -> Collection[int]:
        """The ids of `records` if all can be routed at once: they are stored as routed then.

        Nearly always so. Whether one that was stored before is routed only the store knows.
        """
        ids = {record.event_id for record in records}
        if not ids or known is None or len(ids) < len(records) or len(known) + len(ids) > SLICE:
            return ()
        was_read = await transaction.events.any_between(records[0].repository, min(ids), max(ids))
        return () if was_read else ids

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
        self, repository: RepositoryName, records: Sequence[EventRecord]
    ) -> list[PullRequestRecord]:
        """Titles and addresses of pull requests that just entered: events carry only numbers."""
        entered = any(record.type == ENTER for record in records)
        return await self._queued(repository) if entered else []

    async def _queued(self, repository: RepositoryName) -> list[PullRequestRecord]:
        """A post without a title is better than none, so a failing status read stops nothing."""
        try:
            async with self.gate.entered():
                status = await self.merge_queue.status(repository)
        except MergeQueueError as error:
            logger.info("titles not read", extra=_fields("titles_not_read", repository, error))
            return []
        now = self.clock.now()
        queued = [*status.waiting_pull_requests]
        queued += [one for batch in status.batches for one in batch.pull_requests]
        return [
            PullRequestRecord(repository, one.number, one.title, one.url, one.author.login, now)
            for one in {one.number: one for one in queued}.values()
        ]


def _known(position: Position | None) -> Position:
    if position is None:
        msg = "a walk goes on from a position"
        raise ValueError(msg)
    return position


def _unrouted(
    reader: LogReader,
    records: Sequence[EventRecord] | None,
    *,
    sending: Sending | None = None,
    early: Collection[int] = (),
) -> Unrouted:
    """`records`: all that is unrouted, where that is known."""
    return Unrouted(
        records,
        reader.settling,
        sending,
        reader.personal,
        reader.clock_ahead or timedelta(),
        early,
    )


def _fields(action: str, repository: RepositoryName, error: Exception) -> dict[str, str]:
    return {"action": action, "repository": repository, "error": type(error).__name__}
