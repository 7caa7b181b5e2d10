"""Renders posts about events, and summaries of several, when they are posted."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from bot.blocks.message import Message
from bot.blocks.text import mention
from bot.feed.counting_repeats import (
    MessageForm,
    counts,
    form_of,
    repeated_of,
    repeats_from,
)
from bot.feed.repeats import has_verdict
from bot.feed.rows import QueueEntries
from bot.feed.texts import event_posts, summaries
from bot.feed.texts.event_posts import AtPause
from bot.freezes.causes import by_person
from bot.freezes.freeze import Freeze
from bot.freezes.rows import Freezes
from bot.log.around_merges import events_around_merges
from bot.log.batches import batches_of, shared_batches
from bot.log.classification import EventKind, classify, turn_after
from bot.log.preceding import with_preceding_events
from bot.log.rows import PullRequests
from bot.log.types import FREEZE_DELETE
from bot.merge_queue.event_records import EventRecord, PullRequestRecord
from bot.merge_queue.event_types import Turn
from bot.pauses.rows import Pauses
from bot.people import texts as people_texts
from bot.people.linking import who_wants
from bot.people.notices import Notice
from bot.people.rows import MutedPullRequests, People
from bot.posts.delivery import Delivery, Subject, SubjectKind, SummaryContent
from bot.posts.events import events_about
from bot.posts.live_message import LiveKind, LiveSubject
from bot.posts.live_messages import LiveMessages
from bot.posts.outbox import Outbox
from bot.posts.rendering import SAYS_WHEN, says_when
from bot.removals.addressing import asked_about
from bot.removals.removed_here import preceding_events
from bot.slack.person import is_for_person
from bot.store.transaction import Transaction
from bot.storms.judging import verdict_on


def event_post(
    transaction: Transaction, delivery: Delivery, now: datetime, *, is_reply: bool
) -> Message | None:
    """The post about an event, which mentions who has to act; None if it isn't stored any more.

    A failure is short in a reply to a live message, which has the details.
    """
    record = events_about(transaction, [delivery.subject]).get(delivery.subject)
    if record is None:
        return None
    kind = EventKind(delivery.kind) if delivery.kind in set(EventKind) else None
    form = form_of(delivery)
    if form is MessageForm.REPLY and not is_reply:
        form = MessageForm.POST
    post = _post_about(transaction, record, kind, form)
    about_one = replace(post, since=record.received_at, about=facts_of(record))
    return says_when(about_one, now)


def facts_of(record: EventRecord) -> dict[str, object]:
    """For the log of a post: a search for a number finds all about that pull request."""
    return {"event_type": record.type, "pull_request": record.pull_request}


def repeated_post(transaction: Transaction, subject: LiveSubject) -> Message | None:
    """The same post, edited: it counts the events with an equal verdict that followed."""
    about, form = repeated_of(subject)
    record = events_about(transaction, [about]).get(about)
    if record is None:
        return None
    post = _post_about(transaction, record, None, form)
    return replace(post, happened_at=record.received_at, about=facts_of(record))


def _post_about(
    transaction: Transaction, first: EventRecord, kind: EventKind | None, form: MessageForm
) -> Message:
    """The post about an event, or about the latest with its verdict, where there are several.

    `kind`: of the event, None if it isn't known from when it was routed.
    """
    record = by_person(transaction, _complete(transaction, first))
    kind = kind or classify(record)
    is_one_of_several = has_verdict(record, kind) and counts(kind, form)
    repeats = repeats_from(transaction, first) if is_one_of_several else None
    if repeats is not None:
        record = repeats.latest
    seen = _pull_request_of(transaction, record)
    has_left = kind in {EventKind.FAILURE, EventKind.DEQUEUE}
    verdict = verdict_on(transaction, record) if has_left else None
    if form is MessageForm.DIRECT:
        notice = Notice.MERGE if kind is EventKind.MERGE else Notice.FAILURE
        post = event_posts.event(
            record, seen, kind, calls=["you"], repeats=repeats, verdict=verdict
        )
        return people_texts.direct(post, notice)
    calls = _calls(transaction, first, record, kind, seen)
    pauses = Pauses(transaction).open([record.repository])
    # Posts in a feed are not edited when the queue resumes.
    is_during_pause = any(pause.since <= record.received_at for pause in pauses)
    is_brief = kind is EventKind.FAILURE and form is MessageForm.REPLY
    asked = asked_about(transaction, record, seen) if kind is EventKind.FAILURE else None
    others: Sequence[Freeze] = ()
    if record.type == FREEZE_DELETE:
        others = Freezes(transaction).in_force(record.repository, record.received_at)
    return event_posts.event(
        record,
        seen,
        kind,
        calls=calls,
        pause=AtPause.IN_FORCE if is_during_pause else AtPause.NONE,
        is_brief=is_brief,
        asked=asked,
        repeats=repeats,
        verdict=verdict,
        others=others,
    )


def _complete(transaction: Transaction, record: EventRecord) -> EventRecord:
    around = preceding_events(transaction, record.repository, [record])
    return with_preceding_events(record, around)


def _pull_request_of(transaction: Transaction, record: EventRecord) -> PullRequestRecord | None:
    number = record.pull_request
    if number is None:
        return None
    return PullRequests(transaction).linked(record.repository, [number]).get(number)


def _calls(
    transaction: Transaction,
    first: EventRecord,
    record: EventRecord,
    kind: EventKind,
    seen: PullRequestRecord | None,
) -> Sequence[str]:
    """The people to mention: the author, or who queued a bot's pull request, if it is their turn.

    They linked the login, and want it. Nobody for merges, put-backs and requests. A person who
    gets a direct message about the event is only named.
    """
    is_their_turn = kind is EventKind.FAILURE and turn_after(record, kind) is Turn.AUTHOR
    if not is_their_turn or seen is None or not seen.author:
        return ()
    asked = asked_about(transaction, record, seen)
    if not asked:
        return ()
    linked = People(transaction).linked_to([asked]).get(asked, ())
    wanting = who_wants(transaction, Notice.MENTION, linked)
    about = Subject(SubjectKind.EVENT, first.repository, first.event_id)
    muted = MutedPullRequests(transaction).muted_by(
        wanting, first.repository, first.pull_request or 0, first.received_at
    )
    called = [user_id for user_id in linked if user_id in wanting and user_id not in muted]
    outbox = Outbox(transaction)
    return [mention(user_id) for user_id in called if outbox.get(user_id, about) is None]


def summary_post(transaction: Transaction, delivery: Delivery, now: datetime) -> Message:
    """The post for a summarized delivery: a merged batch, a backlog or a digest."""
    summarized = Outbox(transaction).summary_content(delivery.delivery_id)
    if not delivery.waits_for_digest:
        merged = _merged_together(transaction, delivery, summarized, now)
        if merged is not None and is_for_person(delivery.channel_id):
            return people_texts.direct(merged, Notice.MERGE)
        if merged is not None:
            return merged
    failures = [
        (_complete(transaction, record), _pull_request_of(transaction, record))
        for record in events_about(transaction, summarized.subjects).values()
    ]
    verdicts = {record.event_id: verdict_on(transaction, record) for record, _ in failures}
    message = summaries.summary(
        summarized.counts,
        _begun_at(transaction, delivery, summarized),
        failures,
        is_digest=delivery.waits_for_digest,
        verdicts=verdicts,
    )
    return replace(message, about=_facts_of_all([record for record, _ in failures]))


def _begun_at(transaction: Transaction, delivery: Delivery, summarized: SummaryContent) -> datetime:
    """When the first of its events happened; the bot may have read it much later."""
    first = Outbox(transaction).subjects_of(delivery.delivery_id, summaries.MOST)
    times = [record.received_at for record in events_about(transaction, first).values()]
    of_threads = [about.subject_id for about in first if about.kind is SubjectKind.LIVE_MESSAGE]
    for message in LiveMessages(transaction).get(of_threads).values():
        subject = message.subject
        if subject.kind is LiveKind.ENTRY:
            entry = QueueEntries(transaction).one(subject.repository, subject.key)
            times += [entry.began_at] if entry is not None else []
    return min([summarized.oldest_created_at, *times])


def _facts_of_all(records: Sequence[EventRecord]) -> dict[str, object]:
    numbers = sorted({record.pull_request for record in records if record.pull_request is not None})
    return {"pull_requests": ", ".join(map(str, numbers))}


def _merged_together(
    transaction: Transaction, delivery: Delivery, summarized: SummaryContent, now: datetime
) -> Message | None:
    """The post about one batch; None if not all are merges, or were not all in one."""
    name = delivery.subject.repository
    kinds_counted = [kind for _, kind in summarized.counts]
    count = sum(summarized.counts.values())
    if kinds_counted != [EventKind.MERGE] or count > summaries.MOST:
        return None
    subjects = Outbox(transaction).subjects_of(delivery.delivery_id, summaries.MOST)
    found = events_about(transaction, subjects)
    records = [found[subject] for subject in subjects if subject in found]
    batches = batches_of(records, events_around_merges(transaction, name, records))
    batch_ids = {batch.batch_id for batch in batches.values()}
    are_together = len(shared_batches(batches, list(batches))) >= len(subjects)
    if not are_together or len(batch_ids) > 1:
        return None
    numbers = {record.pull_request for record in records if record.pull_request is not None}
    seen = PullRequests(transaction).linked(name, numbers)
    merges = [(record, seen.get(record.pull_request or 0)) for record in records]
    is_late = now - records[-1].received_at > SAYS_WHEN
    message = summaries.merged(merges, is_late=is_late)
    return replace(message, about=_facts_of_all(records))
