"""Read the stored events that complete leaves and merges."""

from collections.abc import Mapping, Sequence

from bot.acts.causes import LONGEST_APART, act_of_event
from bot.acts.record import AuditRecord
from bot.acts.rows import Audit
from bot.kernel.repository import RepositoryName
from bot.log.around_merges import EARLIER_EVENTS_READ
from bot.log.preceding import LONGEST_QUEUE_TIME, is_uninformative
from bot.log.rows import Events
from bot.merge_queue.event_records import EventRecord, in_order
from bot.removals.removal import removal_as_event
from bot.store.transaction import Transaction


def preceding_events(
    transaction: Transaction, repository: RepositoryName, records: Sequence[EventRecord]
) -> Sequence[EventRecord]:
    """The events, oldest first, of pull requests whose leaves lack details.

    A removal through this bot is among them.
    """
    leaves = [
        record for record in records if is_uninformative(record) and record.pull_request is not None
    ]
    if not leaves:
        return []
    found = Events(transaction).of_pull_requests(
        repository,
        {leave.pull_request for leave in leaves if leave.pull_request is not None},
        since=min(leave.received_at for leave in leaves) - LONGEST_QUEUE_TIME,
        limit=EARLIER_EVENTS_READ,
    )
    return with_removals_here(transaction, repository, leaves, found)


def with_removals_here(
    transaction: Transaction,
    repository: RepositoryName,
    records: Sequence[EventRecord],
    around: Sequence[EventRecord],
) -> Sequence[EventRecord]:
    """The events `around`, and the acts of this bot that caused leaves among `records`."""
    by_id = {record.event_id: record for record in records}
    acts = removals_here(transaction, repository, records)
    return in_order(
        [*around, *(removal_as_event(act, by_id[number]) for number, act in acts.items())]
    )


def removals_here(
    transaction: Transaction, repository: RepositoryName, records: Sequence[EventRecord]
) -> Mapping[int, AuditRecord]:
    """The act of this bot that caused each leave which doesn't say who did, by event id."""
    leaves = [record for record in records if is_uninformative(record)]
    if not leaves:
        return {}
    since = min(leave.received_at for leave in leaves) - LONGEST_APART
    acts = Audit(transaction).since(repository, since)
    found = {leave.event_id: act_of_event(leave, acts) for leave in leaves}
    return {event_id: act for event_id, act in found.items() if act is not None}
