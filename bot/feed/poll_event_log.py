"""Advance one repository's position by one walk of its event log."""

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bot.feed import walk as feed_walk
from bot.feed.poll import Poll
from bot.feed.poll_state import PollState, asked_to_wait, content, failure, level_of
from bot.feed.store_events import LOGGED, StoreEvents
from bot.freezes.following import read_freezes
from bot.freezes.freeze import Freeze, advanced, freezes_after
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
    service_clock: feed_walk.ServiceClock = field(default_factory=feed_walk.ServiceClock)

    @property
    def clock(self) -> Clock:
        return self.events.clock

    async def run(self, poll: Poll) -> None:
        """Poll once; what was read before MergeQueueError is stored, before other errors held."""
        state = poll.state
        state.begin(self.clock.now())
        state.clock_ahead = self.service_clock.ahead
        if state.active_at is None:
            known = state.position
            state.active_at = known.watermark if known is not None else self.clock.now()
        try:
            await (self._begin(poll) if state.position is None else self._go_on(poll))
        except MergeQueueError:
            await self.events.store_held(poll)
            raise

    async def _go_on(self, poll: Poll) -> None:
        state = poll.state
        now = merge_queue_window.ServiceTime(self.clock.now())
        if state.clock_ahead is None and feed_walk.is_behind(state.known_position, now):
            await self._probe(poll)
        length = feed_walk.FIRST_WALK_SLICE
        while True:
            position = state.known_position
            if position.walk is None:
                state.begun = self._time(state)
            walk = feed_walk.next_walk(
                position, self._time(state), self._overlap(state, position), length
            )
            read = feed_walk.WalkProgress(walk.window, walk)
            await self._pages(poll, position, read)
            length = feed_walk.next_length(length, read.pages)
            is_past = read.window.received_to < self._time(state).now
            # Wait for the next poll before reading a window again that moves nothing.
            if not is_past or (position.walk is None and state.known_position == position):
                break
        if poll.asked_at is not None:
            # Everything was read up to the time of the request.
            state.last = log_position.LastPoll(poll.asked_at, state.asked)

    def _overlap(self, state: PollState, position: log_position.Position) -> timedelta:
        """How far before the watermark to begin, so that a burst isn't read with every poll.

        The whole overlap is read again after a second for each of its pages, and in between only
        what is newer. Once nothing can appear late, a walk begins at the watermark.
        """
        now = self.clock.now()
        whole = self.events.overlap
        if state.final_to == position.watermark:
            return timedelta()
        rest = min(whole, (state.whole_pages - 1) * PAGE_SECONDS)
        is_resting = timedelta() <= now - (state.whole_at or now) < rest
        if is_resting and state.read_to and not feed_walk.is_behind(position, self._time(state)):
            return position.watermark - state.read_to
        return whole

    async def _earlier_freezes(self, poll: Poll, origin: datetime) -> Sequence[Freeze]:
        """The freezes as of `origin`; raises MergeQueueUnavailable, to be asked again.

        From there on the polls see every change of a freeze.
        """
        try:
            async with poll.request() as service:
                log = await read_freezes(service, poll.repository, self.clock.now())
        except MergeQueueUnavailable:
            raise
        except MergeQueueError as error:
            extra = failure("freezes", poll.repository, error)
            logger.log(level_of(error, logging.INFO), "freezes not read", extra=extra)
            return []
        earlier = [event for event in log.events if event.received_at < origin]
        return [advanced(freeze, origin) for freeze in freezes_after([], earlier)]

    async def _pages(
        self, poll: Poll, position: log_position.Position, read: feed_walk.WalkProgress
    ) -> None:
        begun_at = self.clock.now()
        while True:
            page = await self._page(poll, read)
            served_at = self._served_at(page, poll)
            read.note(page)
            self._hold_new(page, position, poll)
            newest = feed_walk.newest_of((event.received_at for event in page.events), served_at)
            cursor = page.next_cursor
            if cursor is not None and read.is_endless:
                self.events.report(
                    LogProblem.ENDLESS,
                    poll.repository,
                    "the event log links to ever more pages, the rest is left unread",
                    pages=read.pages,
                )
                cursor = None
            if cursor is None:
                break
            read.walk = feed_walk.turn_page(read.walk, newest, cursor)
            if poll.state.held:
                continued = replace(poll.state.known_position, walk=read.walk)
                await self.events.go_on(poll, continued)
        await self._finish(poll, position, read, newest, begun_at)

    async def _finish(
        self,
        poll: Poll,
        position: log_position.Position,
        read: feed_walk.WalkProgress,
        newest: datetime | None,
        begun_at: datetime,
    ) -> None:
        """Store what a walk read to its end, and how far the log is known now."""
        state = poll.state
        walk = replace(read.walk, window=read.window)
        finished = feed_walk.finish_walk(position, walk, newest, state.begun)
        state.read_to = finished.watermark
        is_final = state.final_to == position.watermark
        whole_from = position.watermark - (timedelta() if is_final else self.events.overlap)
        if read.window.received_from > max(whole_from, position.origin):
            await self.events.finish(poll, replace(position, walk=None))
            return
        await self.events.finish(poll, finished)
        state.whole_at = begun_at
        state.whole_pages = read.pages
        if state.reached_at is None or finished.watermark != position.watermark:
            state.reached_at = self.clock.now()
        elif (
            position.walk is None
            and read.pages > 1
            and begun_at - state.reached_at >= self.events.overlap
        ):
            # What appears late has appeared, and this walk read it. One page costs nothing more.
            state.final_to = position.watermark

    def _hold_new(self, page: EventPage, position: log_position.Position, poll: Poll) -> None:
        """Hold the events of the page that are new and that somebody subscribes to."""
        state = poll.state
        new: list[EventRecord] = []
        duplicates: list[int] = []
        for event in page.events:
            known = state.seen.get(event.event_id)
            if known is not None:
                if known != content(event):
                    duplicates.append(event.event_id)
            elif event.received_at >= position.origin and not state.is_history(event):
                state.seen[event.event_id] = content(event)
                new.append(event)
        self.events.report_duplicates(poll.repository, state, duplicates)
        if new:
            state.held += new
            state.active_at = self.clock.now()
            state.removals_new |= any(event.type == LEAVE for event in new)

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
            served_at = self._time(poll.state).now
        origin = min(served_at, now + timedelta(days=1)) - self.backfill
        freezes = await self._earlier_freezes(poll, origin)
        await self.events.begin(poll, log_position.first_position(poll.repository, origin), freezes)

    async def _probe(self, poll: Poll) -> EventPage:
        """Read one page of the newest events, for the service's time."""
        position = log_position.first_position(poll.repository, self.clock.now())
        walk = feed_walk.next_walk(position, self._time(poll.state), self.events.overlap)
        return await self._page(poll, feed_walk.WalkProgress(walk.window, walk))

    def _time(self, state: PollState) -> merge_queue_window.ServiceTime:
        return merge_queue_window.service_time(self.clock.now(), state.clock_ahead)

    def _served_at(self, page: EventPage, poll: Poll) -> datetime:
        """When the page was served: its own time or ours, whichever is earlier."""
        state = poll.state
        known = self._time(state).now
        served_at = min(page.served_at or known, known)
        if state.begun is not None and served_at < state.begun.now:
            state.begun = replace(state.begun, now=served_at)
        ahead = [
            event.event_id
            for event in page.events
            if event.received_at > served_at + feed_walk.BELIEVED_ALONE
            and event.event_id not in state.seen
        ]
        if ahead:
            self.events.report(
                LogProblem.WRONG_TIME,
                poll.repository,
                "events are stamped ahead of the service's clock",
                event_ids=ahead[:LOGGED],
            )
        return served_at

    async def _page(self, poll: Poll, read: feed_walk.WalkProgress) -> EventPage:
        """Read a page; start the walk over if the service refuses its cursor or our types."""
        state = poll.state
        while True:
            has_cursor = read.walk.cursor is not None
            try:
                page = await self._ask(poll, read.walk)
            except MergeQueueError as error:
                refused = _refused_types(state, error, has_cursor=has_cursor)
                if refused is not None:
                    _log_refused(poll, refused, error)
                    state.leave_out(refused, self.clock.now())
                elif has_cursor and _is_refused(state, error):
                    self.events.report(
                        LogProblem.CURSOR_REFUSED,
                        poll.repository,
                        "a cursor of the event log is refused, its walk starts again",
                        error=type(error).__name__,
                        detail=str(error),
                    )
                    try:
                        read.start_again()
                    except MergeQueueProtocolError:
                        # The next poll begins a new walk.
                        state.position = replace(state.known_position, walk=None)
                        raise
                else:
                    raise
            else:
                if has_cursor:
                    state.cursor_failures = 0
                return page

    async def _ask(self, poll: Poll, walk: log_position.Walk) -> EventPage:
        state = poll.state
        async with poll.request() as service:
            state.leave_out_known(self.clock.now())
            page = await service.event_page(
                poll.repository, walk.window, types=state.asked, cursor=walk.cursor
            )
        if page.served_at is not None:
            ahead = page.served_at - self.clock.now()
            self.service_clock.add(ahead)
            state.clock_ahead = self.service_clock.ahead
            if not self.service_clock.agrees:
                self.events.report(
                    LogProblem.WRONG_TIME,
                    poll.repository,
                    "the service's Date agrees neither with our clock nor with its other answers",
                    ahead_seconds=round(ahead.total_seconds()),
                )
        return page


def _refused_types(
    state: PollState, error: MergeQueueError, *, has_cursor: bool
) -> Collection[str] | None:
    """The types to leave out; empty if the service doesn't say which, None if it is not that."""
    if isinstance(error, EventTypesRefused) and error.types.intersection(state.asked):
        return error.types
    if isinstance(error, InvalidRequest) and not has_cursor and state.asked:
        return ()
    return None


def _log_refused(poll: Poll, refused: Collection[str], error: MergeQueueError) -> None:
    """Once for types that this process has not left out before."""
    if refused and poll.state.refused_types.keys() >= {*refused}:
        return
    fields = failure("types", poll.repository, error)
    logger.warning("types refused", extra={**fields, "types": sorted(refused)})


def _is_refused(state: PollState, error: MergeQueueError) -> bool:
    """Whether to give up a cursor after a failed page; a short outage isn't enough."""
    if isinstance(error, MergeQueueRefused):
        return True
    if asked_to_wait(error) is not None:
        return False
    state.cursor_failures += 1
    return state.cursor_failures >= CURSOR_FAILURES
