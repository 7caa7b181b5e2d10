"""From stored events to deliveries: who hears about each of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.domain.audit import AuditRecord
from bot.domain.classification import PAUSE_TYPES, EventKind, kinds
from bot.domain.deliveries import NewDelivery
from bot.domain.event_records import EventRecord, PullRequestRecord
from bot.domain.event_types import MERGED
from bot.domain.grace_period import GracePeriod, batches_of, settled, together
from bot.domain.pauses import SAME_ACT, act_told_by
from bot.domain.queue import Pause
from bot.domain.queue_health import streak_after
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import NextDigest, Style, Subscription, Topic, subscribed_channels
from bot.store.transactions import Transaction
from bot.usecases.leases import is_under_way
from bot.usecases.preceding_events import events_around_merges, preceding_events
from bot.usecases.routing.route_authors import authors_to_notify, to_authors
from bot.usecases.routing.route_pauses import route_pause_event
from bot.usecases.routing.route_subscribers import MatchingSubscribers, Subscribers
from bot.usecases.routing.route_threads import BACKLOG, Threads

SLICE = 1000
"""Events routed in one transaction; a backlog of any size is kept out of memory."""


@dataclass(frozen=True, slots=True)
class RoutingContext:
    """What routing needs besides the stored events.

    `observed` is the pause in force that was read after them, if it was read. `grace_period`
    remembers since when leaves that say nothing have been waited for. `personal`: the topics of
    which some people want direct messages. `clock_ahead`: how far the service's clock is ahead of
    ours.
    """

    next_digest: NextDigest
    observed: Pause | None = None
    grace_period: GracePeriod = field(default_factory=GracePeriod)
    personal: frozenset[str] = frozenset()
    clock_ahead: timedelta = timedelta()


@dataclass(frozen=True, slots=True)
class Routed:
    """How many deliveries were added, and whether there is more to route now.

    `left`: the types of the events that wait. `grace_period`: which of them wait for what may
    explain them.
    """

    added: int
    left: frozenset[str]
    more: bool
    grace_period: GracePeriod


def route_events(
    transaction: Transaction, repository: RepositoryName, context: RoutingContext, now: datetime
) -> Routed:
    """Route the oldest unrouted events, as far as they can be judged, at most SLICE of them.

    Order per channel is the order of the events, so an event that has to wait holds those
    behind it.
    """
    grace_period = GracePeriod({**context.grace_period.since})
    unrouted, behind, newest = _slice(transaction, repository, now)
    if not unrouted:
        return Routed(0, frozenset(), more=False, grace_period=grace_period)
    subscriptions = transaction.subscriptions.of_repository(repository)
    judged = _judge(transaction, grace_period, unrouted, newest, now)
    subscribers = Subscribers(
        MatchingSubscribers(subscriptions, judged.seen),
        _threads(transaction, repository, subscriptions, judged.records),
        judged.batches,
        context.next_digest,
    )
    acts = _acts(transaction, repository, judged.records, context.clock_ahead)
    told = _told(transaction, judged.records, acts, context.clock_ahead, now)
    routed = [record for record, _ in told]
    deliveries = _deliveries(transaction, subscribers, judged, routed, context.personal, now)
    if subscribed_channels(subscriptions, Topic.HEALTH):
        _count_failures(transaction, repository, routed, judged.kinds)
    # Live messages before channel queues, the order in which recording a post locks them.
    if subscribers.threads is not None:
        subscribers.threads.finish(now)
    pauses = [(record, act) for record, act in told if record.type in PAUSE_TYPES]
    for record, act in pauses:
        channels = subscribers.matching.channels(record, judged.kinds[record.event_id])
        route_pause_event(transaction, record, act, channels, now, context.observed)
    added = len(pauses) + transaction.outbox.add(subscribers.in_one_post(deliveries))
    grace_period.forget([record.event_id for record in routed])
    transaction.events.mark_routed(repository, [record.event_id for record in routed])
    left = frozenset(one.type for one in unrouted[len(routed) :])
    return Routed(added, left, more=behind and bool(routed), grace_period=grace_period)


@dataclass(frozen=True, slots=True)
class _Judged:
    """Events whose meaning no longer depends on what may follow, and what they mean.

    `kinds` and `batches` (of merges that one post tells together) are by event id; `seen` are the
    pull requests that are known, by number; `preceding` tells more of leaves that say too little.
    """

    records: Sequence[EventRecord]
    kinds: Mapping[int, EventKind]
    batches: Mapping[int, str]
    seen: Mapping[int, PullRequestRecord]
    preceding: Sequence[EventRecord]


def _judge(
    transaction: Transaction,
    grace_period: GracePeriod,
    unrouted: Sequence[EventRecord],
    newest: datetime,
    now: datetime,
) -> _Judged:
    repository = unrouted[0].repository
    records = grace_period.head(unrouted, newest=newest, now=now)
    batches: Mapping[int, str] = {}
    if len(records) <= BACKLOG:
        # In a backlog each is told of by itself: a summary takes the place of that.
        merges = events_around_merges(transaction, repository, records)
        known = batches_of(records, merges)
        records = grace_period.whole_batches(records, known, merges, newest=newest, now=now)
        batches = together(known, [one.event_id for one in records])
    preceding = preceding_events(transaction, repository, records)
    numbers = {one.pull_request for one in records if one.pull_request is not None}
    seen = transaction.pull_requests.get(repository, numbers) if numbers else {}
    return _Judged(records, kinds(records, preceding), batches, seen, preceding)


def _told(
    transaction: Transaction,
    records: Sequence[EventRecord],
    acts: Sequence[AuditRecord],
    clock_ahead: timedelta,
    now: datetime,
) -> list[tuple[EventRecord, AuditRecord | None]]:
    """Those that can be told now, with the act that one of a pause is the service's record of.

    They end where such an act is still to end.
    """
    told: list[tuple[EventRecord, AuditRecord | None]] = []
    for record in records:
        act = act_told_by(record, acts, clock_ahead) if record.type in PAUSE_TYPES else None
        if act is not None and is_under_way(transaction, act, acts, now):
            break
        told.append((record, act))
    return told


def _deliveries(
    transaction: Transaction,
    subscribers: Subscribers,
    judged: _Judged,
    routed: Sequence[EventRecord],
    personal: frozenset[str],
    now: datetime,
) -> list[NewDelivery]:
    """What channels and authors are told of events; `route_pause_event` tells of pauses."""
    authors: Mapping[int, Sequence[str]] = {}
    if personal:
        authors = authors_to_notify(
            transaction, judged.records, judged.kinds, judged.preceding, judged.seen
        )
    deliveries: list[NewDelivery] = []
    for record in routed:
        kind = judged.kinds[record.event_id]
        if record.type not in PAUSE_TYPES:
            deliveries += subscribers.route(record, kind, now)
        deliveries += to_authors(record, kind, authors.get(record.event_id, ()), now)
    return deliveries


def _threads(
    transaction: Transaction,
    repository: RepositoryName,
    subscriptions: Sequence[Subscription],
    judged: Sequence[EventRecord],
) -> Threads | None:
    """None where no channel is told in threads."""
    if all(one.style is not Style.THREAD for one in subscriptions):
        return None
    threads = Threads(transaction, repository, is_backlog=len(judged) > BACKLOG)
    threads.load(judged)
    return threads


def _count_failures(
    transaction: Transaction,
    repository: RepositoryName,
    routed: Sequence[EventRecord],
    kind_of: Mapping[int, EventKind],
) -> None:
    """How many in a row left on failures, counted as they are routed, so each once."""
    told = [(one, kind_of[one.event_id]) for one in routed]
    if not any(one.type == MERGED or kind is EventKind.FAILURE for one, kind in told):
        return
    before = transaction.alerts.streak(repository)
    after = streak_after(before, told)
    if after != before:
        transaction.alerts.save_streak(repository, after)


def _slice(
    transaction: Transaction, repository: RepositoryName, now: datetime
) -> tuple[Sequence[EventRecord], bool, datetime]:
    """The oldest events, at most SLICE, whether others follow, and the time of the last read.

    What follows a silent leave decides what it means, so a full slice ends where nothing that
    follows changes what it means; a burst that has no such end is read further.
    """
    limit = SLICE
    while True:
        found = transaction.events.unrouted(repository, limit + 1)
        if len(found) <= limit:
            return found, False, found[-1].received_at if found else now
        whole = settled(found, limit)
        if whole:
            return found[:whole], True, found[-1].received_at
        limit *= 4


def _acts(
    transaction: Transaction,
    repository: RepositoryName,
    records: Sequence[EventRecord],
    clock_ahead: timedelta,
) -> list[AuditRecord]:
    """The acts that a pause event among `records` may be the service's record of."""
    pauses = [record.received_at for record in records if record.type in PAUSE_TYPES]
    if not pauses:
        return []
    return list(transaction.audit.since(repository, min(pauses) - clock_ahead - SAME_ACT))
