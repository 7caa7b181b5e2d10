"""From stored events to deliveries: who hears about each of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.domain.audit import AuditRecord
from bot.domain.batches import batches_of, together
from bot.domain.classification import (
    PAUSE_TYPES,
    EventKind,
    kinds,
)
from bot.domain.deliveries import NewDelivery
from bot.domain.digests import NextDigest
from bot.domain.event_records import EventRecord, PullRequestRecord
from bot.domain.hearing import Hearing
from bot.domain.pauses import SAME_ACT, act_told_by
from bot.domain.queue import Pause
from bot.domain.repository import RepositoryName
from bot.domain.settling import Settling, settled
from bot.domain.subscriptions import Style, Subscription, Topic, channels_hearing
from bot.store.transactions import Transaction
from bot.usecases.leases import is_under_way
from bot.usecases.routing.count_failures import count_failures
from bot.usecases.routing.event_routes import EventRoutes
from bot.usecases.routing.route_threads import BACKLOG
from bot.usecases.routing.route_to_authors import authors_to_tell
from bot.usecases.routing.threaded import Threaded
from bot.usecases.surroundings import surroundings, surroundings_of_merges

_Pause = tuple[EventRecord, AuditRecord | None]
"""An event of a pause, and the act that it is the service's record of, if it is one's."""

SLICE = 1000
"""Events routed in one transaction; a backlog of any size is kept out of memory."""


@dataclass(frozen=True, slots=True)
class Unrouted:
    """What a process knows of a repository's events that are stored and not routed.

    `records`: all of them, oldest first, None where they have to be read. `settling` remembers
    since when leaves that say nothing have been waited for. `personal`: the topics of which some
    people want direct messages. `clock_ahead`: how far the service's clock is ahead of ours.
    """

    records: Sequence[EventRecord] | None = None
    settling: Settling = field(default_factory=Settling)
    personal: frozenset[str] = frozenset()
    clock_ahead: timedelta = timedelta()


@dataclass(frozen=True, slots=True)
class Routed:
    """What was added to tell, the events that are left, whether there is more to route at once.

    `left` is None where it is more than was read. `settling`: what of it is waited for.
    """

    added: int
    left: Sequence[EventRecord] | None
    more: bool
    settling: Settling = field(default_factory=Settling)


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
    known, settling = before.records, Settling({**before.settling.since})
    unrouted, behind, newest = _slice(transaction, repository, now, known)
    if not unrouted:
        return Routed(0, [], more=False)
    subscriptions = transaction.subscriptions.of_repository(repository)
    judged = settling.head(unrouted, newest=newest, now=now)
    judged, merged_together = _batches(
        transaction, repository, judged, settling, newest=newest, now=now
    )
    seen = _seen(transaction, judged)
    kind_of, authors = _judge(transaction, repository, judged, seen, before.personal)
    routes = EventRoutes(
        transaction,
        repository,
        hearing=Hearing(subscriptions, seen),
        kinds=kind_of,
        authors=authors,
        observed=observed,
        threaded=_threads(transaction, repository, subscriptions, judged),
        next_digest=next_digest,
        merged_together=merged_together,
    )
    routed, pauses, deliveries = _route(routes, judged, now, before.clock_ahead)
    if channels_hearing(subscriptions, Topic.HEALTH):
        told = [(record, kind_of[record.event_id]) for record in routed]
        count_failures(transaction, repository, told)
    # Cards before lines, as whoever records that a card is posted takes them.
    if routes.threaded is not None:
        routes.threaded.finish(now)
    for record, act in pauses:
        routes.tell_pause(record, act, now)
    added = len(pauses) + transaction.outbox.add(routes.in_one_post(deliveries))
    settling.forget([record.event_id for record in routed])
    left = None if behind and known is None else (known or unrouted)[len(routed) :]
    transaction.events.mark_routed(repository, [record.event_id for record in routed])
    return Routed(added, left, more=bool(behind and routed), settling=settling)


def _batches(
    transaction: Transaction,
    repository: RepositoryName,
    judged: Sequence[EventRecord],
    settling: Settling,
    *,
    newest: datetime,
    now: datetime,
) -> tuple[Sequence[EventRecord], Mapping[int, str]]:
    """What no batch waits for the rest of, and which of it a batch merged together.

    In a backlog each is told of by itself: a summary takes the place of that.
    """
    if len(judged) > BACKLOG:
        return judged, {}
    around = surroundings_of_merges(transaction, repository, judged)
    batches = batches_of(judged, around)
    whole = settling.whole_batches(judged, batches, around, newest=newest, now=now)
    return whole, together(batches, [one.event_id for one in whole])


def _threads(
    transaction: Transaction,
    repository: RepositoryName,
    subscriptions: Sequence[Subscription],
    judged: Sequence[EventRecord],
) -> Threaded | None:
    """None where no channel is told in threads."""
    if all(one.style is not Style.THREAD for one in subscriptions):
        return None
    is_backlog = len(judged) > BACKLOG
    return Threaded.load(transaction, repository, judged, is_backlog=is_backlog)


def _judge(
    transaction: Transaction,
    repository: RepositoryName,
    judged: Sequence[EventRecord],
    seen: Mapping[int, PullRequestRecord],
    personal: frozenset[str],
) -> tuple[Mapping[int, EventKind], Mapping[int, Sequence[str]]]:
    """What each event is, and the people to be told of it, by its id."""
    around = surroundings(transaction, repository, judged)
    kind_of = kinds(judged, around)
    if not personal:
        return kind_of, {}
    return kind_of, authors_to_tell(transaction, judged, kind_of, around, seen)


def _route(
    routes: EventRoutes, judged: Sequence[EventRecord], now: datetime, clock_ahead: timedelta
) -> tuple[list[EventRecord], list[_Pause], list[NewDelivery]]:
    """As far as no act is under way that a pause event is the service's record of.

    Which events are routed, those of pauses among them, and what is told of the others.
    """
    acts = _acts(routes.transaction, routes.repository, judged, clock_ahead)
    routed: list[EventRecord] = []
    pauses: list[_Pause] = []
    deliveries: list[NewDelivery] = []
    for record in judged:
        if record.type in PAUSE_TYPES:
            act = act_told_by(record, acts, clock_ahead)
            if act is not None and is_under_way(routes.transaction, act, acts, now):
                break
            pauses.append((record, act))
        deliveries += routes.to_channels(record, now)
        people = routes.authors.get(record.event_id)
        if people:
            deliveries += routes.to_people(record, people, now)
        routed.append(record)
    return routed, pauses, deliveries


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


def _seen(
    transaction: Transaction, records: Sequence[EventRecord]
) -> Mapping[int, PullRequestRecord]:
    numbers = {record.pull_request for record in records if record.pull_request is not None}
    return transaction.pull_requests.get(records[0].repository, numbers) if numbers else {}


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
