"""How long to wait for the events that explain a leave, or complete a merged batch."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.log.batches import WAITS_TOGETHER, MergedBatch, still_to_merge
from bot.log.classification import GRACE_PERIOD, silent_leaves
from bot.merge_queue.event_records import EventRecord


@dataclass(frozen=True, slots=True)
class GracePeriod:
    """Since when, by our clock, the bot has waited for more about each event.

    Event times are the service's, whose clock may be far behind ours; comparing the two would end
    the wait immediately. So a leave without metadata waits until the log is GRACE_PERIOD past it,
    or, if nothing more happens, until we have waited as long.
    """

    since: dict[int, datetime] = field(default_factory=dict)

    def head(
        self, records: Sequence[EventRecord], *, newest: datetime, now: datetime
    ) -> Sequence[EventRecord]:
        """The first of `records` (oldest first) whose meaning can no longer change.

        `newest` is the newest known event. To keep the order per channel, everything after an
        undecided leave waits with it.
        """
        leaves = silent_leaves(records)
        undecided = [index for index, merge in leaves.items() if merge is None]
        return self._before(undecided, records, GRACE_PERIOD, newest, now)

    def complete_batches(
        self,
        records: Sequence[EventRecord],
        batches: Mapping[int, MergedBatch],
        around: Sequence[EventRecord],
        *,
        newest: datetime,
        now: datetime,
    ) -> Sequence[EventRecord]:
        """The first of `records`, up to a merge that more of its batch will follow immediately.

        A page of the log may end between them. `around` are all their known events.
        """
        unfinished = [
            index
            for index, record in enumerate(records)
            if record.event_id in batches and still_to_merge(batches[record.event_id], around)
        ]
        return self._before(unfinished, records, WAITS_TOGETHER, newest, now)

    def _before(
        self,
        undecided: Sequence[int],
        records: Sequence[EventRecord],
        longest: timedelta,
        newest: datetime,
        now: datetime,
    ) -> Sequence[EventRecord]:
        """The records before the first undecided one that hasn't waited for `longest`."""
        # Start all waits before deciding any, so that they run in parallel.
        for index in undecided:
            event_id = records[index].event_id
            # A wait starts over if the clock was set back.
            began_at = self.since.get(event_id, now)
            self.since[event_id] = min(began_at, now)
        for index in sorted(undecided):
            record = records[index]
            waited = now - self.since[record.event_id]
            log_is_past = newest - record.received_at
            if max(waited, log_is_past) < longest:
                return records[:index]
        return records

    def forget(self, event_ids: Collection[int]) -> None:
        """Drop events that are decided."""
        for event_id in event_ids:
            self.since.pop(event_id, None)
