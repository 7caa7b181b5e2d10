"""The one transaction before the polls of a tick."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.event_log import LastPoll, Position
from bot.domain.leases import POLL_LEASES, Lease
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import Subscription
from bot.store.transactions import Transaction
from bot.usecases.polling.observe_health import ObserveHealth
from bot.usecases.polling.poll_state import PersonalTopics, PollSchedule

STORED_EVERY = timedelta(seconds=15)
"""How often the times of the last polls are stored, to show how fresh the data is."""


@dataclass(frozen=True, slots=True)
class Tick:
    """One tick at `now`: the repositories `due`, and those with leases to be `renewed`."""

    schedules: Mapping[RepositoryName, PollSchedule]
    due: Sequence[RepositoryName]
    renewed: Sequence[RepositoryName]
    holder: str
    lifetime: timedelta
    now: datetime


@dataclass(frozen=True, slots=True)
class Prepared:
    """The data for one tick, from one transaction.

    `stored`: the times of last polls that it stored.
    `unsubscribed`: repositories without a channel subscribed to their queue health.
    `shown`: repositories on boards, of which there are `boards` in all.
    """

    ours: Sequence[RepositoryName]
    leases: Mapping[str, Lease]
    positions: Mapping[RepositoryName, Position]
    subscriptions: Mapping[RepositoryName, Sequence[Subscription]]
    all_routed: Collection[RepositoryName]
    last: Mapping[RepositoryName, LastPoll]
    personal: PersonalTopics
    stored: Mapping[RepositoryName, LastPoll]
    unsubscribed: Collection[RepositoryName]
    shown: Collection[RepositoryName]
    boards: int


def prepare(
    transaction: Transaction,
    tick: Tick,
    personal: PersonalTopics,
    health: ObserveHealth | None,
) -> Prepared:
    """Claim the leases and read the data for polls; with boards if queues are read too."""
    due, now = tick.due, tick.now
    leases = transaction.leases.claim(
        [lease_name(name) for name in (*due, *tick.renewed)],
        holder=tick.holder,
        now=now,
        lifetime=tick.lifetime,
    )
    ours = [name for name in due if lease_name(name) in leases]
    positions = transaction.positions.load(due)
    # A repository taken over without unrouted events needs no transaction of its own.
    new = [name for name in due if tick.schedules[name].state is None]
    unrouted = transaction.events.with_unrouted(new)
    last = transaction.polls.latest(new) if new else {}
    stored = _to_store(tick, ours, leases)
    transaction.polls.save(stored)
    subscriptions = transaction.subscriptions.of_repositories(due)
    unsubscribed: Collection[RepositoryName] = ()
    shown: Collection[RepositoryName] = ()
    if health is not None:
        unsubscribed = health.end_unsubscribed(transaction, ours, subscriptions, now)
        shown = {board.repository for board in transaction.boards.kept(due)}
    return Prepared(
        ours=ours,
        leases=leases,
        positions=positions,
        subscriptions=subscriptions,
        all_routed=set(new).difference(unrouted),
        last=last,
        personal=personal.read(transaction, now),
        stored=stored,
        unsubscribed=unsubscribed,
        shown=shown,
        boards=transaction.boards.count_open() if shown else 0,
    )


def _to_store(
    tick: Tick, ours: Sequence[RepositoryName], leases: Mapping[str, Lease]
) -> dict[RepositoryName, LastPoll]:
    """The times of last polls that are worth storing, which is not every one.

    Only under the same lease, because otherwise another process may have polled since.
    """
    schedules = {name: tick.schedules[name] for name in ours}
    return {
        name: LastPoll(one.polled_at, one.types_read)
        for name, one in schedules.items()
        if one.polled_at is not None
        and one.token == leases[lease_name(name)].token
        and (one.stored_at is None or one.polled_at - one.stored_at >= STORED_EVERY)
    }


def lease_name(name: RepositoryName) -> str:
    return f"{POLL_LEASES}{name}"
