"""How long to wait for the events that explain a leave, or complete a merged batch."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.domain.classification import GRACE_PERIOD, silent_leaves
from bot.domain.event_records import EventRecord
from bot.domain.event_types import CHECKS_END, LEAVE, MERGED

TOGETHER = timedelta(seconds=5)
"""How long the merge of one pull request waits for those of the others of its batch."""


@dataclass(frozen=True, slots=True)
class MergedBatch:
    """A batch that merged; `members` is empty where no event says who was in it."""

    batch_id: str
    members: frozenset[int]


def batch_of(merge: EventRecord, around: Iterable[EventRecord]) -> MergedBatch | None:
    """The batch that merged a pull request; `around` are events of the repository.

    Its `action.queue.merged` does not name the batch; the leave before it does, or the end of
    its checks.
    """
    before = [one for one in around if _tells_of(one, merge)]
    if not before:
        return None
    latest = max(before, key=lambda one: (one.received_at, one.event_id))
    batch_id = latest.details.batch or ""
    named = [one.details.members for one in around if one.details.batch == batch_id]
    return MergedBatch(batch_id, frozenset().union(*named))


def _tells_of(one: EventRecord, merge: EventRecord) -> bool:
    if one.pull_request != merge.pull_request or not one.details.batch:
        return False
    if None not in {one.session_id, merge.session_id} and one.session_id != merge.session_id:
        return False
    is_before = (one.received_at, one.event_id) < (merge.received_at, merge.event_id)
    passed = one.type == CHECKS_END and one.details.aborted is not True
    left = one.type == LEAVE and one.details.merged is not False
    return is_before and (passed or left)


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
    ended = {one.pull_request for one in around if one.type == MERGED or _left_unmerged(one)}
    return batch.members.difference(number for number in ended if number is not None)


def _left_unmerged(record: EventRecord) -> bool:
    return record.type == LEAVE and record.details.merged is False


def together(batches: Mapping[int, MergedBatch], event_ids: Collection[int]) -> dict[int, str]:
    """The batch, by event id, of those of the events that are not alone in theirs."""
    ids = {event_id: batches[event_id].batch_id for event_id in event_ids if event_id in batches}
    size = Counter(ids.values())
    return {event_id: batch_id for event_id, batch_id in ids.items() if size[batch_id] > 1}


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
