"""Events that stand around a merge."""

from collections.abc import Sequence

from bot.kernel.repository import RepositoryName
from bot.log.batches import batches_of
from bot.log.preceding import LONGEST_QUEUE_TIME
from bot.log.rows import Events
from bot.merge_queue.event_records import EventRecord
from bot.merge_queue.event_types import MERGED
from bot.store.transaction import Transaction

EARLIER_EVENTS_READ = 10_000
"""The most events to hold at a time; in a larger backlog older leaves stay incomplete."""


def events_around_merges(
    transaction: Transaction, repository: RepositoryName, records: Sequence[EventRecord]
) -> Sequence[EventRecord]:
    """The events of the pull requests that merged, and of the others in their batches."""
    merges = [
        record for record in records if record.type == MERGED and record.pull_request is not None
    ]
    if not merges:
        return []
    numbers = {merge.pull_request for merge in merges if merge.pull_request is not None}
    since = min(merge.received_at for merge in merges) - LONGEST_QUEUE_TIME
    events = Events(transaction)
    found = events.of_pull_requests(repository, numbers, since=since, limit=EARLIER_EVENTS_READ)
    batches = batches_of(merges, found).values()
    members = {number for batch in batches for number in batch.members}
    others = members - numbers
    if not others:
        return found
    beside = events.of_pull_requests(repository, others, since=since, limit=EARLIER_EVENTS_READ)
    return [*found, *beside]
