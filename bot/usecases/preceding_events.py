"""Read the stored events that complete leaves and merges."""

from collections.abc import Mapping, Sequence

from bot.domain.audit import AuditRecord
from bot.domain.causes import LONGEST_APART, act_of_event
from bot.domain.event_records import EventRecord, in_order
from bot.domain.event_types import MERGED
from bot.domain.grace_period import batches_of
from bot.domain.preceding_events import LONGEST_QUEUE_TIME, is_uninformative
from bot.domain.removals import as_event
from bot.domain.repository import RepositoryName
from bot.store.transactions import Transaction

READ = 10_000
"""The most events to hold at a time; in a larger backlog older leaves stay incomplete."""


def events_around_merges(
    transaction: Transaction, repository: RepositoryName, records: Sequence[EventRecord]
) -> Sequence[EventRecord]:
    """The events of the pull requests that merged, and of the others in their batches."""
    merges = [one for one in records if one.type == MERGED and one.pull_request is not None]
    if not merges:
        return []
    numbers = {one.pull_request for one in merges if one.pull_request is not None}
    since = min(one.received_at for one in merges) - LONGEST_QUEUE_TIME
    found = transaction.events.of_pull_requests(repository, numbers, since=since, limit=READ)
    members = {n for batch in batches_of(merges, found).values() for n in batch.members}
    others = members - numbers
    if not others:
        return found
    return [
        *found,
        *transaction.events.of_pull_requests(repository, others, since=since, limit=READ),
    ]


def preceding_events(
    transaction: Transaction, repository: RepositoryName, records: Sequence[EventRecord]
) -> Sequence[EventRecord]:
    """The events, oldest first, of pull requests whose leaves lack details.

    A removal through this bot is among them.
    """
    leaves = [one for one in records if is_uninformative(one) and one.pull_request is not None]
    if not leaves:
        return []
    found = transaction.events.of_pull_requests(
        repository,
        {one.pull_request for one in leaves if one.pull_request is not None},
        since=min(one.received_at for one in leaves) - LONGEST_QUEUE_TIME,
        limit=READ,
    )
    return with_removals_here(transaction, repository, leaves, found)


def with_removals_here(
    transaction: Transaction,
    repository: RepositoryName,
    records: Sequence[EventRecord],
    around: Sequence[EventRecord],
) -> Sequence[EventRecord]:
    """The events `around`, and the acts of this bot that caused leaves among `records`."""
    by_id = {one.event_id: one for one in records}
    acts = removals_here(transaction, repository, records)
    return in_order([*around, *(as_event(act, by_id[one]) for one, act in acts.items())])


def removals_here(
    transaction: Transaction, repository: RepositoryName, records: Sequence[EventRecord]
) -> Mapping[int, AuditRecord]:
    """The act of this bot that caused each leave which doesn't say who did, by event id."""
    leaves = [one for one in records if is_uninformative(one)]
    if not leaves:
        return {}
    since = min(one.received_at for one in leaves) - LONGEST_APART
    acts = transaction.audit.since(repository, since)
    found = {one.event_id: act_of_event(one, acts) for one in leaves}
    return {event_id: act for event_id, act in found.items() if act is not None}
