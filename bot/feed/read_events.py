"""The events that the polls of one repository have read lately."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from bot.feed.grace_period import GracePeriod
from bot.merge_queue.event_records import EventRecord


class EventContent(NamedTuple):
    """What distinguishes two events with the same id."""

    received_at: datetime
    type: str
    pull_request: int | None


def content(event: EventRecord) -> EventContent:
    return EventContent(event.received_at, event.type, event.pull_request)


@dataclass(slots=True)
class ReadEvents:
    """The events read: to recognise those that are read again, and to store and route the new."""

    #: the events read, at least of the overlap, by their ids
    seen: dict[int, EventContent] = field(default_factory=dict)
    #: nothing older is in `seen`, except what was wrongly stamped
    seen_from: datetime | None = None
    #: ids already reported, because two events share one
    duplicates: set[int] = field(default_factory=set)
    #: events not stored yet; the position is behind them
    unstored: list[EventRecord] = field(default_factory=list)
    #: the stored events not routed yet, None while unknown
    unrouted: Sequence[EventRecord] | None = None
    #: leaves that wait for an explanation
    grace_period: GracePeriod = field(default_factory=GracePeriod)
    #: pull requests have entered the queue whose titles are not read yet
    titles_wanted: bool = False
    #: whether freezes have no ids yet, because the service's list couldn't be read
    freezes_wanted: bool = False
    #: the list was unavailable at the beginning: the freezes that it alone shows have no rows yet
    lacks_listed_freezes: bool = False
    #: an event told of a pause that could not be read; a new process reads each queue anyway
    pause_wanted: bool = False

    @property
    def are_all_routed(self) -> bool:
        """Whether it is known that no stored event still waits for its routing."""
        return self.unrouted is not None and not self.unrouted

    def not_reported(self, duplicates: Collection[int]) -> Collection[int]:
        """Those of the ids that were not reported before; they count as reported now."""
        new = set(duplicates) - self.duplicates
        self.duplicates |= new
        return new

    def forget(self, watermark: datetime, overlap: timedelta) -> None:
        """Once in an overlap's length, remember only what the next overlap will show again."""
        start = watermark - overlap
        if self.seen_from is not None and start < self.seen_from + overlap:
            return
        self.seen = {
            event_id: known for event_id, known in self.seen.items() if known.received_at >= start
        }
        self.seen_from = start
        self.duplicates &= self.seen.keys()
