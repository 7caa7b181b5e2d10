"""From stored events to deliveries: which channels and people are notified of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

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
from bot.feed.route_pauses import route_pause_event
from bot.feed.route_subscribers import (
    BACKLOG,
    EDIT_DELAY,
    PauseInForce,
    Subscribers,
    Threads,
    event_delivery,
)
from bot.freezes.following import see_freeze_event
from bot.health.alert import streak_after
from bot.health.rows import Alerts
from bot.kernel.repository import RepositoryName
from bot.log.around_merges import events_around_merges
from bot.log.batches import batches_of, settled, together
from bot.log.classification import PAUSE_TYPES, EventKind, kinds, turn_after
from bot.log.preceding import with_preceding_events
from bot.log.rows import Events, PullRequests
from bot.log.types import FREEZE_TYPES
from bot.merge_queue.event_records import EventRecord
from bot.merge_queue.event_types import ENTER, MERGED, PAUSE_DELETE, Turn
from bot.merge_queue.queue import Pause
from bot.pauses.rows import Pauses
from bot.people.notices import Notice
from bot.people.rows import MutedPullRequests, People
from bot.posts.delivery import NewDelivery
from bot.posts.live_message import LiveKind, LiveSubject
from bot.posts.live_messages import LiveMessages
from bot.posts.outbox import Outbox
from bot.removals.addressing import asked_about
from bot.removals.removed_here import preceding_events, removals_here
from bot.store.transaction import Transaction

_OF_ACTS = PAUSE_TYPES | {*FREEZE_TYPES}
"""The types of events that tell of acts of people, machines and rules through the bot."""

ROUTED_AT_ONCE = 1000
"""Events routed in one transaction; a backlog of any size is kept out of memory."""


@dataclass(frozen=True, slots=True)
class RoutingContext:
    """The context of routing, besides the stored events."""

    next_digest: NextDigest
    now: datetime
    observed: Pause | None = None  #: the pause in force when read after them, if it was read
    #: since when leaves without metadata have waited
    grace_period: GracePeriod = field(default_factory=GracePeriod)
    personal: frozenset[str] = frozenset()  #: the topics of which some people want direct messages
    clock_ahead: timedelta = timedelta()  #: how far the service's clock is ahead of the bot's
    #: the events stored before that wait, None if unknown
    unrouted: Sequence[EventRecord] | None = None


@dataclass(frozen=True, slots=True)
class Routed:
    """How many deliveries were added, and whether more can be routed now."""

    added: int
    left: Sequence[EventRecord] | None  #: the events that still wait, None if unknown
    more: bool
    grace_period: GracePeriod  #: those that wait for an explanation


def route_events(
    transaction: Transaction,
    repository: RepositoryName,
    context: RoutingContext,
    unrouted: Sequence[EventRecord] | None = None,
) -> Routed:
    """Route the oldest unrouted events that can be classified, at most ROUTED_AT_ONCE of them.

    Each channel gets events in order, so an event that has to wait also holds those behind it.
    `unrouted`: all of them in order, at most ROUTED_AT_ONCE; None to read them.
    """
    now = context.now
    grace_period = GracePeriod({**context.grace_period.since})
    unrouted, behind, newest = _slice(transaction, repository, now, unrouted)
    if not unrouted:
        return Routed(0, (), more=False, grace_period=grace_period)
    found = _judge(transaction, grace_period, unrouted, newest, context)
    ready = _ready(transaction, found.records, context)
    routed = [record for record, _ in ready]
    notified, deliveries = _deliveries(transaction, found, routed, context)
    if subscribed_channels(found.subscriptions, Topic.HEALTH):
        _count_failures(transaction, repository, routed, found.kinds, found.preceding)
    # Live messages before channel queues, the order in which recording a post locks them.
    found.threads.finish(now)
    _settle_removals(transaction, found.removals, routed, now)
    for record, act in ready:
        if act is None and record.type in _OF_ACTS:
            Audit(transaction).add(seen_act(record))
    pauses = [(record, act) for record, act in ready if record.type in PAUSE_TYPES]
    for record, act in pauses:
        channels = found.channels(record)
        route_pause_event(transaction, record, act, channels, now, context.observed)
    added = notified + len(pauses)
    counted = CountedOnce(transaction, routed, found.kinds, edit_at=now + EDIT_DELAY, now=now)
    added += Outbox(transaction).add(counted.left(found.in_one_post(deliveries)))
    grace_period.forget([record.event_id for record in routed])
    Events(transaction).mark_routed(repository, [record.event_id for record in routed])
    left = None if behind else unrouted[len(routed) :]
    return Routed(added, left, more=behind and bool(routed), grace_period=grace_period)


def _judge(
    transaction: Transaction,
    grace_period: GracePeriod,
    unrouted: Sequence[EventRecord],
    newest: datetime,
    context: RoutingContext,
) -> Subscribers:
    repository = unrouted[0].repository
    now = context.now
    records = grace_period.head(unrouted, newest=newest, now=now)
    batches: Mapping[int, str] = {}
    if len(records) <= BACKLOG:
        # In a backlog each is a delivery of its own, to be summarized with the rest.
        merges = events_around_merges(transaction, repository, records)
        known = batches_of(records, merges)
        records = grace_period.whole_batches(records, known, merges, newest=newest, now=now)
        batches = together(known, [record.event_id for record in records])
    preceding = preceding_events(transaction, repository, records)
    subscriptions = Subscriptions(transaction).of_repository(repository)
    depends_on_authors = context.personal or any(
        subscription.except_logins for subscription in subscriptions
    )
    numbers = {
        record.pull_request for record in records if record.pull_request and depends_on_authors
    }
    return Subscribers(
        records,
        kinds(records, preceding),
        batches,
        PullRequests(transaction).get(repository, numbers) if numbers else {},
        preceding,
        removals_here(transaction, repository, records),
        subscriptions,
        Threads(transaction, repository, records, subscriptions),
        _pause_in_force(transaction, repository, records),
        context.next_digest,
        now,
    )


def _ready(
    transaction: Transaction, records: Sequence[EventRecord], context: RoutingContext
) -> list[tuple[EventRecord, AuditRecord | None]]:
    """The events that can be routed now, those of pauses and freezes with the act that caused them.

    They stop at an event whose act has not ended yet.
    """
    ahead = context.clock_ahead
    acts: Sequence[AuditRecord] = ()
    held = [record.received_at for record in records if record.type in _OF_ACTS]
    if held:
        since = min(held) - ahead - LONGEST_APART
        acts = Audit(transaction).since(records[0].repository, since)
    ready: list[tuple[EventRecord, AuditRecord | None]] = []
    for record in records:
        act = act_of_event(record, acts, ahead) if record.type in _OF_ACTS else None
        if act is not None and is_under_way(transaction, act, acts, context.now):
            break
        # A timer that tries again adds no record before it succeeds.
        may_be_ours = record.type == PAUSE_DELETE and record.details.is_ours is not False
        may_be_a_retry = may_be_ours and act is None
        if may_be_a_retry and is_acted_upon(transaction, record.repository, context.now):
            break
        ready.append((record, act))
    return ready


def _settle_removals(
    transaction: Transaction,
    removals: Mapping[int, AuditRecord],
    routed: Sequence[EventRecord],
    now: datetime,
) -> None:
    """Store the end of removals that were cut off, or whose answer was lost, and post them."""
    for act in (removals[record.event_id] for record in routed if record.event_id in removals):
        if act.result is not ActResult.STARTED or is_under_way(transaction, act, (), now):
            continue
        done, _ = end_act(transaction, end_of(act, ActResult.DONE, FROM_LOG))
        post_act(transaction, done, [done.channel_id] if done.channel_id else [])


def _deliveries(
    transaction: Transaction,
    subscribers: Subscribers,
    routed: Sequence[EventRecord],
    context: RoutingContext,
) -> tuple[int, list[NewDelivery]]:
    """The deliveries to channels and authors, and how many freezes were notified of by themselves.

    Pauses come later.
    """
    of_freezes = 0
    deliveries: list[NewDelivery] = []
    for record in routed:
        if record.type in FREEZE_TYPES:
            channels = subscribers.channels(record)
            service_now = context.now + context.clock_ahead
            see_freeze_event(transaction, record, channels, context.now, service_now)
            of_freezes += 1
        elif record.type not in PAUSE_TYPES:
            deliveries += subscribers.route(record)
    if context.personal:
        deliveries += _to_authors(transaction, subscribers, routed, context.now)
    return of_freezes, deliveries


def _to_authors(
    transaction: Transaction, judged: Subscribers, routed: Sequence[EventRecord], now: datetime
) -> list[NewDelivery]:
    """Direct messages to people about their own pull requests, and those of bots they queued.

    The author of a pull request that was never seen in the queue is unknown.
    """
    found: list[tuple[EventRecord, tuple[str, Notice]]] = []
    for record in routed:
        known = judged.seen.get(record.pull_request or 0)
        whole = with_preceding_events(record, judged.preceding)
        kind = judged.kinds[record.event_id]
        is_failure = kind is EventKind.FAILURE and turn_after(whole, kind) is Turn.AUTHOR
        if known is not None and (is_failure or kind is EventKind.MERGE):
            notice = Notice.FAILURE if is_failure else Notice.MERGE
            author = known.author
            if is_failure:
                author = asked_about(transaction, record, known)
            found.append((record, (author, notice)))
    if not found:
        return []
    authors = {author for _, (author, _) in found}
    notices = {notice for _, (_, notice) in found}
    people = People(transaction).switched_on(authors, notices)
    return [
        event_delivery(record, person, judged.kinds[record.event_id], now)
        for record, key in found
        for person in _unmuted(transaction, record, people.get(key, ()))
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
        card = LiveSubject(LiveKind.PAUSE, repository, str(pause.pause_id))
        shown = LiveMessages(transaction).of(card)
        channels = {message.channel_id for message in shown if not message.is_lost}
        return PauseInForce(pause.since, channels)
    return None


def _count_failures(
    transaction: Transaction,
    repository: RepositoryName,
    routed: Sequence[EventRecord],
    kind_of: Mapping[int, EventKind],
    preceding: Sequence[EventRecord],
) -> None:
    """Count failures in a row as they are routed, so that each counts once."""
    classified = [
        (with_preceding_events(record, preceding), kind_of[record.event_id]) for record in routed
    ]
    if not any(record.type == MERGED or kind is EventKind.FAILURE for record, kind in classified):
        return
    before = Alerts(transaction).streak(repository)
    after = streak_after(before, classified)
    if after != before:
        Alerts(transaction).save_streak(repository, after)


def _slice(
    transaction: Transaction,
    repository: RepositoryName,
    now: datetime,
    known: Sequence[EventRecord] | None,
) -> tuple[Sequence[EventRecord], bool, datetime]:
    """The oldest ROUTED_AT_ONCE events, whether others follow, and the time of the last read.

    The events after a leave without metadata decide its meaning. So a full slice ends where later
    events change nothing; in a burst without such a place it is longer.
    """
    limit = ROUTED_AT_ONCE
    while True:
        found = known or Events(transaction).unrouted(repository, limit + 1)
        if len(found) <= limit:
            return found, False, found[-1].received_at if found else now
        whole = settled(found, limit)
        if whole:
            return found[:whole], True, found[-1].received_at
        limit *= 4
