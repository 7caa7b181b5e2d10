"""Advance one repository's position by one walk of its event log."""

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bot.feed import walk as feed_walk
from bot.feed.log_reading import LogReading
from bot.feed.poll import Poll
from bot.feed.poll_state import asked_to_wait, failure, log_level_of
from bot.feed.read_events import content
from bot.feed.requested_types import RequestedTypes
from bot.feed.store_events import LOGGED, StoreEvents
from bot.freezes.freeze import Freeze, advanced
from bot.freezes.matching import freezes_after, observe_freezes, only_listed
from bot.freezes.reading import freeze_events
from bot.kernel.clock import Clock
from bot.kernel.errors import InvalidRequest, MergeQueueError, MergeQueueRefused
from bot.kernel.metrics import LogProblem
from bot.log import position as log_position
from bot.merge_queue import window as merge_queue_window
from bot.merge_queue.errors import EventTypesRefused, MergeQueueProtocolError, MergeQueueUnavailable
from bot.merge_queue.event_records import EventPage, EventRecord
from bot.merge_queue.event_types import LEAVE

logger = logging.getLogger(__name__)

CURSOR_FAILURES = 3
"""After this many failures in a row, a page is requested without its cursor."""

PAGE_SECONDS = timedelta(seconds=1)
"""The time between reads of the overlap, for each of its pages but the first."""

PROBES = 3
"""The number of the service's times to compare until one agrees with earlier ones."""


@dataclass(slots=True)
class PollEventLog:
    """Reads new events and stores them through `StoreEvents`.

    An unchanged log costs one request and no transaction.
    """

    events: StoreEvents
    backfill: timedelta = timedelta()  #: how much history the very first walk reads
    service_clock: merge_queue_window.ServiceClock = field(
        default_factory=merge_queue_window.ServiceClock
    )

    @property
    def clock(self) -> Clock:
        return self.events.clock

    async def run(self, poll: Poll) -> None:
        """Poll once.

        What was read before a MergeQueueError is stored; before other errors it stays in memory.
        """
        state = poll.state
        reading = state.reading
        state.types.begin(self.clock.now())
        reading.clock_ahead = self.service_clock.ahead
        if state.active_at is None:
            known = reading.position
            state.active_at = known.watermark if known is not None else self.clock.now()
        try:
            if reading.position is None:
                await self._begin(poll)
            else:
                await self._continue(poll)
                await self.events.add_listed_freezes(poll)
        except MergeQueueError:
            await self.events.store_new(poll)
            raise

    async def _continue(self, poll: Poll) -> None:
        """Read from the stored position to the newest event, one walk after another."""
        reading = poll.state.reading
        now = merge_queue_window.ServiceTime(self.clock.now())
        if reading.clock_ahead is None and feed_walk.is_behind(reading.known_position, now):
            await self._probe(poll)
        length = feed_walk.FIRST_WALK_SLICE
        while True:
            position = reading.known_position
            if position.walk is None:
                reading.began_at = self._time(reading)
            overlap = self._overlap(reading, position)
            walk = feed_walk.next_walk(position, self._time(reading), overlap, length)
            progress = feed_walk.WalkProgress(walk.window, walk)
            await self._pages(poll, position, progress)
            length = feed_walk.next_length(length, progress.pages)
            if progress.window.received_to >= self._time(reading).now:
                break
            # Wait for the next poll before reading a window again that moves nothing.
            moved_nothing = position.walk is None and reading.known_position == position
            if moved_nothing:
                break
        if poll.requests.began_at is not None:
            # Everything was read up to the time of the request.
            types = poll.state.types
            types.last = log_position.LastPoll(poll.requests.began_at, types.asked)

    def _overlap(self, reading: LogReading, position: log_position.Position) -> timedelta:
        """How far before the watermark to begin, so that a burst isn't read with every poll.

        The full overlap is read again after a second for each of its pages, and in between only
        what is newer. Once nothing can appear late, a walk begins at the watermark.
        """
        full = self.events.overlap
        if reading.is_final:
            return timedelta()
        if reading.overlap_read_at is None or not reading.read_to:
            return full
        rest = min(full, (reading.overlap_pages - 1) * PAGE_SECONDS)
        since = self.clock.now() - reading.overlap_read_at
        is_resting = timedelta() <= since < rest
        if is_resting and not feed_walk.is_behind(position, self._time(reading)):
            return position.watermark - reading.read_to
        return full

    async def _earlier_freezes(self, poll: Poll, origin: datetime) -> Sequence[Freeze]:
        """The freezes as of `origin`; raises MergeQueueUnavailable, to be asked again.

        From there on the polls see every change of a freeze. What the list alone shows is older
        than the log.
        """
        log: Sequence[EventRecord] = ()
        try:
            async with poll.requests.next() as service:
                log = await freeze_events(service, poll.repository, self.clock.now())
        except MergeQueueUnavailable:
            raise
        except MergeQueueError as error:
            extra = failure("freezes", poll.repository, error)
            logger.log(log_level_of(error, logging.INFO), "freezes not read", extra=extra)
        listed = await self.events.listed_freezes(poll) or ()
        earlier = [event for event in log if event.received_at < origin]
        found = [advanced(freeze, origin) for freeze in freezes_after([], earlier)]
        told = observe_freezes(freezes_after([], log), listed)
        besides = only_listed(told, listed, origin)
        return [*observe_freezes(found, listed), *(advanced(freeze, origin) for freeze in besides)]

    async def _pages(
        self, poll: Poll, position: log_position.Position, progress: feed_walk.WalkProgress
    ) -> None:
        """Read the walk's pages to the last, and store what they show."""
        began_at = self.clock.now()
        while True:
            page = await self._page(poll, progress)
            served_at = self._served_at(page, poll)
            progress.note(page)
            self._remember_new(page, position, poll)
            times = (event.received_at for event in page.events)
            newest = feed_walk.newest_of(times, served_at)
            cursor = page.next_cursor
            if cursor is not None and progress.is_endless:
                self.events.report(
                    LogProblem.ENDLESS,
                    poll.repository,
                    "the event log links to ever more pages, the rest is left unread",
                    pages=progress.pages,
                )
                cursor = None
            if cursor is None:
                break
            progress.walk = feed_walk.turn_page(progress.walk, newest, cursor)
            if poll.state.events.unstored:
                continued = replace(poll.state.reading.known_position, walk=progress.walk)
                await self.events.continue_walk(poll, continued)
        await self._finish(poll, position, progress, newest, began_at)

    async def _finish(
        self,
        poll: Poll,
        position: log_position.Position,
        progress: feed_walk.WalkProgress,
        newest: datetime | None,
        began_at: datetime,
    ) -> None:
        """Store what a walk read to its end, and how far the log is known now."""
        reading = poll.state.reading
        walk = replace(progress.walk, window=progress.window)
        finished = feed_walk.finish_walk(position, walk, newest, reading.began_at)
        reading.read_to = finished.watermark
        is_final = reading.final_to == position.watermark
        overlap = timedelta() if is_final else self.events.overlap
        overlap_start = max(position.watermark - overlap, position.origin)
        if progress.window.received_from > overlap_start:
            await self.events.finish(poll, replace(position, walk=None))
            return
        await self.events.finish(poll, finished)
        reading.overlap_read_at = began_at
        reading.overlap_pages = progress.pages
        if reading.watermark_moved_at is None or finished.watermark != position.watermark:
            reading.watermark_moved_at = self.clock.now()
            return
        is_one_walk = position.walk is None
        is_quiet = began_at - reading.watermark_moved_at >= self.events.overlap
        if is_one_walk and progress.pages > 1 and is_quiet:
            # What appears late has appeared, and this walk read it. One page costs nothing more.
            reading.final_to = position.watermark

    def _remember_new(self, page: EventPage, position: log_position.Position, poll: Poll) -> None:
        """Keep the events of the page that are new and no older than the interest in their type."""
        state = poll.state
        seen = state.events.seen
        new: list[EventRecord] = []
        duplicates: list[int] = []
        for event in page.events:
            known = seen.get(event.event_id)
            if known is not None:
                if known != content(event):
                    duplicates.append(event.event_id)
                continue
            if event.received_at < position.origin:
                continue
            if state.types.is_history(event, state.reading.clock_ahead):
                continue
            seen[event.event_id] = content(event)
            new.append(event)
        self.events.report_duplicates(poll.repository, state.events, duplicates)
        if not new:
            return
        state.events.unstored += new
        state.active_at = self.clock.now()
        if any(event.type == LEAVE for event in new):
            state.rule.is_due = True

    async def _begin(self, poll: Poll) -> None:
        """Start at the service's own "now", which may differ from our clock."""
        page = await self._probe(poll)
        for _ in range(PROBES - 1):
            if self.service_clock.agrees:
                break
            page = await self._probe(poll)
        now = self.clock.now()
        served_at = page.served_at or now
        if not self.service_clock.agrees:
            served_at = self._time(poll.state.reading).now
        origin = min(served_at, now + timedelta(days=1)) - self.backfill
        freezes = await self._earlier_freezes(poll, origin)
        position = log_position.first_position(poll.repository, origin)
        await self.events.begin(poll, position, freezes)

    async def _probe(self, poll: Poll) -> EventPage:
        """Read one page of the newest events, for the service's time."""
        position = log_position.first_position(poll.repository, self.clock.now())
        time = self._time(poll.state.reading)
        walk = feed_walk.next_walk(position, time, self.events.overlap)
        return await self._page(poll, feed_walk.WalkProgress(walk.window, walk))

    def _time(self, reading: LogReading) -> merge_queue_window.ServiceTime:
        return reading.time(self.clock.now())

    def _served_at(self, page: EventPage, poll: Poll) -> datetime:
        """When the page was served: its own time or ours, whichever is earlier."""
        reading = poll.state.reading
        seen = poll.state.events.seen
        known = self._time(reading).now
        served_at = min(page.served_at or known, known)
        if reading.began_at is not None and served_at < reading.began_at.now:
            reading.began_at = replace(reading.began_at, now=served_at)
        latest = served_at + merge_queue_window.BELIEVED_ALONE
        ahead = [
            event.event_id
            for event in page.events
            if event.received_at > latest and event.event_id not in seen
        ]
        if ahead:
            self.events.report(
                LogProblem.WRONG_TIME,
                poll.repository,
                "events are stamped ahead of the service's clock",
                event_ids=ahead[:LOGGED],
            )
        return served_at

    async def _page(self, poll: Poll, progress: feed_walk.WalkProgress) -> EventPage:
        """Read a page; start the walk over if the service refuses its cursor or our types."""
        reading = poll.state.reading
        while True:
            has_cursor = progress.walk.cursor is not None
            try:
                page = await self._ask(poll, progress.walk)
            except MergeQueueError as error:
                self._react(poll, progress, error)
            else:
                if has_cursor:
                    reading.cursor_failures = 0
                return page

    def _react(self, poll: Poll, progress: feed_walk.WalkProgress, error: MergeQueueError) -> None:
        """Change the request so that it can be tried again; raises the error if nothing helps."""
        types = poll.state.types
        reading = poll.state.reading
        has_cursor = progress.walk.cursor is not None
        refused = _refused_types(types, error, has_cursor=has_cursor)
        if refused is not None:
            _log_refused(poll, refused, error)
            types.leave_out(refused, self.clock.now())
            return
        if not has_cursor or not _gives_up_cursor(reading, error):
            raise error
        self.events.report(
            LogProblem.CURSOR_REFUSED,
            poll.repository,
            "a cursor of the event log is refused, its walk starts again",
            error=type(error).__name__,
            detail=str(error),
        )
        try:
            progress.start_again()
        except MergeQueueProtocolError:
            # The next poll begins a new walk.
            reading.position = replace(reading.known_position, walk=None)
            raise

    async def _ask(self, poll: Poll, walk: log_position.Walk) -> EventPage:
        types = poll.state.types
        async with poll.requests.next() as service:
            types.leave_out_known(self.clock.now())
            page = await service.event_page(
                poll.repository, walk.window, types=types.asked, cursor=walk.cursor
            )
        if page.served_at is not None:
            self._learn_time(poll, page.served_at)
        return page

    def _learn_time(self, poll: Poll, served_at: datetime) -> None:
        ahead = served_at - self.clock.now()
        self.service_clock.add(ahead)
        poll.state.reading.clock_ahead = self.service_clock.ahead
        if self.service_clock.agrees:
            return
        self.events.report(
            LogProblem.WRONG_TIME,
            poll.repository,
            "the service's Date agrees neither with our clock nor with its other answers",
            ahead_seconds=round(ahead.total_seconds()),
        )


def _refused_types(
    types: RequestedTypes, error: MergeQueueError, *, has_cursor: bool
) -> Collection[str] | None:
    """The types to leave out; empty if the service doesn't say which, None if it is not that."""
    if isinstance(error, EventTypesRefused) and error.types.intersection(types.asked):
        return error.types
    if isinstance(error, InvalidRequest) and not has_cursor and types.asked:
        return ()
    return None


def _log_refused(poll: Poll, refused: Collection[str], error: MergeQueueError) -> None:
    """Once for types that this process has not left out before."""
    known = poll.state.types.refused_at.keys()
    if refused and known >= {*refused}:
        return
    fields = failure("types", poll.repository, error)
    logger.warning("the service refused event types", extra={**fields, "types": sorted(refused)})


def _gives_up_cursor(reading: LogReading, error: MergeQueueError) -> bool:
    """Whether to give up a cursor after a failed page; a short outage isn't enough."""
    if isinstance(error, MergeQueueRefused):
        return True
    if asked_to_wait(error) is not None:
        return False
    reading.cursor_failures += 1
    return reading.cursor_failures >= CURSOR_FAILURES
