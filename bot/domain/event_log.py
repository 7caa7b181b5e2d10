"""Where the reading of an event log stands, and which window is read next."""

from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bot.domain.errors import MergeQueueProtocolError
from bot.domain.event_records import EventRecord
from bot.domain.events import EventPage
from bot.domain.repository import RepositoryName

LARGEST_PAGE = 100
"""Events on one page of the log at most (API document, Limits: `per_page`)."""

PULL_REQUEST_END = 2147483647
"""The log's filter takes numbers from 1 up to, but excluding, this one (API document, Limits)."""

WIDEST_WINDOW = timedelta(days=93)
"""The service refuses a wider window with 422."""

LONGEST_LOOKBACK = WIDEST_WINDOW - timedelta(days=1)
"""The service refuses wider windows; a day of it is for clocks that do not agree."""

FIRST_SLICE = timedelta(hours=1)
"""A position that is far behind is brought forward in windows, the first of this length.

Each is stored and routed before the next is read, so that a backlog of any size is told as it is
read, is kept in little memory, and loses little when it is interrupted.
"""

SHORTEST_SLICE = timedelta(minutes=15)
LONGEST_SLICE = timedelta(days=1)
SLICE_PAGES = 20
"""What a slice is meant to take: a few seconds of reading."""

CLOCK_ALLOWANCE = timedelta(hours=1)
"""How far we may be wrong about a service's clock that we were told.

Also how far ahead of what we know it may run before its newest events are read late.
"""

UNTOLD_ALLOWANCE = timedelta(hours=7)
"""How far a service's clock may be behind ours when it never tells the time."""

BELIEVED_ALONE = timedelta(minutes=1)
"""How far a single `Date`, or the time of a single event, may be from what we know and be believed.

A larger difference counts as wrong until the other answers agree with it.
"""

ANSWERS_COMPARED = 3

DATE_STEP = timedelta(seconds=1)
"""A `Date` tells whole seconds."""

INSTANT = timedelta(microseconds=1)
"""The service's times are no finer."""


@dataclass(frozen=True, slots=True)
class ServiceTime:
    """The service's clock as far as we know it: no more than `allowance` behind `now`."""

    now: datetime
    allowance: timedelta = CLOCK_ALLOWANCE

    @property
    def surely_past(self) -> datetime:
        """What the service received before this is in its log for good, but for late arrivals."""
        return self.now - self.allowance


def service_time(ours: datetime, ahead: timedelta | None) -> ServiceTime:
    """`ahead`: how far the service's clock was ahead of ours when it last told, if it ever did.

    What both clocks call past is surely past: one of them may be wrong.
    """
    if ahead is None:
        return ServiceTime(ours, UNTOLD_ALLOWANCE)
    return ServiceTime(ours + ahead, CLOCK_ALLOWANCE + max(ahead, timedelta()))


@dataclass(slots=True)
class ServiceClock:
    """How far the service's clock is ahead of ours, by its last answers.

    The median of three, so that no single answer is believed against the others. Our own clock
    stands in for answers that have not come yet.
    """

    told: deque[timedelta] = field(default_factory=lambda: deque(maxlen=ANSWERS_COMPARED))

    @property
    def ahead(self) -> timedelta | None:
        """None while the service has not told its time."""
        if not self.told:
            return None
        if len(self.told) == 1 and abs(self.told[0]) <= BELIEVED_ALONE:
            return self.told[0]
        return sorted([*self.told, timedelta(), timedelta()][:ANSWERS_COMPARED])[1]

    @property
    def agrees(self) -> bool:
        """Whether the last answer is believed; also when there was none."""
        believed = self.ahead
        return believed is None or abs(self.told[-1] - believed) <= BELIEVED_ALONE

    def hear(self, ahead: timedelta) -> None:
        self.told.append(ahead)


@dataclass(frozen=True, slots=True)
class Window:
    """The explicit bounds of one walk, both aware; `received_from` is before `received_to`."""

    received_from: datetime
    received_to: datetime

    def __post_init__(self) -> None:
        if self.received_from.tzinfo is None or self.received_to.tzinfo is None:
            msg = "a window has aware times"
            raise ValueError(msg)
        if self.received_from >= self.received_to:
            msg = "a window ends after it begins"
            raise ValueError(msg)
        if self.received_to - self.received_from > WIDEST_WINDOW:
            msg = "a window spans at most 93 days"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True)
class Walk:
    """One reading of a window.

    `cursor` is the page to read next, None for the first. `newest` is the newest `received_at`
    among the pages read so far.
    """

    window: Window
    cursor: str | None = None
    newest: datetime | None = None


@dataclass(frozen=True, slots=True)
class Position:
    """The durable bookmark of one repository's event log.

    `origin`: events received before it are history that nobody is told about. `watermark`: the
    newest event of all finished walks, in the service's clock, or `origin`. `walk`: the walk
    that was interrupted, if any. The order of the log is not relied on.
    """

    repository: RepositoryName
    origin: datetime
    watermark: datetime
    walk: Walk | None = None


@dataclass(frozen=True, slots=True)
class LastPoll:
    """When an event log was last read to its end, by our clock, and the types of events asked for.

    Without `types` all were, or nobody knows any more.
    """

    at: datetime
    types: Collection[str] = ()


def first_position(repository: RepositoryName, at: datetime) -> Position:
    """The first run starts at `at`: no flood of history."""
    return Position(repository=repository, origin=at, watermark=at)


def next_walk(
    position: Position,
    time: ServiceTime,
    overlap: timedelta,
    length: timedelta = FIRST_SLICE,
    read_to: datetime | None = None,
) -> Walk:
    """The walk to go on with, or a fresh one that starts `overlap` before the watermark.

    The watermark is an event's own time, never our clock: a service whose clock is behind or
    ahead of ours loses nothing. The window ends later than now for the same reason. A watermark
    that lies in the future all the same was wrong. Nothing up to `read_to` is read again.
    """
    if position.walk is not None:
        return position.walk
    is_wrong = position.watermark > time.now + CLOCK_ALLOWANCE
    received_from = (time.now if is_wrong else position.watermark) - overlap
    received_from = max(received_from, position.origin)
    if read_to is not None:
        received_from = max(received_from, read_to + INSTANT)
    received_to = max(time.now, position.watermark, received_from) + CLOCK_ALLOWANCE
    if is_behind(position, time):
        received_to = min(position.watermark + length, time.surely_past)
    return Walk(window=Window(received_from, received_to))


def is_behind(position: Position, time: ServiceTime) -> bool:
    """Whether the position is brought forward by a slice that lies wholly in the past."""
    return position.watermark + FIRST_SLICE < time.surely_past


def next_length(length: timedelta, pages: int) -> timedelta:
    """The length of the slice after one that took so many pages: a busy log in shorter ones."""
    if pages > SLICE_PAGES:
        return max(length / 2, SHORTEST_SLICE)
    if 4 * pages <= SLICE_PAGES:
        return min(length * 2, LONGEST_SLICE)
    return length


def turn_page(walk: Walk, newest_on_page: datetime | None, next_cursor: str) -> Walk:
    return replace(walk, cursor=next_cursor, newest=_newest(walk.newest, newest_on_page))


def newest_of(received: Iterable[datetime], served_at: datetime) -> datetime | None:
    """The newest of a page's times; what is later than the page itself does not count yet."""
    until = served_at + DATE_STEP
    return max((at for at in received if at <= until), default=None)


def finish_walk(
    position: Position, walk: Walk, newest_on_page: datetime | None, begun: ServiceTime | None
) -> Position:
    """The position after the last page of `walk`.

    A window that lay in the past when the walk was begun moves the watermark to its end even
    when it held nothing: otherwise it would be read for ever. For a walk that was interrupted
    and gone on with `begun` is None: its first pages may have been read before the end of its
    window had come. A walk of several pages moves it no further than the moment
    it began: whatever the log's order, an event may since have shown late on a page read before.
    """
    newest = _newest(walk.newest, newest_on_page)
    if newest is not None and walk.cursor is not None:
        newest = min(newest, walk.window.received_to - CLOCK_ALLOWANCE)
    reached = max(position.watermark, newest) if newest is not None else position.watermark
    if begun is not None and walk.window.received_to <= begun.surely_past:
        reached = max(reached, walk.window.received_to)
    return replace(position, watermark=reached, walk=None)


def _newest(one: datetime | None, other: datetime | None) -> datetime | None:
    if one is None or other is None:
        return one or other
    return max(one, other)


def window_back(
    now: datetime, newest: datetime, since: timedelta, until: timedelta | None = None
) -> Window:
    """From `since` ago to `until` ago, or to the latest moment there is.

    `newest` is the newest event we know of, in the service's own clock, which may be ahead of
    ours; a window that ended at our now would hide its newest events.
    """
    received_to = max(now, newest) + CLOCK_ALLOWANCE if until is None else now - until
    received_from = max(now - since, received_to - WIDEST_WINDOW)
    return Window(min(received_from, received_to - timedelta(microseconds=1)), received_to)


IDLE_PAGES = 20
"""A walk ends at so many pages in a row that show nothing new, though there are links to more."""

MOST_PAGES = 10_000
"""And at so many in all: a million events in one window."""


@dataclass(slots=True)
class WalkProgress:
    """A walk under way: what of it is read and not stored, and `walk`, where it goes on.

    `unstored` tells what each of `records` is, by its id. `window` is the whole one. `shown`: the
    pages so far, by their events. `idle`: pages in a row that showed nothing new. `oldest` is the
    oldest event of the last page, if that listed the newest first. `restarted`: the walk was begun
    again, since a cursor was refused.
    """

    window: Window
    walk: Walk
    records: list[EventRecord] = field(default_factory=list)
    unstored: dict[int, int] = field(default_factory=dict)
    pages: int = 0
    idle: int = 0
    shown: set[int] = field(default_factory=set)
    cursors: set[str] = field(default_factory=set)
    oldest: datetime | None = None
    restarted: bool = False

    def note(self, page: EventPage) -> None:
        """Count the page, and whether it showed anything of the window that is new."""
        start, end = self.window.received_from, self.window.received_to
        ids = [one.event_id for one in page.events if start <= one.received_at <= end]
        ids += [one.event_id for one in page.unreadable if one.event_id is not None]
        what = hash(tuple(ids))
        self.idle = 0 if ids and what not in self.shown else self.idle + 1
        self.shown.add(what)
        self.pages += 1
        times = [one.received_at for one in page.events]
        is_newest_first = len(times) > 1 and times == sorted(times, reverse=True)
        self.oldest = times[-1] if is_newest_first else None

    @property
    def is_endless(self) -> bool:
        return self.idle >= IDLE_PAGES or self.pages >= MOST_PAGES

    def start_again(self) -> None:
        """Begin anew without the cursor that was refused, and after that go on without cursors.

        Raises MergeQueueProtocolError where the window cannot be read without them.
        """
        start, end = self.window.received_from, self.window.received_to
        if self.restarted:
            before, end = self.walk.window.received_to, self.oldest or start
            if not start < end < before:
                raise MergeQueueProtocolError("the event log refuses its cursors")
        self.walk = replace(self.walk, window=Window(start, end), cursor=None)
        self.restarted, self.oldest, self.idle = True, None, 0
        self.shown.clear()
        self.cursors.clear()
