"""Where the reading of an event log stands, and which window is read next."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.domain.repository import RepositoryName

WIDEST_WINDOW = timedelta(days=93)
"""The service refuses a wider window with 422."""

SLICE = timedelta(hours=6)
"""A position that is far behind is brought forward in windows of this length.

Each is stored and routed before the next is read, so that a backlog of any size starts to be
told at once, is kept in little memory, and loses little when it is interrupted.
"""

CLOCK_ALLOWANCE = timedelta(hours=1)
"""How far ahead of ours a service's clock may run before its newest events are read late."""


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


def first_position(repository: RepositoryName, at: datetime) -> Position:
    """The first run starts at `at`: no flood of history."""
    return Position(repository=repository, origin=at, watermark=at)


def next_walk(position: Position, now: datetime, overlap: timedelta) -> Walk:
    """The walk to go on with, or a fresh one that starts `overlap` before the watermark.

    The watermark is an event's own time, never our clock: a service whose clock is behind or
    ahead of ours loses nothing. The window ends later than now for the same reason.
    """
    if position.walk is not None:
        return position.walk
    received_from = max(position.watermark - overlap, position.origin)
    received_to = max(now, position.watermark) + CLOCK_ALLOWANCE
    if is_behind(position, now):
        received_to = position.watermark + SLICE
    return Walk(window=Window(received_from, received_to))


def is_behind(position: Position, now: datetime) -> bool:
    """Whether the position is brought forward by a slice that lies wholly in the past.

    By the service's clock too, so long as that is within CLOCK_ALLOWANCE of ours.
    """
    return position.watermark + SLICE + CLOCK_ALLOWANCE < now


def turn_page(walk: Walk, newest_on_page: datetime | None, next_cursor: str) -> Walk:
    return replace(walk, cursor=next_cursor, newest=_newest(walk.newest, newest_on_page))


def finish_walk(
    position: Position, walk: Walk, newest_on_page: datetime | None, begun_at: datetime | None
) -> Position:
    """The position after the last page of `walk`.

    A window that lay in the past when the walk was begun, at `begun_at`, moves the watermark to
    its end even when it held nothing: otherwise it would be read for ever. A walk that was
    interrupted and gone on with has no `begun_at`: its first pages may have been read before
    the end of its window had come. A walk of several pages moves it no further than the moment
    it began: whatever the log's order, an event may since have shown late on a page read before.
    """
    newest = _newest(walk.newest, newest_on_page)
    if newest is not None and walk.cursor is not None:
        newest = min(newest, walk.window.received_to - CLOCK_ALLOWANCE)
    reached = max(position.watermark, newest) if newest is not None else position.watermark
    if begun_at is not None and walk.window.received_to + CLOCK_ALLOWANCE < begun_at:
        reached = max(reached, walk.window.received_to)
    return replace(position, watermark=reached, walk=None)


def _newest(one: datetime | None, other: datetime | None) -> datetime | None:
    if one is None or other is None:
        return one or other
    return max(one, other)
