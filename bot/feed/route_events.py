"""From stored events to deliveries: which channels and people are notified of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from bot.acts.causes import LONGEST_APART, act_of_event, seen_act
from bot.acts.ends import end_act, end_of
from bot.acts.locks import is_acted_upon, is_under_way
from bot.acts.posting import post_act
from bot.acts.record import FROM_LOG, ActResult, AuditRecord
from bot.acts.rows import Audit
from bot.channels.rows import Subscriptions
from bot.channels.subscription import NextDigest, Topic, subscribed_channels
from bot.feed.counting_repeats import CountedOnce
from bot.feed.grace_period import GracePeriod
from bot.feed.route_pauses import ReadAfter, event_context, route_pause_event
from bot.feed.route_subscribers import (
    BACKLOG,
    EDIT_DELAY,
    ClassifiedEvents,
    PauseInForce,
    Subscribers,
    Threads,
    event_delivery,
)
from bot.freezes.following import identify_freezes, see_freeze_event
from bot.freezes.freeze import Freeze
from bot.health.alert import streak_after
from bot.health.rows import Alerts
from bot.kernel.repository import RepositoryName
from bot.log.around_merges import events_around_merges
from bot.log.batches import batches_of, classifiable, shared_batches
from bot.log.classification import PAUSE_TYPES, EventKind, kinds, turn_after
from bot.log.rows import Events, PullRequests
from bot.log.types import FREEZE_TYPES
from bot.merge_queue.event_records import EventRecord, PullRequestRecord
from bot.merge_queue.event_types import ENTER, MERGED, PAUSE_DELETE, Turn
from bot.pauses.history import shown_pause
from bot.pauses.merges import mark_records
from bot.pauses.pause import PauseRecord
from bot.pauses.rows import Pauses
from bot.people.notices import Notice
from bot.people.rows import MutedPullRequests, People
from bot.posts.delivery import NewDelivery
from bot.posts.live_messages import LiveMessages
from bot.posts.outbox import Outbox
from bot.removals.addressing import asked_about
from bot.removals.removed_here import preceding_events, removals_here
from bot.store.transaction import Transaction
from bot.storms.counting import StormCount

_NOTIFY_THEMSELVES = PAUSE_TYPES | {*FREEZE_TYPES}
"""The types of events whose posts are added apart from those of all other events."""

ROUTED_AT_ONCE = 1000
"""Events routed in one transaction; a backlog of any size is kept out of memory."""


@dataclass(frozen=True, slots=True)
class RoutingContext:
    """The context of routing, besides the stored events."""

    next_digest: NextDigest
    now: datetime
    pause: ReadAfter = field(default_factory=ReadAfter)  #: what was read of the pause after them
    #: the service's freezes when read after them, if they were read
    freezes: Sequence[Freeze] | None = None
    #: since when leaves without metadata have waited
    grace_period: GracePeriod = field(default_factory=GracePeriod)
    personal: frozenset[str] = frozenset()  #: the topics of which some people want direct messages
    clock_ahead: timedelta = timedelta()  #: how far the service's clock is ahead of the bot's
    #: the events that wait, in order, at most ROUTED_AT_ONCE; None to read them
    unrouted: Sequence[EventRecord] | None = None
    edit_delay: timedelta = EDIT_DELAY


@dataclass(frozen=True, slots=True)
class Routed:
    """What became of the oldest unrouted events."""

    has_posts: bool  #: there may be something to post now
    left: Sequence[EventRecord] | None  #: the events that still wait, None if unknown
    more: bool  #: more can be routed now
    grace_period: GracePeriod  #: those that wait for an explanation


def route_events(
    transaction: Transaction, repository: RepositoryName, context: RoutingContext
) -> Routed:
    """Route the oldest unrouted events that can be classified, at most ROUTED_AT_ONCE of them.

    Each channel gets events in order, so those behind an event that has to wait also wait.
    """
    now = context.now
    grace_period = GracePeriod({**context.grace_period.since})
    part = _slice(transaction, repository, now, context.unrouted)
    if not part.records:
        return Routed(has_posts=False, left=(), more=False, grace_period=grace_period)
    subscribers = _judge(transaction, grace_period, part, context)
    events = subscribers.events
    ready = _ready(transaction, events.records, context)
    routed = [event.record for event in ready]
    routed_ids = [record.event_id for record in routed]
    deliveries = _deliveries(transaction, subscribers, routed, context)
    if subscribed_channels(subscribers.subscriptions, Topic.HEALTH):
        _count_failures(transaction, repository, routed, events)
    edit_at = now + context.edit_delay
    _finish_live_messages(transaction, subscribers, routed, edit_at)
    _end_removals(transaction, events.removals, routed, now)
    _count_merges(transaction, routed, edit_at)
    for event in ready:
        if event.act is None and event.record.type in FREEZE_TYPES:
            Audit(transaction).add(seen_act(event.record))
    _route_pauses(transaction, subscribers, routed, context)
    counted = CountedOnce(transaction, routed, events.kinds, edit_at=edit_at, now=now)
    to_add = counted.left(subscribers.in_one_post(deliveries))
    added = Outbox(transaction).add(to_add)
    grace_period.forget(routed_ids)
    Events(transaction).mark_routed(repository, routed_ids)
    left = None if part.is_more else part.records[len(routed) :]
    is_more = part.is_more and bool(routed)
    has_posts = added > 0 or any(record.type in _NOTIFY_THEMSELVES for record in routed)
    return Routed(has_posts, left, more=is_more, grace_period=grace_period)


def _finish_live_messages(
    transaction: Transaction,
    subscribers: Subscribers,
    routed: Sequence[EventRecord],
    edit_at: datetime,
) -> None:
    """Before channel queues, the order in which recording a post locks them."""
    of_pauses = [record for record in routed if record.type in PAUSE_TYPES]
    if of_pauses:
        # The end of a pause, also at a person's request, marks those of queue entries under it.
        Pauses(transaction).lock(of_pauses[0].repository)
    subscribers.threads.finish(edit_at)
    if subscribers.storm is not None:
        subscribers.storm.finish(edit_at)


def _count_merges(
    transaction: Transaction, routed: Sequence[EventRecord], edit_at: datetime
) -> None:
    """Records of pauses count what merges of those that waited."""
    merges = [record for record in routed if record.type == MERGED]
    if merges:
        mark_records(transaction, merges, edit_at)


def _route_pauses(
    transaction: Transaction,
    subscribers: Subscribers,
    routed: Sequence[EventRecord],
    context: RoutingContext,
) -> None:
    of_pauses = [record for record in routed if record.type in PAUSE_TYPES]
    if not of_pauses:
        return
    repository = of_pauses[0].repository
    beside = event_context(transaction, repository, context.pause, context.now, context.clock_ahead)
    for record in of_pauses:
        route_pause_event(transaction, record, beside, subscribers.channels(record))


def _judge(
    transaction: Transaction,
    grace_period: GracePeriod,
    part: "_Slice",
    context: RoutingContext,
) -> Subscribers:
    """Give the events of a slice their meaning, as far as later ones can't change it."""
    repository = part.records[0].repository
    newest = part.newest
    now = context.now
    records = grace_period.head(part.records, newest=newest, now=now)
    batches: Mapping[int, str] = {}
    if len(records) <= BACKLOG:
        # In a backlog each is a delivery of its own, to be summarized with the rest.
        merges = events_around_merges(transaction, repository, records)
        known = batches_of(records, merges)
        records = grace_period.complete_batches(records, known, merges, newest=newest, now=now)
        batches = shared_batches(known, [record.event_id for record in records])
    preceding = preceding_events(transaction, repository, records)
    subscriptions = Subscriptions(transaction).of_repository(repository)
    seen: Mapping[int, PullRequestRecord] = {}
    depends_on_authors = bool(context.personal) or any(
        subscription.except_logins for subscription in subscriptions
    )
    if depends_on_authors:
        numbers = {record.pull_request for record in records if record.pull_request}
        seen = PullRequests(transaction).get(repository, numbers)
    events = ClassifiedEvents(
        records,
        kinds(records, preceding),
        batches,
        preceding,
        removals_here(transaction, repository, records),
        seen,
    )
    return Subscribers(
        events,
        subscriptions,
        Threads(transaction, repository, records, subscriptions),
        StormCount(transaction, repository, now) if len(records) <= BACKLOG else None,
        _pause_in_force(transaction, repository, records),
        context.next_digest,
        now,
    )


class _Ready(NamedTuple):
    """An event that can be routed now."""

    record: EventRecord
    act: AuditRecord | None  #: for an event of a freeze, the act that caused it, if any


def _ready(
    transaction: Transaction, records: Sequence[EventRecord], context: RoutingContext
) -> list[_Ready]:
    """The events that can be routed now; they stop at one whose act has not ended yet."""
    ahead = context.clock_ahead
    acts: Sequence[AuditRecord] = ()
    times = [record.received_at for record in records if record.type in FREEZE_TYPES]
    if times:
        since = min(times) - ahead - LONGEST_APART
        acts = Audit(transaction).since(records[0].repository, since)
    is_acting: bool | None = None
    ready: list[_Ready] = []
    for record in records:
        act = act_of_event(record, acts, ahead) if record.type in FREEZE_TYPES else None
        if act is not None and is_under_way(transaction, act, acts, context.now):
            break
        if record.type in PAUSE_TYPES:
            if is_acting is None:
                is_acting = is_acted_upon(transaction, record.repository, context.now)
            if is_acting:
                break
        ready.append(_Ready(record, act))
    return ready


def _end_removals(
    transaction: Transaction,
    removals: Mapping[int, AuditRecord],
    routed: Sequence[EventRecord],
    now: datetime,
) -> None:
    """Store the end of removals that were cut off, or whose answer was lost, and post them."""
    for record in routed:
        act = removals.get(record.event_id)
        if act is None or act.result is not ActResult.STARTED:
            continue
        if is_under_way(transaction, act, (), now):
            continue
        done, _ = end_act(transaction, end_of(act, ActResult.DONE, FROM_LOG))
        post_act(transaction, done, [done.where.channel_id] if done.where.channel_id else [])


def _deliveries(
    transaction: Transaction,
    subscribers: Subscribers,
    routed: Sequence[EventRecord],
    context: RoutingContext,
) -> list[NewDelivery]:
    """The deliveries to channels and authors.

    Freezes notify by themselves, in their turn among the other events; pauses come later.
    """
    service_now = context.now + context.clock_ahead
    deliveries: list[NewDelivery] = []
    for record in routed:
        if record.type in FREEZE_TYPES:
            channels = subscribers.channels(record)
            see_freeze_event(
                transaction, record, channels, context.now, service_now, context.freezes
            )
        elif record.type not in PAUSE_TYPES:
            deliveries += subscribers.route(record)
    if routed and context.freezes is not None:
        identify_freezes(transaction, routed[0].repository, context.freezes, context.now)
    if context.personal:
        deliveries += _to_authors(transaction, subscribers.events, routed, context.now)
    return deliveries


class _Personal(NamedTuple):
    """An event that a person may want as a direct message."""

    record: EventRecord
    login: str
    notice: Notice


def _to_authors(
    transaction: Transaction, events: ClassifiedEvents, routed: Sequence[EventRecord], now: datetime
) -> list[NewDelivery]:
    """Direct messages to people about their own pull requests, and those of bots they queued.

    The author of a pull request that was never seen in the queue is unknown.
    """
    found: list[_Personal] = []
    for record in routed:
        known = events.seen.get(record.pull_request or 0)
        if known is None:
            continue
        kind = events.kinds[record.event_id]
        if kind is EventKind.MERGE:
            found.append(_Personal(record, known.author, Notice.MERGE))
        elif kind is EventKind.FAILURE:
            complete = events.completed(record)
            if turn_after(complete, kind) is Turn.AUTHOR:
                login = asked_about(transaction, record, known)
                found.append(_Personal(record, login, Notice.FAILURE))
    if not found:
        return []
    logins = {personal.login for personal in found}
    notices = {personal.notice for personal in found}
    people = People(transaction).switched_on(logins, notices)
    return [
        event_delivery(record, person, events.kinds[record.event_id], now)
        for record, login, notice in found
        for person in _unmuted(transaction, record, people.get((login, notice), ()))
    ]


def _unmuted(transaction: Transaction, record: EventRecord, people: Sequence[str]) -> Sequence[str]:
    """Those who haven't muted the pull request."""
    muted = MutedPullRequests(transaction).muted_by(
        people, record.repository, record.pull_request or 0, record.received_at
    )
    return [person for person in people if person not in muted]


def _pause_in_force(
    transaction: Transaction, repository: RepositoryName, records: Sequence[EventRecord]
) -> PauseInForce | None:
    """None where nothing arrived that a card could count."""
    if all(record.type != ENTER for record in records):
        return None
    for pause in Pauses(transaction).open([repository]):
        shown = LiveMessages(transaction).of(shown_pause(pause))
        channels = {message.channel_id for message in shown if not message.is_lost}
        return PauseInForce(_arrivals(pause, records), channels)
    return None


def _arrivals(pause: PauseRecord, records: Sequence[EventRecord]) -> set[int]:
    """The events that happened while the queue was paused, as far as the log has told.

    It may have told of the end before a reading shows that.
    """
    resumed_at = pause.told_end.at if pause.told_end is not None else None
    arrivals: set[int] = set()
    for record in records:
        at = record.received_at
        if record.type in PAUSE_TYPES:
            is_end = record.type == PAUSE_DELETE and at > pause.line.paused_at
            resumed_at = at if is_end else None
        elif at >= pause.since and (resumed_at is None or at < resumed_at):
            arrivals.add(record.event_id)
    return arrivals


def _count_failures(
    transaction: Transaction,
    repository: RepositoryName,
    routed: Sequence[EventRecord],
    events: ClassifiedEvents,
) -> None:
    """Count failures in a row as they are routed, so that each counts once."""
    classified = [(events.completed(record), events.kinds[record.event_id]) for record in routed]
    decides_something = any(
        record.type == MERGED or kind is EventKind.FAILURE for record, kind in classified
    )
    if not decides_something:
        return
    before = Alerts(transaction).streak(repository)
    after = streak_after(before, classified)
    if after != before:
        Alerts(transaction).save_streak(repository, after)


class _Slice(NamedTuple):
    """The oldest unrouted events, as many as one transaction routes."""

    records: Sequence[EventRecord]
    is_more: bool  #: others follow them
    newest: datetime  #: the time of the last event that was read


def _slice(
    transaction: Transaction,
    repository: RepositoryName,
    now: datetime,
    known: Sequence[EventRecord] | None,
) -> _Slice:
    """The oldest ROUTED_AT_ONCE events.

    The events after a leave without metadata decide its meaning. So a full slice ends where later
    events change nothing; in a burst without such an end it is longer.
    """
    limit = ROUTED_AT_ONCE
    while True:
        found = known or Events(transaction).unrouted(repository, limit + 1)
        newest = found[-1].received_at if found else now
        if len(found) <= limit:
            return _Slice(found, is_more=False, newest=newest)
        length = classifiable(found, limit)
        if length:
            return _Slice(found[:length], is_more=True, newest=newest)
        limit *= 4
