"""The messages of deliveries, made at posting time from what they refer to."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from bot.domain.deliveries import Delivery, Subject, SubjectKind
from bot.domain.event_records import EventRecord, PullRequestRecord
from bot.domain.message import Message
from bot.domain.repository import RepositoryName
from bot.messages import events, pause
from bot.ports import Transaction


async def load_messages(
    transaction: Transaction, deliveries: Sequence[Delivery]
) -> Mapping[Subject, Message]:
    """A message for each subject that can be found."""
    subjects = list(dict.fromkeys(delivery.subject for delivery in deliveries))
    records = await transaction.events.get(
        [one for one in subjects if one.kind is SubjectKind.EVENT]
    )
    seen = await _pull_requests(transaction, list(records.values()))
    acts = [one for one in subjects if one.kind is SubjectKind.ACT]
    audit = await transaction.audit.get([one.subject_id for one in acts]) if acts else {}
    messages = {
        subject: events.event(record, seen.get((record.repository, record.pull_request)))
        for subject, record in records.items()
    }
    messages |= {
        subject: pause.act(audit[subject.subject_id])
        for subject in acts
        if subject.subject_id in audit
    }
    return messages


async def _pull_requests(
    transaction: Transaction, records: Sequence[EventRecord]
) -> Mapping[tuple[RepositoryName, int | None], PullRequestRecord]:
    numbers: dict[RepositoryName, set[int]] = defaultdict(set)
    for record in records:
        if record.pull_request is not None:
            numbers[record.repository].add(record.pull_request)
    found: dict[tuple[RepositoryName, int | None], PullRequestRecord] = {}
    for repository, wanted in numbers.items():
        seen = await transaction.pull_requests.get(repository, wanted)
        found |= {(repository, number): record for number, record in seen.items()}
    return found
