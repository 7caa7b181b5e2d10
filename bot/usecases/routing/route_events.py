"""From stored events to deliveries: who hears about each of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.domain.audit import AuditRecord
from bot.domain.batches import batches_of, together
from bot.domain.classification import PAUSE_TYPES, EventKind, kinds
from bot.domain.deliveries import NewDelivery
from bot.domain.event_records import EventRecord, PullRequestRecord
from bot.domain.event_types import MERGED
from bot.domain.grace_period import GracePeriod, settled
from bot.domain.pauses import SAME_ACT, act_told_by
from bot.domain.queue import Pause
from bot.domain.queue_health import streak_after
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import NextDigest, Style, Subscription, Topic, channels_hearing
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
class Unrouted:
    """What a process knows of a repository's events that are stored and not routed.

    `records`: all of them, oldest first, None where they have to be read. `grace_period` remembers
    since when leaves that say nothing have been waited for. `personal`: the topics of which some
    people want direct messages. `clock_ahead`: how far the service's clock is ahead of ours.
    """

    records: Sequence[EventRecord] | None = None
    grace_period: GracePeriod = field(default_factory=GracePeriod)
    personal: frozenset[str] = frozenset()
    clock_ahead: timedelta = timedelta()


@dataclass(frozen=True, slots=True)
class Routed:
    """What was added to tell, the events that are left, whether there is more to route at once.

    `left` is None where it is more than was read. `grace_period`: what of it is waited for.
    """

    added: int
    left: Sequence[EventRecord] | None
    more: bool
    grace_period: GracePeriod = field(default_factory=GracePeriod)


def route_events(
    transaction: Transaction,
    repository: RepositoryName,
    now: datetime,
    next_digest: NextDigest,
    observed: Pause | None = None,
    before: Unrouted | None = None,
) -> Routed:
    """Route the oldest events, as far as they can be judged, at most SLICE of them.

    `observed` is the pause in force that was read after them, if it was read. `before` is
    what is known before of all that is to be routed.

    Order per channel is the order of the events, so an event that has to wait holds those
    behind it.
    """
    before = before or Unrouted()
    known, grace_period = before.records, GracePeriod({**before.grace_period.since})
    unrouted, behind, newest = _slice(transaction, repository, now, known)
    if not unrouted:
        return Routed(0, [], more=False)
    subscriptions = transaction.subscriptions.of_repository(repository)
    judged = _judge(transaction, grace_period, unrouted, newest, now)
    subscribers = Subscribers(
        MatchingSubscribers(subscriptions, judged.seen),
        _threads(transaction, repository, subscriptions, judged.records),
        judged.batches,
        next_digest,
    )
    acts = _acts(transaction, repository, judged.records, before.clock_ahead)
    told = _told(transaction, judged.records, acts, before.clock_ahead, now)
    routed = [record for record, _ in told]
    deliveries = _deliveries(transaction, subscribers, judged, routed, before.personal, now)
    if channels_hearing(subscriptions, Topic.HEALTH):
        _count_failures(transaction, repository, routed, judged.kinds)
    # Live messages before channel queues, as whoever records that one is posted takes them.
    if subscribers.threads is not None:
        subscribers.threads.finish(now)
    pauses = [(record, act) for record, act in told if record.type in PAUSE_TYPES]
    for record, act in pauses:
        channels = subscribers.matching.channels(record, judged.kinds[record.event_id])
        route_pause_event(transaction, record, act, channels, now, observed)
    added = len(pauses) + transaction.outbox.add(subscribers.in_one_post(deliveries))
    grace_period.forget([record.event_id for record in routed])
    left = None if behind and known is None else (known or unrouted)[len(routed) :]
    transaction.events.mark_routed(repository, [record.event_id for record in routed])
    return Routed(added, left, more=bool(behind and routed), grace_period=grace_period)


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
    transaction: Transaction,
    repository: RepositoryName,
    now: datetime,
    known: Sequence[EventRecord] | None,
) -> tuple[Sequence[EventRecord], int, datetime]:
    """The oldest events, at most SLICE, how many of those read follow, and the last's time.

    What follows a silent leave decides what it means, so a full slice ends where nothing that
    follows changes what it means; a burst that has no such end is read further.
    """
    limit = SLICE
    while True:
        found = (
            known[: limit + 1]
            if known is not None
            else transaction.events.unrouted(repository, limit + 1)
        )
        if len(found) <= limit:
            return found, 0, found[-1].received_at if found else now
        whole = settled(found, limit)
        if whole:
            return found[:whole], len(found) - whole, found[-1].received_at
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
