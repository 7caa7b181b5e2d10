"""How far the reading of one event log has come."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.log.position import Position
from bot.merge_queue.window import ServiceTime, service_time


@dataclass(slots=True)
class LogReading:
    """The position in one log, and what the last walks say about the next."""

    position: Position | None = None  #: None before the first poll
    began_at: ServiceTime | None = None  #: when the walk began; None if that was not recorded
    #: how far the service's clock is ahead of the bot's, None until known
    clock_ahead: timedelta | None = None
    read_to: datetime | None = None  #: the newest event of the last walk
    overlap_read_at: datetime | None = None  #: when the last walk began that read all of it
    overlap_pages: int = 0  #: how many pages that walk read
    watermark_moved_at: datetime | None = None  #: when a walk last moved it
    final_to: datetime | None = None  #: the watermark before which nothing appears any more
    cursor_failures: int = 0  #: failed pages behind a cursor, in a row

    @property
    def known_position(self) -> Position:
        """The position; raises ValueError before the first poll."""
        if self.position is None:
            raise ValueError("a walk continues from a position")
        return self.position

    @property
    def is_final(self) -> bool:
        """Whether nothing can appear before the watermark any more."""
        return self.position is not None and self.final_to == self.position.watermark

    def time(self, now: datetime) -> ServiceTime:
        """The service's time at `now` by our clock."""
        return service_time(now, self.clock_ahead)
