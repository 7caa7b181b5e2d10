"""How long a leave that says nothing is waited for."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bot.domain.classification import SETTLING, is_undecided
from bot.domain.event_records import EventRecord


@dataclass(frozen=True, slots=True)
class Settling:
    """Since when, by our clock, each leave that says nothing has been waited for.

    Its own time is the service's, whose clock may be behind ours by any length: comparing the
    two would judge it at once. So it waits until the log has gone SETTLING beyond it, or, where
    nothing more happens, until we have waited as long.
    """

    since: dict[int, datetime] = field(default_factory=dict)

    def head(
        self, records: Sequence[EventRecord], *, newest: datetime, now: datetime
    ) -> Sequence[EventRecord]:
        """The head of `records` (oldest first) whose meaning no longer depends on what may follow.

        `newest` is the newest event known. Order per channel is kept, so everything behind an
        undecided leave waits with it.
        """
        for index, record in enumerate(records):
            if is_undecided(record, records[index:]):
                waited = now - self.since.setdefault(record.event_id, now)
                if max(waited, newest - record.received_at) < SETTLING:
                    return records[:index]
        return records

    def forget(self, event_ids: Collection[int]) -> None:
        """These are judged."""
        for event_id in event_ids:
            self.since.pop(event_id, None)
