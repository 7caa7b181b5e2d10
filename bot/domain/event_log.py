"""How far an event log has been read, and which window to read next."""

from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bot.domain.errors import MergeQueueProtocolError
from bot.domain.event_records import EventPage
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

Each is stored and routed before the next is read, so that a backlog of any size is posted as it is
read, is kept in little memory, and loses little when it is interrupted.
"""

SHORTEST_SLICE = timedelta(minutes=15)
LONGEST_SLICE = timedelta(days=1)
SLICE_PAGES = 20
"""The target time for reading a slice: a few seconds."""

CLOCK_ALLOWANCE = timedelta(hours=1)
"""How far our measurement of a service's clock may be off.

If it runs ahead by more, its newest events are read late.
"""

UNTOLD_ALLOWANCE = timedelta(hours=7)
"""How far a service's clock may be behind ours if it never sends its time."""

BELIEVED_ALONE = timedelta(minutes=1)
"""How far a single `Date` or event time may differ from the known time and be accepted.

A larger difference counts as wrong until the other answers agree with it.
"""

ANSWERS_COMPARED = 3

DATE_STEP = timedelta(seconds=1)
"""A `Date` header has whole seconds."""


@dataclass(frozen=True, slots=True)
class ServiceTime:
    """The service's clock as far as we know: at most `allowance` behind `now`."""

    now: datetime
    allowance: timedelta = CLOCK_ALLOWANCE

    @property
    def surely_past(self) -> datetime:
        """Everything received before this is in the log for good, except late arrivals."""
        return self.now - self.allowance


def service_time(ours: datetime, ahead: timedelta | None) -> ServiceTime:
    """The service's time; `ahead` is how far its clock was ahead of ours, None if unknown.

    A time counts as past only if both clocks agree, because one of them may be wrong.
    """
    if ahead is None:
        return ServiceTime(ours, UNTOLD_ALLOWANCE)
    return ServiceTime(ours + ahead, CLOCK_ALLOWANCE + max(ahead, timedelta()))


@dataclass(slots=True)
class ServiceClock:
    """How far the service's clock is ahead of ours, from its last answers.

    It is the median of three, so that no single answer outweighs the others. Zero stands in for
    answers that have not come yet.
    """

    answers: deque[timedelta] = field(default_factory=lambda: deque(maxlen=ANSWERS_COMPARED))

    @property
    def ahead(self) -> timedelta | None:
        """The difference, or None until the service has sent its time."""
        if not self.answers:
            return None
        if len(self.answers) == 1 and abs(self.answers[0]) <= BELIEVED_ALONE:
            return self.answers[0]
        return sorted([*self.answers, timedelta(), timedelta()][:ANSWERS_COMPARED])[1]

    @property
    def agrees(self) -> bool:
        """Whether the last answer is plausible; True without any."""
        believed = self.ahead
        return believed is None or abs(self.answers[-1] - believed) <= BELIEVED_ALONE

    def add(self, ahead: timedelta) -> None:
        self.answers.append(ahead)


@dataclass(frozen=True, slots=True)
class Window:
    """Bounds of one walk, both aware; `received_from` is before `received_to`."""

    received_from: datetime
    received_to: datetime

    def __post_init__(self) -> None:
        if self.received_from.tzinfo is None or self.received_to.tzinfo is None:
            raise ValueError("a window has aware times")
        if self.received_from >= self.received_to:
            raise ValueError("a window ends after it begins")
        if self.received_to - self.received_from > WIDEST_WINDOW:
            raise ValueError("a window spans at most 93 days")


@dataclass(frozen=True, slots=True)
class Walk:
    """One reading of a window.

    `cursor`: the page to read next, None for the first.
    `newest`: the newest `received_at` on the pages read so far.
    """

    window: Window
    cursor: str | None = None
    newest: datetime | None = None


@dataclass(frozen=True, slots=True)
class Position:
    """The stored position in one repository's event log.

    `origin`: events received before it are history and not posted.
    `watermark`: the newest event of all finished walks, in the service's clock, or `origin`.
    `walk`: the interrupted walk, if any.
    Nothing here relies on the order of the log.
    """

    repository: RepositoryName
    origin: datetime
    watermark: datetime
    walk: Walk | None = None


@dataclass(frozen=True, slots=True)
class LastPoll:
    """When an event log was last read to its end, by our clock, and which types were requested.

    Empty `polled_types`: all of them, or unknown.
    """

    polled_at: datetime
    polled_types: Collection[str] = ()


def first_position(repository: RepositoryName, at: datetime) -> Position:
    """The position of a first run, which starts `at` and skips history."""
    return Position(repository=repository, origin=at, watermark=at)


def next_walk(
    position: Position,
    time: ServiceTime,
    overlap: timedelta,
    length: timedelta = FIRST_SLICE,
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
    return position.watermark + FIRST_SLICE < time.surely_past


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


def window_back(
    now: datetime, newest: datetime, since: timedelta, until: timedelta | None = None
) -> Window:
    """The window from `since` ago to `until` ago, or to the latest possible time.

    `newest` is the newest known event, in the service's clock. That clock may be ahead of ours, so
    a window that ended at our now could hide the newest events.
    """
    received_to = max(now, newest) + CLOCK_ALLOWANCE if until is None else now - until
    received_from = max(now - since, received_to - WIDEST_WINDOW)
    return Window(min(received_from, received_to - timedelta(microseconds=1)), received_to)


IDLE_PAGES = 20
"""A walk ends after this many pages in a row without new events, even if links go further."""

MOST_PAGES = 10_000
"""The most pages of a walk: a million events in one window."""


@dataclass(slots=True)
class WalkProgress:
    """A walk in progress: what its pages showed, and the `walk` to continue with.

    `window`: the whole window.
    `shown`: the pages so far, by their events.
    `idle`: pages in a row with nothing new.
    `oldest`: the oldest event of the last page, if it listed the newest first.
    `restarted`: the walk started over because a cursor was refused.
    """

    window: Window
    walk: Walk
    pages: int = 0
    idle: int = 0
    shown: set[int] = field(default_factory=set)
    oldest: datetime | None = None
    restarted: bool = False

    def note(self, page: EventPage) -> None:
        """Count the page, and whether it had new events of the window."""
        start, end = self.window.received_from, self.window.received_to
        ids: list[object] = [one.identity for one in page.unreadable]
        ids += [one.event_id for one in page.events if start <= one.received_at <= end]
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
        """Start over without the refused cursor, and continue without cursors.

        Raises MergeQueueProtocolError if the window can't be read without them.
        """
        start, end = self.window.received_from, self.window.received_to
        if self.restarted:
            before, end = self.walk.window.received_to, self.oldest or start
            if not start < end < before:
                raise MergeQueueProtocolError("the event log refuses its cursors")
        self.walk = replace(self.walk, window=Window(start, end), cursor=None)
        self.restarted, self.oldest, self.idle = True, None, 0
        self.shown.clear()
