"""How long what tells more of a leave or a merge is waited for."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bot.domain.batches import TOGETHER, MergedBatch, still_to_merge
from bot.domain.classification import SETTLING, is_undecided
from bot.domain.event_records import EventRecord


@dataclass(frozen=True, slots=True)
class Settling:
    """Since when, by our clock, what tells more of each event has been waited for.

    The time of an event is the service's, whose clock may be behind ours by any length: comparing
    the two would judge it at once. So a leave that says nothing waits until the log has gone
    SETTLING beyond it, or, where nothing more happens, until we have waited as long.
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

    def whole_batches(
        self,
        records: Sequence[EventRecord],
        batches: Mapping[int, MergedBatch],
        around: Sequence[EventRecord],
        *,
        newest: datetime,
        now: datetime,
    ) -> Sequence[EventRecord]:
        """The head of `records` up to a merge that others of its batch will follow at once.

        A page of the log may end between them. `around` are the known events of all of them.
        """
        for index, record in enumerate(records):
            batch = batches.get(record.event_id)
            if batch is not None and still_to_merge(batch, around):
                waited = now - self.since.setdefault(record.event_id, now)
                if max(waited, newest - record.received_at) < TOGETHER:
                    return records[:index]
        return records

    def forget(self, event_ids: Collection[int]) -> None:
        """These are judged."""
        for event_id in event_ids:
            self.since.pop(event_id, None)
