"""How long what tells more of a leave or a merge is waited for."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.domain.batches import TOGETHER, MergedBatch, still_to_merge
from bot.domain.classification import GRACE_PERIOD, silent_leaves
from bot.domain.event_records import EventRecord


def settled(records: Sequence[EventRecord], at_most: int) -> int:
    """How many of `records` can be judged, whatever follows them and when they are looked at.

    `records` are oldest first, a part of the log that goes on. What is left for the next part
    begins before the first leave that says nothing and may be a merge by what is not among them.
    """
    whole = min(at_most, len(records))
    # From the last on: what is left out may be what an earlier one is judged by.
    for place, merge in silent_leaves(records).items():
        if place < whole:
            is_open = merge is None and (
                records[-1].received_at - records[place].received_at < GRACE_PERIOD
            )
            if is_open or (merge is not None and merge >= whole):
                whole = place
    return whole


@dataclass(frozen=True, slots=True)
class GracePeriod:
    """Since when, by our clock, what tells more of each event has been waited for.

    The time of an event is the service's, whose clock may be behind ours by any length: comparing
    the two would judge it at once. So a leave that says nothing waits until the log has gone
    GRACE_PERIOD beyond it, or, where nothing more happens, until we have waited as long.
    """

    since: dict[int, datetime] = field(default_factory=dict)

    def head(
        self, records: Sequence[EventRecord], *, newest: datetime, now: datetime
    ) -> Sequence[EventRecord]:
        """The head of `records` (oldest first) whose meaning no longer depends on what may follow.

        `newest` is the newest event known. Order per channel is kept, so everything behind an
        undecided leave waits with it.
        """
        undecided = [place for place, merge in silent_leaves(records).items() if merge is None]
        # All of them before any is judged: they wait side by side, not one after the other.
        waited = {place: self._waited(records[place].event_id, now) for place in undecided}
        for place in sorted(undecided):
            if max(waited[place], newest - records[place].received_at) < GRACE_PERIOD:
                return records[:place]
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
        unfinished = [
            index
            for index, record in enumerate(records)
            if record.event_id in batches and still_to_merge(batches[record.event_id], around)
        ]
        waited = {index: self._waited(records[index].event_id, now) for index in unfinished}
        for index in unfinished:
            if max(waited[index], newest - records[index].received_at) < TOGETHER:
                return records[:index]
        return records

    def _waited(self, event_id: int, now: datetime) -> timedelta:
        """A clock that is set back begins anew."""
        since = min(self.since.get(event_id, now), now)
        self.since[event_id] = since
        return now - since

    def forget(self, event_ids: Collection[int]) -> None:
        """These are judged."""
        for event_id in event_ids:
            self.since.pop(event_id, None)
