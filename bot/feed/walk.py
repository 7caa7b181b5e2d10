"""How far an event log has been read, and which window to read next."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bot.log.position import Position, Walk
from bot.merge_queue.errors import MergeQueueProtocolError
from bot.merge_queue.event_records import EventPage
from bot.merge_queue.window import CLOCK_ALLOWANCE, DATE_STEP, ServiceTime, Window

FIRST_WALK_SLICE = timedelta(hours=1)
"""A position that is far behind is brought forward in windows, the first of this length.

Each is stored and routed before the next is read, so that a backlog of any size is posted as it is
read, is kept in little memory, and loses little when it is interrupted.
"""


SHORTEST_SLICE = timedelta(minutes=15)


LONGEST_SLICE = timedelta(days=1)


SLICE_PAGES = 20
"""The target time for reading a slice: a few seconds."""


def next_walk(
    position: Position,
    time: ServiceTime,
    overlap: timedelta,
    length: timedelta = FIRST_WALK_SLICE,
) -> Walk:
    """The walk to continue, or a new one that starts `overlap` before the watermark.

    The watermark is an event's own time, never our clock, so a clock difference loses nothing. The
    window ends later than now for the same reason. A watermark still in the future was wrong.
    """
    if position.walk is not None:
        return position.walk
    is_wrong = position.watermark > time.now + CLOCK_ALLOWANCE
    received_from = (time.now if is_wrong else position.watermark) - overlap
    received_from = max(received_from, position.origin)
    received_to = max(time.now, position.watermark, received_from) + CLOCK_ALLOWANCE
    if is_behind(position, time):
        received_to = min(position.watermark + length, time.surely_past)
    return Walk(window=Window(received_from, received_to))


def is_behind(position: Position, time: ServiceTime) -> bool:
    """Whether the next slice lies wholly in the past."""
    return position.watermark + FIRST_WALK_SLICE < time.surely_past


def next_length(length: timedelta, pages: int) -> timedelta:
    """The length of the next slice after one with this many pages: shorter for a busy log."""
    if pages > SLICE_PAGES:
        return max(length / 2, SHORTEST_SLICE)
    if 4 * pages <= SLICE_PAGES:
        return min(length * 2, LONGEST_SLICE)
    return length


def turn_page(walk: Walk, newest_on_page: datetime | None, next_cursor: str) -> Walk:
    return replace(walk, cursor=next_cursor, newest=_latest(walk.newest, newest_on_page))


def newest_of(received: Iterable[datetime], served_at: datetime) -> datetime | None:
    """The newest time on a page, ignoring times later than `served_at`."""
    until = served_at + DATE_STEP
    return max((at for at in received if at <= until), default=None)


def finish_walk(
    position: Position, walk: Walk, newest_on_page: datetime | None, begun: ServiceTime | None
) -> Position:
    """The position after the last page of `walk`.

    If the window was past when the walk began, the watermark moves to its end even if it was
    empty; otherwise it would be read forever. `begun` is None for a continued walk, whose first
    pages may have been read before the end of its window. A walk of several pages moves the
    watermark no further than the time it began: in any order of the log, an event may have
    appeared late on an earlier page.
    """
    newest = _latest(walk.newest, newest_on_page)
    if newest is not None and walk.cursor is not None:
        newest = min(newest, walk.window.received_to - CLOCK_ALLOWANCE)
    reached = max(position.watermark, newest) if newest is not None else position.watermark
    if begun is not None and walk.window.received_to <= begun.surely_past:
        reached = max(reached, walk.window.received_to)
    return replace(position, watermark=reached, walk=None)


def _latest(*times: datetime | None) -> datetime | None:
    return max((at for at in times if at is not None), default=None)


IDLE_PAGES = 20
"""A walk ends after this many pages in a row without new events, even if links go further."""


WALK_PAGES = 10_000
"""The most pages of a walk: a million events in one window."""


@dataclass(slots=True)
class WalkProgress:
    """A walk in progress: what its pages showed, and the `walk` to continue with."""

    window: Window  #: the full window
    walk: Walk
    pages: int = 0
    idle: int = 0  #: pages in a row with nothing new
    shown: set[int] = field(default_factory=set)  #: the pages so far, by their events
    #: the oldest event of the last page, if it listed the newest first
    oldest: datetime | None = None
    restarted: bool = False  #: the walk started over because a cursor was refused

    def note(self, page: EventPage) -> None:
        """Count the page, and whether it had new events of the window."""
        start = self.window.received_from
        end = self.window.received_to
        ids: list[object] = [event.identity for event in page.unreadable]
        ids += [event.event_id for event in page.events if start <= event.received_at <= end]
        what = hash(tuple(ids))
        self.idle = 0 if ids and what not in self.shown else self.idle + 1
        self.shown.add(what)
        self.pages += 1
        times = [event.received_at for event in page.events]
        is_newest_first = len(times) > 1 and times == sorted(times, reverse=True)
        self.oldest = times[-1] if is_newest_first else None

    @property
    def is_endless(self) -> bool:
        return self.idle >= IDLE_PAGES or self.pages >= WALK_PAGES

    def start_again(self) -> None:
        """Start over without the refused cursor, and continue without cursors.

        Raises MergeQueueProtocolError if the window can't be read without them.
        """
        start = self.window.received_from
        end = self.window.received_to
        if self.restarted:
            before = self.walk.window.received_to
            end = self.oldest or start
            if not start < end < before:
                raise MergeQueueProtocolError("the event log refuses its cursors")
        self.walk = replace(self.walk, window=Window(start, end), cursor=None)
        self.restarted = True
        self.oldest = None
        self.idle = 0
        self.shown.clear()
