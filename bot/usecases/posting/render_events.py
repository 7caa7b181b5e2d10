"""Renders posts about events, and summaries of several, when they are posted."""

from collections.abc import Sequence
from dataclasses import replace

from bot.domain.classification import EventKind, classify, turn_after
from bot.domain.deliveries import Delivery, Subject, SubjectKind, SummaryContent, is_person
from bot.domain.event_records import EventRecord, PullRequestRecord
from bot.domain.event_types import Turn
from bot.domain.grace_period import batches_of, together
from bot.domain.message import Message
from bot.domain.notices import Notice
from bot.domain.preceding_events import with_preceding_events
from bot.messages import people
from bot.messages.events import event_posts, summaries
from bot.messages.text import mention
from bot.store.transactions import Transaction
from bot.usecases.freeze_acts import by_person
from bot.usecases.people import who_wants
from bot.usecases.preceding_events import events_around_merges, preceding_events


def event_post(transaction: Transaction, delivery: Delivery, *, is_reply: bool) -> Message | None:
    """The post about an event, which mentions who has to act; None if it isn't stored any more.

    A failure is short in a reply to a live message, which has the details.
    """
    record = transaction.events.get([delivery.subject]).get(delivery.subject)
    if record is None:
        return None
    record = by_person(transaction, _complete(transaction, record))
    kind = EventKind(delivery.kind) if delivery.kind in set(EventKind) else classify(record)
    seen = _pull_request(transaction, record)
    if is_person(delivery.channel_id):
        notice = Notice.MERGE if kind is EventKind.MERGE else Notice.FAILURE
        post = people.direct(event_posts.event(record, seen, kind, calls=["you"]), notice)
        return replace(post, since=record.received_at)
    calls = _calls(transaction, record, kind, seen)
    pauses = transaction.pauses.open([record.repository])
    # Posts in a feed are not edited when the queue resumes.
    paused = any(pause.paused_at <= record.received_at for pause in pauses) or None
    is_brief = kind is EventKind.FAILURE and is_reply
    post = event_posts.event(record, seen, kind, calls=calls, paused=paused, is_brief=is_brief)
    return replace(post, since=record.received_at)


def _complete(transaction: Transaction, record: EventRecord) -> EventRecord:
    around = preceding_events(transaction, record.repository, [record])
    return with_preceding_events(record, around)


def _pull_request(transaction: Transaction, record: EventRecord) -> PullRequestRecord | None:
    number = record.pull_request
    if number is None:
        return None
    return transaction.pull_requests.linked(record.repository, [number]).get(number)


def _calls(
    transaction: Transaction, record: EventRecord, kind: EventKind, seen: PullRequestRecord | None
) -> Sequence[str]:
    """The people to mention: the author who linked the login, and wants it, if it is their turn.

    Nobody for merges, put-backs and requests. A person who gets a direct message about the event
    is only named.
    """
    is_their_turn = kind is EventKind.FAILURE and turn_after(record, kind) is Turn.AUTHOR
    if not is_their_turn or seen is None or not seen.author:
        return ()
    linked = transaction.people.linked_to([seen.author]).get(seen.author, ())
    wanting = who_wants(transaction, Notice.MENTION, linked)
    about = Subject(SubjectKind.EVENT, record.repository, record.event_id)
    called = (one for one in linked if one in wanting)
    return [mention(one) for one in called if transaction.outbox.get(one, about) is None]


def summary_post(transaction: Transaction, delivery: Delivery) -> Message:
    """The post for a summarized delivery: a merged batch, a backlog or a digest."""
    summarized = transaction.outbox.summary_content(delivery.delivery_id)
    if not delivery.digest:
        merged = _merged_together(transaction, delivery, summarized)
        if merged is not None:
            to_author = is_person(delivery.channel_id)
            return people.direct(merged, Notice.MERGE) if to_author else merged
    failures = [
        (_complete(transaction, one), _pull_request(transaction, one))
        for one in transaction.events.get(summarized.subjects).values()
    ]
    return summaries.summary(
        summarized.counts, summarized.oldest_created_at, failures, is_digest=delivery.digest
    )


def _merged_together(
    transaction: Transaction, delivery: Delivery, summarized: SummaryContent
) -> Message | None:
    """The post about one batch; None if not all are merges, or were not all in one."""
    name, count = delivery.subject.repository, sum(summarized.counts.values())
    if [kind for _, kind in summarized.counts] != [EventKind.MERGE] or count > summaries.MOST:
        return None
    subjects = transaction.outbox.subjects_of(delivery.delivery_id, summaries.MOST)
    found = transaction.events.get(subjects)
    records = [found[one] for one in subjects if one in found]
    batches = batches_of(records, events_around_merges(transaction, name, records))
    are_together = len(together(batches, list(batches))) >= len(subjects)
    if not are_together or len({one.batch_id for one in batches.values()}) > 1:
        return None
    numbers = {one.pull_request for one in records if one.pull_request is not None}
    seen = transaction.pull_requests.linked(name, numbers)
    return summaries.merged([(one, seen.get(one.pull_request or 0)) for one in records])
