"""Advance one repository's position by one walk of its event log."""

import logging
from dataclasses import dataclass, field, replace
from datetime import timedelta

from bot.domain.digests import NextDigest
from bot.domain.errors import (
    InvalidRequest,
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
from bot.domain.event_records import EventRecord
from bot.domain.events import EventPage
from bot.domain.keeping import keep
from bot.domain.repository import RepositoryName
from bot.ports import Clock, Lease, MergeQueue, Nudge, Store
from bot.ports.measures import UNMEASURED, Measures
from bot.usecases.gate import Gate, GateClosed
from bot.usecases.polling.log_reader import LogReader
from bot.usecases.polling.store_events import StoreEvents
from bot.usecases.posting.post_at_once import PostAtOnce

logger = logging.getLogger(__name__)

PAGES_AT_ONCE = 6
"""Of the 8 requests that the client lets be in flight by default, one of which is for people."""

TOGETHER = 1000
"""Events of several pages, stored in one transaction; after a crash these are read again."""


@dataclass(slots=True)
class _Read:
    """What of a walk is read and not stored; `walk` is where it goes on behind that."""

    walk: Walk | None
    records: list[EventRecord] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class PollEventLog:
    """Reads new events and has them stored; what they are stored with is `StoreEvents`.

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
    events: StoreEvents = field(init=False)

    def __post_init__(self) -> None:
        events = StoreEvents(
            self.store,
            self.merge_queue,
            self.clock,
            self.nudge,
            self.next_digest,
            self.overlap,
            self.gate,
            self.at_once,
        )
        object.__setattr__(self, "events", events)

    async def run(self, repository: RepositoryName, lease: Lease, reader: LogReader) -> None:
        """Raises MergeQueueError, StoreError or GateClosed; what was read until then is kept."""
        reader.begin(self.clock.now())
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
        while is_behind(reader.known_position, self._time(reader)):
            reader.slice_length = next_length(reader.slice_length, pages)
            pages = await self._walk(reader.known_position, lease, reader)
        reader.end()

    async def _walk(self, position: Position, lease: Lease, reader: LogReader) -> int:
        """Return how many pages it took."""
        read = _Read(position.walk)
        try:
            return await self._pages(position, lease, reader, read)
        except (MergeQueueError, GateClosed):
            if read.records:
                await self._store(reader, lease, read)
            raise

    async def _pages(self, position: Position, lease: Lease, reader: LogReader, read: _Read) -> int:
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
                await self.events.finish(reader, finished, lease, read.records)
                return pages
            if page.next_cursor in cursors or restarts > 1:
                # The next poll begins a walk of its own instead of going round again.
                read.walk = None
                reader.position = replace(reader.known_position, walk=None)
                raise MergeQueueProtocolError("the event log repeats or refuses its cursors")
            cursors.add(page.next_cursor)
            read.walk = walk = turn_page(walk, newest, page.next_cursor)
            if len(read.records) >= self.together:
                await self._store(reader, lease, read)

    async def _store(self, reader: LogReader, lease: Lease, read: _Read) -> None:
        position = replace(reader.known_position, walk=read.walk)
        await self.events.go_on(reader, position, lease, read.records)
        read.records = []

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
        await self.events.begin(repository, reader, position, lease)

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


def _fields(action: str, repository: RepositoryName, error: Exception) -> dict[str, str]:
    return {"action": action, "repository": repository, "error": type(error).__name__}
