"""How long to wait for the events that explain a leave, or complete a merged batch."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.domain.classification import GRACE_PERIOD, silent_leaves
from bot.domain.event_records import EventRecord, in_order
from bot.domain.event_types import CHECKS_END, LEAVE, MERGED

WAITS_TOGETHER = timedelta(seconds=5)
"""How long the merge of one pull request waits for those of the others of its batch."""


@dataclass(frozen=True, slots=True)
class MergedBatch:
    """A batch that merged; `members` is empty if no event names them."""

    batch_id: str
    members: frozenset[int]


def batch_of(merge: EventRecord, around: Sequence[EventRecord]) -> MergedBatch | None:
    """The batch that merged a pull request; `around` are events of the repository.

    `action.queue.merged` doesn't name the batch; the leave before it or the end of its checks
    does.
    """
    batch_id = ""
    for one in in_order([one for one in around if one.pull_request == merge.pull_request]):
        if (one.received_at, one.event_id) >= (merge.received_at, merge.event_id):
            break
        sessions = {one.session_id, merge.session_id}
        passed = one.type == CHECKS_END and one.details.aborted is not True
        left = one.type == LEAVE and one.details.merged is not False
        if (len(sessions) == 1 or None in sessions) and (passed or left):
            batch_id = one.details.batch or batch_id
    named = [one.details.members for one in around if one.details.batch == batch_id]
    return MergedBatch(batch_id, frozenset().union(*named)) if batch_id else None


def batches_of(
    records: Sequence[EventRecord], around: Sequence[EventRecord]
) -> dict[int, MergedBatch]:
    """The batch of each merge among `records`, by the id of the event."""
    found: dict[int, MergedBatch] = {}
    for record in records:
        batch = batch_of(record, around) if record.type == MERGED else None
        if batch is not None:
            found[record.event_id] = batch
    return found


def still_to_merge(batch: MergedBatch, around: Iterable[EventRecord]) -> frozenset[int]:
    """The members that have neither merged nor left."""
    return batch.members - {
        one.pull_request or 0
        for one in around
        if one.type == MERGED or (one.type == LEAVE and one.details.merged is False)
    }


def together(batches: Mapping[int, MergedBatch], event_ids: Collection[int]) -> dict[int, str]:
    """The batch, by event id, of each event that shares its batch with another."""
    ids = {event_id: batches[event_id].batch_id for event_id in event_ids if event_id in batches}
    size = Counter(ids.values())
    return {event_id: batch_id for event_id, batch_id in ids.items() if size[batch_id] > 1}


def settled(records: Sequence[EventRecord], at_most: int) -> int:
    """How many of `records` can be classified regardless of later events.

    `records` are oldest first, part of a log that continues. The next part begins before the
    first leave without metadata that a merge outside this part may explain.
    """
    whole = min(at_most, len(records))
    # Backwards, because a record left out may be needed to classify an earlier one.
    for place, merge in sorted(silent_leaves(records).items(), reverse=True):
        if place < whole:
            is_open = merge is None and (
                records[-1].received_at - records[place].received_at < GRACE_PERIOD
            )
            if is_open or (merge is not None and merge >= whole):
                whole = place
    return whole


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
        undecided = [place for place, merge in silent_leaves(records).items() if merge is None]
        return self._before(undecided, records, GRACE_PERIOD, newest, now)

    def whole_batches(
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
        for event_id in (records[place].event_id for place in undecided):
            # A wait starts over if the clock was set back.
            self.since[event_id] = min(self.since.get(event_id, now), now)
        for place in sorted(undecided):
            waited = now - self.since[records[place].event_id]
            if max(waited, newest - records[place].received_at) < longest:
                return records[:place]
        return records

    def forget(self, event_ids: Collection[int]) -> None:
        """Drop events that are decided."""
        for event_id in event_ids:
            self.since.pop(event_id, None)
