"""How posts and threads about pull requests are rendered when they are sent."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

from bot.blocks.message import Message
from bot.feed.rendering import event_post, facts_of, repeated_post
from bot.feed.rows import Bisections, QueueEntries
from bot.feed.texts import event_posts
from bot.feed.texts.event_posts import AtPause
from bot.feed.threads import events_of, state_of
from bot.log.classification import EventKind, is_merge, kinds
from bot.log.preceding import with_preceding_events
from bot.log.rows import Events, PullRequests
from bot.pauses.rows import Pauses
from bot.posts.claim import Claim
from bot.posts.delivery import Delivery, Subject, SubjectKind
from bot.posts.events import events_about
from bot.posts.live_message import LiveKind, LiveSubject
from bot.posts.rendering import RenderLiveMessage, RenderPost
from bot.removals.addressing import asked_about
from bot.removals.removed_here import with_removals_here
from bot.store.transaction import Transaction
from bot.storms.judging import verdict_on

SAME_MOMENT = timedelta(seconds=10)
"""Checks that a pause stops may end a little before it."""


def _event_post(transaction: Transaction, delivery: Delivery, claim: Claim) -> Message | None:
    root = claim.root_of(delivery)
    is_reply = root is not None and not root.is_lost
    return event_post(transaction, delivery, claim.at, is_reply=is_reply)


def _queue_entry(transaction: Transaction, subject: LiveSubject) -> Message | None:
    """Its latest state, from its stored events."""
    repository = subject.repository
    entry = QueueEntries(transaction).one(repository, subject.key)
    if entry is None:
        return None
    numbers = {entry.pull_request}
    records = Events(transaction).of_pull_requests(repository, numbers, since=entry.began_at)
    found = events_of(entry, records)
    around = with_removals_here(transaction, repository, found, found)
    kind_of = kinds(found, around)
    state = state_of(found, kind_of)
    if state is None:
        return None
    complete = with_preceding_events(state, around)
    kind = EventKind.MERGE if is_merge(state) else kind_of[state.event_id]
    pauses = Pauses(transaction).recent(repository, entry.began_at)
    seen = PullRequests(transaction).linked(repository, numbers).get(entry.pull_request)
    was_paused = any(
        known.since <= state.received_at + SAME_MOMENT
        and (known.ended_at is None or known.ended_at >= state.received_at)
        for known in pauses
    )
    pause = AtPause.NONE
    if was_paused:
        is_paused = any(known.is_open for known in pauses)
        pause = AtPause.IN_FORCE if is_paused else AtPause.OVER
    asked = asked_about(transaction, complete, seen) if kind is EventKind.FAILURE else None
    has_left = kind in {EventKind.FAILURE, EventKind.DEQUEUE}
    verdict = verdict_on(transaction, complete) if has_left else None
    message = event_posts.event(complete, seen, kind, pause=pause, asked=asked, verdict=verdict)
    return replace(
        message, since=state.received_at, happened_at=entry.began_at, about=facts_of(state)
    )


def _bisection(transaction: Transaction, subject: LiveSubject) -> Message | None:
    """The state of the search for the pull request that broke a batch."""
    repository = subject.repository
    found = Bisections(transaction).one(repository, subject.key)
    if found is None:
        return None
    latest = Subject(SubjectKind.EVENT, repository, found.latest_event_id)
    # The event that gave the bisection its key.
    first = Subject(SubjectKind.EVENT, repository, int(subject.key))
    records = events_about(transaction, [latest, first])
    record = records.get(latest)
    if record is None:
        return None
    message = event_posts.event(record, None)
    happened_at = records.get(first, record).received_at
    return replace(
        message, since=record.received_at, happened_at=happened_at, about=facts_of(record)
    )


FEED_POSTS: Mapping[SubjectKind, RenderPost] = {SubjectKind.EVENT: _event_post}

FEED_LIVE_MESSAGES: Mapping[LiveKind, RenderLiveMessage] = {
    LiveKind.ENTRY: _queue_entry,
    LiveKind.BISECTION: _bisection,
    LiveKind.REPEATED: repeated_post,
}
