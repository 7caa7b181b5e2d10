"""Pull requests that merge together."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from bot.log.classification import GRACE_PERIOD, silent_leaves
from bot.log.preceding import may_share_a_session
from bot.merge_queue.event_records import EventRecord, in_order
from bot.merge_queue.event_types import CHECKS_END, LEAVE, MERGED

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
    own = [record for record in around if record.pull_request == merge.pull_request]
    for record in in_order(own):
        if (record.received_at, record.event_id) >= (merge.received_at, merge.event_id):
            break
        if may_share_a_session(record, merge) and _may_name_batch(record):
            batch_id = record.details.batch or batch_id
    if not batch_id:
        return None
    named = [record.details.members for record in around if record.details.batch == batch_id]
    return MergedBatch(batch_id, frozenset().union(*named))


def _may_name_batch(record: EventRecord) -> bool:
    if record.type == CHECKS_END:
        return record.details.aborted is not True
    return record.type == LEAVE and record.details.merged is not False


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
    gone = {record.pull_request or 0 for record in around if _is_gone(record)}
    return batch.members - gone


def _is_gone(record: EventRecord) -> bool:
    if record.type == MERGED:
        return True
    return record.type == LEAVE and record.details.merged is False


def shared_batches(
    batches: Mapping[int, MergedBatch], event_ids: Collection[int]
) -> dict[int, str]:
    """The batch, by event id, of each event that shares its batch with another."""
    ids = {event_id: batches[event_id].batch_id for event_id in event_ids if event_id in batches}
    size = Counter(ids.values())
    return {event_id: batch_id for event_id, batch_id in ids.items() if size[batch_id] > 1}


def classifiable(records: Sequence[EventRecord], at_most: int) -> int:
    """How many of `records` can be classified regardless of later events.

    `records` are oldest first, part of a log that continues. The next part begins before the
    first leave without metadata that a merge outside this part may explain.
    """
    length = min(at_most, len(records))
    leaves = silent_leaves(records)
    # Backwards, because a record left out may be needed to classify an earlier one.
    for index, merge in sorted(leaves.items(), reverse=True):
        if index >= length:
            continue
        if merge is None:
            waited = records[-1].received_at - records[index].received_at
            needs_later = waited < GRACE_PERIOD
        else:
            needs_later = merge >= length
        if needs_later:
            length = index
    return length
