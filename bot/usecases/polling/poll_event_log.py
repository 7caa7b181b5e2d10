"""Advance one repository's position by one walk of its event log."""

import logging
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bot.domain.digests import NextDigest
from bot.domain.errors import (
    InvalidRequest,
    MergeQueueError,
    MergeQueueProtocolError,
    MergeQueueRefused,
    MergeQueueUnavailable,
)
from bot.domain.event_log import (
    BELIEVED_ALONE,
    FIRST_SLICE,
    Position,
    ServiceClock,
    ServiceTime,
    Walk,
    finish_walk,
    first_position,
    is_behind,
    newest_of,
    next_length,
    next_walk,
    service_time,
    turn_page,
)
from bot.domain.event_records import EventRecord
from bot.domain.events import EventPage
from bot.domain.leases import Lease
from bot.domain.repository import RepositoryName
from bot.ports import UNMEASURED, Clock, LogProblem, Measures, MergeQueue, Nudge
from bot.store.transactions import Store
from bot.usecases.polling.log_problems import LOGGED, report, report_duplicates
from bot.usecases.polling.log_reader import LogReader, content
from bot.usecases.polling.reading import Reading
from bot.usecases.polling.store_events import StoreEvents
from bot.usecases.tasks import STORED_AT_ONCE, Gate, GateClosed

logger = logging.getLogger(__name__)

PAGES_AT_ONCE = 6
"""Of the 8 requests that the client lets be in flight by default, one of which is for people."""

CURSOR_FAILURES = 3
"""A page that fails so often in a row, for whatever reason, is asked for without its cursor."""

PROBES = 3
"""Of the service's time, until one agrees with those before."""

TOGETHER = 1000
"""Events of several pages, stored in one transaction; after a crash these are read again."""


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
    storing: Gate = field(default_factory=lambda: Gate(STORED_AT_ONCE))
    service_clock: ServiceClock = field(default_factory=ServiceClock)
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
            self.storing,
            self.measures,
        )
        object.__setattr__(self, "events", events)

    async def run(self, repository: RepositoryName, lease: Lease, reader: LogReader) -> None:
        """Raises MergeQueueError, StoreError or GateClosed; what was read until then is kept."""
        reader.begin(self.clock.now())
        reader.clock_ahead = self.service_clock.ahead
        if reader.active_at is None:
            known = reader.position
            reader.active_at = known.watermark if known is not None else self.clock.now()
        if reader.position is None:
            await self._begin(repository, lease, reader)
            return
        if reader.clock_ahead is None and is_behind(reader.position, ServiceTime(self.clock.now())):
            await self._probe(reader.position.repository, reader)
        reader.slice_length = FIRST_SLICE
        while await self._read_on(reader.known_position, lease, reader):
            pass
        reader.end()

    async def _read_on(self, position: Position, lease: Lease, reader: LogReader) -> bool:
        """Read one window; return whether it ended in the past, so that there is more to read."""
        read = await self._walk(position, lease, reader)
        reader.slice_length = next_length(reader.slice_length, read.pages)
        if read.window.received_to >= self._time(reader).now:
            return False
        # A window that moves nothing is not read again until the next poll.
        return position.walk is not None or reader.known_position != position

    async def _walk(self, position: Position, lease: Lease, reader: LogReader) -> Reading:
        read = self._begin_walk(position, reader)
        try:
            await self._pages(position, lease, reader, read)
        except (MergeQueueError, GateClosed):
            if read.records:
                await self._store(reader, lease, read)
            raise
        return read

    def _begin_walk(self, position: Position, reader: LogReader) -> Reading:
        if position.walk is not None:
            window = position.walk.window
            if reader.begun is None:
                # Begun by another process, which alone knows more.
                whole = max(position.watermark - self.overlap, position.origin)
                reader.sweeps = window.received_from <= whole
            return Reading(window, position.walk)
        time = self._time(reader)
        read_to = reader.begin_walk(time, self.clock.now(), self.overlap)
        walk = next_walk(position, time, self.overlap, reader.slice_length, read_to)
        return Reading(walk.window, walk)

    async def _pages(
        self, position: Position, lease: Lease, reader: LogReader, read: Reading
    ) -> None:
        begun_at = self.clock.now()
        while True:
            page = await self._page(position.repository, reader, read)
            served_at = self._served_at(page, position, reader)
            read.note(page)
            read.records += self._new(page, position, reader, read)
            newest = newest_of((event.received_at for event in page.events), served_at)
            cursor = page.next_cursor
            goes_round = cursor in read.cursors
            if cursor is not None and (read.is_endless or (goes_round and reader.went_round)):
                report(
                    self.measures,
                    LogProblem.ENDLESS,
                    position.repository,
                    "the event log links to ever more pages, the rest is left unread",
                    pages=read.pages,
                )
                cursor = None
            if cursor is None:
                await self._finish(position, lease, reader, read, newest, begun_at)
                reader.went_round = goes_round
                return
            if goes_round:
                reader.went_round = True
                _forget_walk(reader, read)
                raise MergeQueueProtocolError("the event log repeats its cursors")
            read.cursors.add(cursor)
            read.walk = turn_page(read.walk, newest, cursor)
            if len(read.records) >= self.together:
                await self._store(reader, lease, read)

    async def _finish(
        self,
        position: Position,
        lease: Lease,
        reader: LogReader,
        read: Reading,
        newest: datetime | None,
        begun_at: datetime,
    ) -> None:
        walk = replace(read.walk, window=read.window)
        finished = finish_walk(position, walk, newest, reader.begun)
        reached = finished.watermark
        if not reader.sweeps:
            finished = replace(position, walk=None)
        await self.events.finish(reader, finished, lease, read.records)
        reader.end_walk(reached, begun_at, read.pages, self.overlap)

    async def _store(self, reader: LogReader, lease: Lease, read: Reading) -> None:
        """What was read is kept, and the place to go on from, if there is one."""
        walk = read.walk if read.walk.cursor is not None else None
        position = replace(reader.known_position, walk=walk)
        await self.events.go_on(reader, position, lease, read.records)
        read.records = []
        read.unstored.clear()

    def _new(
        self, page: EventPage, position: Position, reader: LogReader, read: Reading
    ) -> list[EventRecord]:
        """What of the page is not stored yet, and somebody may want to hear of."""
        records: list[EventRecord] = []
        duplicates: list[int] = []
        for event in page.events:
            known = reader.seen.get(event.event_id)
            before = read.unstored.get(event.event_id) if known is None else known[1]
            if before is not None:
                if before != content(event):
                    duplicates.append(event.event_id)
            elif event.received_at >= position.origin and not reader.is_history(event):
                records.append(event)
                read.unstored[event.event_id] = content(event)
        report_duplicates(self.measures, position.repository, reader, duplicates)
        if records:
            reader.active_at = self.clock.now()
        return records

    async def _begin(self, repository: RepositoryName, lease: Lease, reader: LogReader) -> None:
        """Start at the service's own "now": its clock need not agree with ours."""
        page = await self._probe(repository, reader)
        for _ in range(PROBES - 1):
            if self.service_clock.agrees:
                break
            page = await self._probe(repository, reader)
        now = self.clock.now()
        served_at = page.served_at or now
        if not self.service_clock.agrees:
            served_at = self._time(reader).now
        origin = min(served_at, now + timedelta(days=1)) - self.backfill
        position = first_position(repository, origin)
        await self.events.begin(repository, reader, position, lease)

    async def _probe(self, repository: RepositoryName, reader: LogReader) -> EventPage:
        """One page of what is newest, for the service's time."""
        now = self.clock.now()
        walk = next_walk(first_position(repository, now), self._time(reader), self.overlap)
        return await self._page(repository, reader, Reading(walk.window, walk))

    def _time(self, reader: LogReader) -> ServiceTime:
        return service_time(self.clock.now(), reader.clock_ahead)

    def _served_at(self, page: EventPage, position: Position, reader: LogReader) -> datetime:
        """When the page was served, by the earlier of what it says and what we know."""
        known = self._time(reader).now
        served_at = min(page.served_at or known, known)
        if reader.begun is not None and served_at < reader.begun.now:
            reader.begun = replace(reader.begun, now=served_at)
        ahead = [
            event.event_id
            for event in page.events
            if event.received_at > served_at + BELIEVED_ALONE and event.event_id not in reader.seen
        ]
        if ahead:
            report(
                self.measures,
                LogProblem.WRONG_TIME,
                position.repository,
                "events are stamped ahead of the service's clock",
                event_ids=ahead[:LOGGED],
            )
        return served_at

    async def _page(
        self, repository: RepositoryName, reader: LogReader, read: Reading
    ) -> EventPage:
        """One page; the walk starts again when its cursor, or our type filter, is refused."""
        while True:
            has_cursor = read.walk.cursor is not None
            try:
                page = await self._ask(repository, read.walk, reader)
            except MergeQueueError as error:
                if has_cursor and _is_refused(reader, error):
                    report(
                        self.measures,
                        LogProblem.CURSOR_REFUSED,
                        repository,
                        "a cursor of the event log is refused, its walk starts again",
                        error=type(error).__name__,
                        detail=str(error),
                    )
                    self._start_again(reader, read)
                elif (
                    isinstance(error, InvalidRequest)
                    and not has_cursor
                    and not reader.refused_types
                ):
                    logger.warning("type filter refused", extra=_fields("types", repository, error))
                    reader.refused_types = True
                else:
                    raise
            else:
                if has_cursor:
                    reader.cursor_failures = 0
                return page

    def _start_again(self, reader: LogReader, read: Reading) -> None:
        try:
            read.start_again()
        except MergeQueueProtocolError:
            _forget_walk(reader, read)
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
            self._hear_time(page.served_at - self.clock.now(), repository)
            reader.clock_ahead = self.service_clock.ahead
        return page

    def _hear_time(self, ahead: timedelta, repository: RepositoryName) -> None:
        self.service_clock.hear(ahead)
        if not self.service_clock.agrees:
            report(
                self.measures,
                LogProblem.WRONG_TIME,
                repository,
                "the service's Date agrees neither with our clock nor with its other answers",
                ahead_seconds=round(ahead.total_seconds()),
            )


def _forget_walk(reader: LogReader, read: Reading) -> None:
    """The next poll begins a walk of its own."""
    read.walk = replace(read.walk, cursor=None)
    reader.position = replace(reader.known_position, walk=None)


def _is_refused(reader: LogReader, error: MergeQueueError) -> bool:
    """Whether a page behind a cursor is given up; an outage alone does not do that at once."""
    if isinstance(error, MergeQueueRefused):
        return True
    if isinstance(error, MergeQueueUnavailable) and error.retry_after is not None:
        return False
    reader.cursor_failures += 1
    return reader.cursor_failures >= CURSOR_FAILURES


def _fields(action: str, repository: RepositoryName, error: Exception) -> dict[str, str]:
    return {"action": action, "repository": repository, "error": type(error).__name__}
