"""The stored events that deliveries are about."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from bot.kernel.repository import RepositoryName
from bot.log.rows import Events
from bot.merge_queue.event_records import EventRecord
from bot.posts.delivery import Subject, SubjectKind
from bot.store.transaction import Transaction


def events_about(
    transaction: Transaction, subjects: Sequence[Subject]
) -> Mapping[Subject, EventRecord]:
    """The events among `subjects` that are still stored."""
    wanted: dict[RepositoryName, set[int]] = defaultdict(set)
    for subject in subjects:
        if subject.kind is SubjectKind.EVENT:
            wanted[subject.repository].add(subject.subject_id)
    found: dict[Subject, EventRecord] = {}
    for repository, event_ids in wanted.items():
        events = Events(transaction).get(repository, event_ids)
        for event_id, event in events.items():
            found[Subject(SubjectKind.EVENT, repository, event_id)] = event
    return found
