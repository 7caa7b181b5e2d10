"""The messages of deliveries, made at posting time from what they refer to."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from bot.domain.classification import EventKind
from bot.domain.deliveries import Delivery, Subject, SubjectKind
from bot.domain.event_records import EventRecord, PullRequestRecord
from bot.domain.message import Message
from bot.domain.repository import RepositoryName
from bot.messages import events, groups, pause, summary
from bot.ports import Transaction
from bot.usecases.group_marks import load_group_acts

Seen = Mapping[tuple[RepositoryName, int | None], PullRequestRecord]


async def load_messages(
    transaction: Transaction, deliveries: Sequence[Delivery]
) -> Mapping[str, Message]:
    """A message for each delivery, by its id; none where what it refers to is gone."""
    single = [one for one in deliveries if not one.folded]
    records = await _records(transaction, [one.subject for one in single])
    seen = await _pull_requests(transaction, list(records.values()))
    acts = [one.subject.subject_id for one in single if one.subject.kind is SubjectKind.ACT]
    audit = await transaction.audit.get(acts) if acts else {}
    group_acts = await load_group_acts(transaction, [one.subject for one in single])
    messages: dict[str, Message] = {}
    for one in single:
        record = records.get(one.subject)
        if record is not None:
            pull_request = seen.get((record.repository, record.pull_request))
            kind = EventKind(one.kind) if one.kind in set(EventKind) else None
            messages[one.delivery_id] = events.event(record, pull_request, kind)
        elif one.subject.kind is SubjectKind.GROUP and one.subject.subject_id in group_acts:
            messages[one.delivery_id] = groups.act(group_acts[one.subject.subject_id])
        elif one.subject.kind is SubjectKind.ACT and one.subject.subject_id in audit:
            messages[one.delivery_id] = pause.act(audit[one.subject.subject_id])
    for one in deliveries:
        if one.folded:
            messages[one.delivery_id] = await _summary(transaction, one)
    return messages


async def _summary(transaction: Transaction, delivery: Delivery) -> Message:
    folded = await transaction.outbox.folded_into(delivery.delivery_id)
    records = await _records(transaction, folded.subjects)
    seen = await _pull_requests(transaction, list(records.values()))
    failures = [
        (record, seen.get((record.repository, record.pull_request))) for record in records.values()
    ]
    return summary.summary(folded.counts, folded.oldest_created_at, failures)


async def _records(
    transaction: Transaction, subjects: Sequence[Subject]
) -> Mapping[Subject, EventRecord]:
    wanted = dict.fromkeys(one for one in subjects if one.kind is SubjectKind.EVENT)
    return await transaction.events.get(list(wanted)) if wanted else {}


async def _pull_requests(transaction: Transaction, records: Sequence[EventRecord]) -> Seen:
    numbers: dict[RepositoryName, set[int]] = defaultdict(set)
    for record in records:
        if record.pull_request is not None:
            numbers[record.repository].add(record.pull_request)
    found: dict[tuple[RepositoryName, int | None], PullRequestRecord] = {}
    for repository, wanted in numbers.items():
        seen = await transaction.pull_requests.get(repository, wanted)
        found |= {(repository, number): record for number, record in seen.items()}
    return found
