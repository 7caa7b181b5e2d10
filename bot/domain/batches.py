"""Which pull requests a batch merged together, as the events of their stays tell."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

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
