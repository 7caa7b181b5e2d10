"""Renders posts about events, and summaries of several, when they are posted."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.domain.classification import EventKind, classify, turn_after
from bot.domain.deliveries import Delivery, Subject, SubjectKind, SummaryContent, is_person
from bot.domain.dequeue_codes import Turn
from bot.domain.event_records import EventRecord, PullRequestRecord
from bot.domain.grace_period import batches_of, together
from bot.domain.message import Message
from bot.domain.notices import Notice
from bot.domain.preceding_events import with_preceding_events
from bot.domain.repository import RepositoryName
from bot.messages import people
from bot.messages.events import event_posts, summaries
from bot.store.transactions import Transaction
from bot.usecases.choose_notices import who_wants
from bot.usecases.freeze_acts import by_person
from bot.usecases.linked_pull_requests import linked_pull_requests
from bot.usecases.preceding_events import events_around_merges, preceding_events

Seen = Mapping[tuple[RepositoryName, int | None], PullRequestRecord]


def load_events(
    transaction: Transaction, deliveries: Sequence[Delivery], roots: Collection[int] = ()
) -> dict[str, Message]:
    """A post for each delivery whose event is still stored; it mentions who has to act.

    A failure in the thread of one of `roots`, live messages, is short: the root has the details.
    """
    records = _records(transaction, [one.subject for one in deliveries])
    seen = _pull_requests(transaction, list(records.values()))
    around = _around(transaction, list(records.values()))
    pauses = transaction.pauses.open({one.repository for one in records.values()})
    posts: dict[str, _EventPost] = {}
    for one in deliveries:
        record = records.get(one.subject)
        if record is not None:
            complete = by_person(
                transaction, with_preceding_events(record, around.get(record.repository, ()))
            )
            kind = EventKind(one.kind) if one.kind in set(EventKind) else classify(complete)
            pull_request = seen.get((record.repository, record.pull_request))
            paused = any(
                pause.repository == record.repository and pause.paused_at <= record.received_at
                for pause in pauses
            )
            posts[one.delivery_id] = _EventPost(
                complete,
                kind,
                pull_request,
                one.channel_id,
                paused=paused,
                is_brief=kind is EventKind.FAILURE and one.root_id in roots,
            )
    people = _called(
        transaction, {one.author for one in posts.values() if one.author and one.is_calling}
    )
    return {
        delivery_id: replace(
            one.message(_calls(transaction, one, people)), since=one.record.received_at
        )
        for delivery_id, one in posts.items()
    }


def _calls(
    transaction: Transaction, post: "_EventPost", people: Mapping[str, Sequence[str]]
) -> Sequence[str]:
    """The people to mention: a person who gets a direct message about the event is only named."""
    if not post.is_calling:
        return ()
    subject = Subject(SubjectKind.EVENT, post.record.repository, post.record.event_id)
    wanting = people.get(post.author or "", ())
    return [one for one in wanting if transaction.outbox.get(one, subject) is None]


def _called(transaction: Transaction, logins: Collection[str]) -> Mapping[str, Sequence[str]]:
    """The people to mention for each login: they linked it, and want mentions."""
    if not logins:
        return {}
    people = transaction.accounts.people(logins)
    everybody = {one for some in people.values() for one in some}
    wanting = who_wants(transaction, Notice.MENTION, everybody)
    return {login: [one for one in some if one in wanting] for login, some in people.items()}


@dataclass(frozen=True, slots=True)
class _EventPost:
    record: EventRecord
    kind: EventKind
    pull_request: PullRequestRecord | None
    address: str
    paused: bool
    is_brief: bool

    def message(self, calls: Sequence[str]) -> Message:
        """The post, which mentions the people in `calls`."""
        if is_person(self.address):
            notice = Notice.MERGE if self.kind is EventKind.MERGE else Notice.FAILURE
            post = event_posts.event(self.record, self.pull_request, self.kind, to_author=True)
            return people.direct(post, notice)
        # Posts in a feed are not edited when the queue resumes.
        paused = self.paused or None
        if self.is_brief:
            return event_posts.broadcast_failure(self.record, self.pull_request, calls=calls)
        return event_posts.event(
            self.record, self.pull_request, self.kind, calls=calls, paused=paused
        )

    @property
    def author(self) -> str | None:
        return self.pull_request.author if self.pull_request is not None else None

    @property
    def is_calling(self) -> bool:
        """Whether to mention people: not for merges, put-backs and requests, nor in private."""
        is_failure = self.kind is EventKind.FAILURE and not is_person(self.address)
        return is_failure and turn_after(self.record, self.kind) is Turn.AUTHOR


def load_summary(transaction: Transaction, delivery: Delivery, _now: datetime) -> Message:
    """The post for a summarized delivery: a merged batch, a backlog or a digest."""
    summarized = transaction.outbox.summary_content(delivery.delivery_id)
    if not delivery.digest and _are_merges(summarized):
        merged = _merged_together(transaction, delivery)
        if merged is not None:
            to_author = is_person(delivery.channel_id)
            return people.direct(merged, Notice.MERGE) if to_author else merged
    records = _records(transaction, summarized.subjects)
    seen = _pull_requests(transaction, list(records.values()))
    around = _around(transaction, list(records.values()))
    failures = [
        (
            with_preceding_events(record, around[record.repository]),
            seen.get((record.repository, record.pull_request)),
        )
        for record in records.values()
    ]
    return summaries.summary(
        summarized.counts, summarized.oldest_created_at, failures, is_digest=delivery.digest
    )


def _are_merges(summarized: SummaryContent) -> bool:
    """Whether it has merges of one repository, no more than a batch can hold."""
    if len(summarized.counts) > 1:
        return False
    ((_, kind), count) = next(iter(summarized.counts.items()))
    return kind == EventKind.MERGE and count <= summaries.MOST


def _merged_together(transaction: Transaction, delivery: Delivery) -> Message | None:
    """The post about one batch; None if the merges were not all in one."""
    subjects = transaction.outbox.subjects_of(delivery.delivery_id, summaries.MOST)
    found = _records(transaction, subjects)
    records = [found[one] for one in subjects if one in found]
    around = events_around_merges(transaction, delivery.subject.repository, records)
    batches = batches_of(records, around)
    if len(together(batches, list(batches))) < len(subjects):
        return None
    if len({one.batch_id for one in batches.values()}) > 1:
        return None
    seen = _pull_requests(transaction, records)
    return summaries.merged(
        [(one, seen.get((one.repository, one.pull_request))) for one in records]
    )


def _records(
    transaction: Transaction, subjects: Sequence[Subject]
) -> Mapping[Subject, EventRecord]:
    wanted = dict.fromkeys(one for one in subjects if one.kind is SubjectKind.EVENT)
    return transaction.events.get(list(wanted)) if wanted else {}


def _around(
    transaction: Transaction, records: Sequence[EventRecord]
) -> Mapping[RepositoryName, Sequence[EventRecord]]:
    """The preceding events of the leaves among `records`."""
    by_repository: dict[RepositoryName, list[EventRecord]] = defaultdict(list)
    for record in records:
        by_repository[record.repository].append(record)
    return {
        repository: preceding_events(transaction, repository, some)
        for repository, some in by_repository.items()
    }


def _pull_requests(transaction: Transaction, records: Sequence[EventRecord]) -> Seen:
    numbers: dict[RepositoryName, set[int]] = defaultdict(set)
    for record in records:
        if record.pull_request is not None:
            numbers[record.repository].add(record.pull_request)
    found: dict[tuple[RepositoryName, int | None], PullRequestRecord] = {}
    for repository, wanted in numbers.items():
        seen = linked_pull_requests(transaction, repository, wanted)
        found |= {(repository, number): record for number, record in seen.items()}
    return found
