"""What a walk of an event log has read so far, and whether it still gets anywhere."""

from dataclasses import dataclass, field, replace
from datetime import datetime

from bot.domain.errors import MergeQueueProtocolError
from bot.domain.event_log import Walk, Window
from bot.domain.event_records import EventRecord
from bot.domain.events import EventPage

IDLE_PAGES = 20
"""A walk ends at so many pages in a row that show nothing new, though there are links to more."""

MOST_PAGES = 10_000
"""And at so many in all: a million events in one window."""


@dataclass(slots=True)
class Reading:
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
