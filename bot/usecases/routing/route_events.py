"""From stored events to deliveries: which channels and people are notified of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.domain.audit import FROM_LOG, ActResult, AuditRecord
from bot.domain.causes import LONGEST_APART, act_of_event
from bot.domain.classification import PAUSE_TYPES, EventKind, kinds, turn_after
from bot.domain.deliveries import NewDelivery
from bot.domain.event_records import EventRecord
from bot.domain.event_types import ENTER, MERGED, Turn
from bot.domain.freezes import FREEZE_TYPES
from bot.domain.grace_period import GracePeriod, batches_of, settled, together
from bot.domain.live_messages import LiveKind, LiveSubject
from bot.domain.notices import Notice
from bot.domain.preceding_events import with_preceding_events
from bot.domain.queue import Pause
from bot.domain.queue_health import streak_after
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import NextDigest, Style, Topic, subscribed_channels
from bot.store.transactions import Transaction
from bot.usecases.freezes import see_freeze_event
from bot.usecases.leases import is_under_way
from bot.usecases.live_messages import post_act
from bot.usecases.pausing.reports import end_act, end_of
from bot.usecases.preceding_events import events_around_merges, preceding_events, removals_here
from bot.usecases.routing.route_pauses import route_pause_event
from bot.usecases.routing.route_subscribers import (
    BACKLOG,
    PauseInForce,
    Subscribers,
    Threads,
    event_delivery,
)

SLICE = 1000
"""Events routed in one transaction; a backlog of any size is kept out of memory."""


@dataclass(frozen=True, slots=True)
class RoutingContext:
    """The context of routing, besides the stored events.

    `observed`: the pause in force when read after them, if it was read.
    `grace_period`: since when leaves without metadata have waited.
    `personal`: the topics of which some people want direct messages.
    `clock_ahead`: how far the service's clock is ahead of ours.
    `unrouted`: the events stored before that wait, None if unknown.
    """

    next_digest: NextDigest
    now: datetime
    observed: Pause | None = None
    grace_period: GracePeriod = field(default_factory=GracePeriod)
    personal: frozenset[str] = frozenset()
    clock_ahead: timedelta = timedelta()
    unrouted: Sequence[EventRecord] | None = None


@dataclass(frozen=True, slots=True)
class Routed:
    """How many deliveries were added, and whether more can be routed now.

    `left`: the events that still wait, None if unknown.
    `grace_period`: those that wait for an explanation.
    """

    added: int
    left: Sequence[EventRecord] | None
    more: bool
    grace_period: GracePeriod


def route_events(
    transaction: Transaction,
    repository: RepositoryName,
    context: RoutingContext,
    unrouted: Sequence[EventRecord] | None = None,
) -> Routed:
    """Route the oldest unrouted events that can be classified, at most SLICE of them.

    Each channel gets events in order, so an event that has to wait also holds those behind it.
    `unrouted`: all of them in order, at most SLICE; None to read them.
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
        _count_failures(transaction, repository, routed, found.kinds)
    # Live messages before channel queues, the order in which recording a post locks them.
    found.threads.finish(now)
    _settle_removals(transaction, found.removals, routed, now)
    pauses = [(record, act) for record, act in ready if record.type in PAUSE_TYPES]
    for record, act in pauses:
        channels = found.channels(record)
        route_pause_event(transaction, record, act, channels, now, context.observed)
    added = notified + len(pauses)
    added += transaction.outbox.add(found.in_one_post(deliveries))
    grace_period.forget([record.event_id for record in routed])
    transaction.events.mark_routed(repository, [record.event_id for record in routed])
    left = None if behind else unrouted[len(routed) :]
    return Routed(added, left, more=behind and bool(routed), grace_period=grace_period)


def _judge(
    transaction: Transaction,
    grace_period: GracePeriod,
    unrouted: Sequence[EventRecord],
    newest: datetime,
    context: RoutingContext,
) -> Subscribers:
    repository, now = unrouted[0].repository, context.now
    records = grace_period.head(unrouted, newest=newest, now=now)
    batches: Mapping[int, str] = {}
    if len(records) <= BACKLOG:
        # In a backlog each is a delivery of its own, to be summarized with the rest.
        merges = events_around_merges(transaction, repository, records)
        known = batches_of(records, merges)
        records = grace_period.whole_batches(records, known, merges, newest=newest, now=now)
        batches = together(known, [one.event_id for one in records])
    preceding = preceding_events(transaction, repository, records)
    subscriptions = transaction.subscriptions.of_repository(repository)
    depends_on_authors = context.personal or any(one.except_logins for one in subscriptions)
    numbers = {one.pull_request for one in records if one.pull_request and depends_on_authors}
    has_threads = any(one.style is Style.THREAD for one in subscriptions)
    return Subscribers(
        records,
        kinds(records, preceding),
        batches,
        transaction.pull_requests.get(repository, numbers) if numbers else {},
        preceding,
        removals_here(transaction, repository, records),
        subscriptions,
        Threads(transaction, repository, records, is_used=has_threads),
        _pause_in_force(transaction, repository, records),
        context.next_digest,
        now,
    )


def _ready(
    transaction: Transaction, records: Sequence[EventRecord], context: RoutingContext
) -> list[tuple[EventRecord, AuditRecord | None]]:
    """The events that can be routed now, pause events with the act that caused them.

    They stop at a pause event whose act has not ended yet.
    """
    ahead = context.clock_ahead
    acts: Sequence[AuditRecord] = ()
    pauses = [record.received_at for record in records if record.type in PAUSE_TYPES]
    if pauses:
        since = min(pauses) - ahead - LONGEST_APART
        acts = transaction.audit.since(records[0].repository, since)
    ready: list[tuple[EventRecord, AuditRecord | None]] = []
    for record in records:
        act = act_of_event(record, acts, ahead) if record.type in PAUSE_TYPES else None
        if act is not None and is_under_way(transaction, act, acts, context.now):
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
    for act in (removals[one.event_id] for one in routed if one.event_id in removals):
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
    """Direct messages to people about their own pull requests; one query.

    The author of a pull request that was never seen in the queue is unknown.
    """
    found: list[tuple[EventRecord, tuple[str, Notice]]] = []
    for record in routed:
        known = judged.seen.get(record.pull_request or 0)
        whole, kind = with_preceding_events(record, judged.preceding), judged.kinds[record.event_id]
        is_failure = kind is EventKind.FAILURE and turn_after(whole, kind) is Turn.AUTHOR
        if known is not None and (is_failure or kind is EventKind.MERGE):
            notice = Notice.FAILURE if is_failure else Notice.MERGE
            found.append((record, (known.author, notice)))
    if not found:
        return []
    authors, notices = {author for _, (author, _) in found}, {notice for _, (_, notice) in found}
    people = transaction.people.switched_on(authors, notices)
    return [
        event_delivery(record, person, judged.kinds[record.event_id], now)
        for record, key in found
        for person in people.get(key, ())
    ]


def _pause_in_force(
    transaction: Transaction, repository: RepositoryName, records: Sequence[EventRecord]
) -> PauseInForce | None:
    """None where nothing arrived that a card could count."""
    if all(one.type != ENTER for one in records):
        return None
    for pause in transaction.pauses.open([repository]):
        card = LiveSubject(LiveKind.PAUSE, repository, str(pause.pause_id))
        shown = transaction.live_messages.of(card)
        channels = {one.channel_id for one in shown if not one.is_lost}
        return PauseInForce(pause.paused_at, channels)
    return None


def _count_failures(
    transaction: Transaction,
    repository: RepositoryName,
    routed: Sequence[EventRecord],
    kind_of: Mapping[int, EventKind],
) -> None:
    """Count failures in a row as they are routed, so that each counts once."""
    classified = [(one, kind_of[one.event_id]) for one in routed]
    if not any(one.type == MERGED or kind is EventKind.FAILURE for one, kind in classified):
        return
    before = transaction.alerts.streak(repository)
    after = streak_after(before, classified)
    if after != before:
        transaction.alerts.save_streak(repository, after)


def _slice(
    transaction: Transaction,
    repository: RepositoryName,
    now: datetime,
    known: Sequence[EventRecord] | None,
) -> tuple[Sequence[EventRecord], bool, datetime]:
    """The oldest events, at most SLICE, whether others follow, and the time of the last read.

    The events after a leave without metadata decide its meaning. So a full slice ends where later
    events change nothing; in a burst without such a place it is longer.
    """
    limit = SLICE
    while True:
        found = known or transaction.events.unrouted(repository, limit + 1)
        if len(found) <= limit:
            return found, False, found[-1].received_at if found else now
        whole = settled(found, limit)
        if whole:
            return found[:whole], True, found[-1].received_at
        limit *= 4
