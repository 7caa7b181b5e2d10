"""Notify channels once of an outage, and once of its end."""

import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.domain.deliveries import Subject, SubjectKind
from bot.domain.outages import (
    Outage,
    OutageCause,
    OutageChange,
    PollObservation,
    SlackObservation,
    outage_changes,
)
from bot.domain.repository import RepositoryName
from bot.ports import Wake
from bot.store.transactions import Store, Transaction
from bot.usecases.live_messages import enqueue_urgent
from bot.usecases.polling.poll_repositories import PollRepositories

logger = logging.getLogger(__name__)


def observation(polls: PollRepositories) -> PollObservation:
    """The state of the logs whose leases this process holds.

    A log whose last poll succeeded counts as read now, because a delay of this process says
    nothing about the service. One that failed counts as read an interval before its first
    failure, however rarely it is polled.
    """
    now, usual = polls.clock.now(), polls.interval.usual
    unread_since, read = {}, {}
    for name, one in polls.schedules.items():
        if one.read_at is None:
            continue
        unread_since[name] = now
        if one.failures.count:
            unread_since[name] = max(one.read_at, (one.failures.since or one.read_at) - usual)
        elif one.polled_at is not None:
            read[name] = one.polled_at
    return PollObservation(now, unread_since, read, polled=polls.repositories)


@dataclass(frozen=True, slots=True)
class NotifyOutages:
    """Compares the logs that this process polls with the outages known to all processes.

    The first process to notice announces an outage, the others add their logs to it, and the
    process that reads the last of them again announces its end.

    `limit`: how long a log may go unread, and Slack may leave calls unanswered.
    `observe_slack`: None while another process posts.
    """

    store: Store
    wake: Wake
    limit: timedelta
    observe: Callable[[], PollObservation]
    observe_slack: Callable[[], SlackObservation | None] = lambda: None

    async def run(self) -> None:
        """Update the stored outages; raises StoreError."""
        if await self.store.run(self._store_changes, self.observe(), self.observe_slack()):
            self.wake()

    def _store_changes(
        self, transaction: Transaction, polls: PollObservation, slack: SlackObservation | None
    ) -> int:
        """Store the changes and return how many notices there are."""
        of_slack = self._of_slack(transaction, slack, polls.at) if slack is not None else 0
        return of_slack + self._of_logs(transaction, polls)

    def _of_slack(self, transaction: Transaction, seen: SlackObservation, now: datetime) -> int:
        """Nobody can be notified before Slack answers again."""
        active = next(iter(transaction.outages.active(OutageCause.SLACK)), None)
        began_at = seen.began_at(self.limit)
        if active is None and began_at is not None:
            transaction.outages.add(Outage((), began_at, cause=OutageCause.SLACK))
            logger.warning("Slack doesn't answer", extra={"action": "slack_silent"})
        if active is None or seen.failing_since is not None:
            return 0
        late = transaction.outbox.late(seen.failed_at or now)
        ended = replace(active, ended_at=now, notified_at=now, late=sum(one.count for one in late))
        transaction.outages.save(ended)
        over = SubjectKind.OUTAGE_OVER
        return sum(
            _enqueue(transaction, over, ended, one.repository, [one.channel_id], now)
            for one in late
        )

    def _of_logs(self, transaction: Transaction, observation: PollObservation) -> int:
        # Of several processes that notice at once, the first decides.
        transaction.outages.hold("outages")
        unread = observation.unread(self.limit)
        if unread:
            last = transaction.positions.polls(sorted(unread))
            read = {name: one.polled_at for name, one in last.items()}
            observation = observation.corrected(read, transaction.outages.last_end())
        active = transaction.outages.active(OutageCause.LOG)
        changes = outage_changes(observation, active, self.limit)
        return sum(_store(transaction, change, observation.at) for change in changes)


def _store(transaction: Transaction, change: OutageChange, now: datetime) -> int:
    """Store a change and return how many notices it makes."""
    one = change.outage
    if not one.alert_id:
        one = replace(one, alert_id=transaction.outages.add(one))
    elif not transaction.outages.save(one):
        return 0
    added = _notify(transaction, SubjectKind.OUTAGE, one, change.notify, now)
    if one.ended_at is not None and one.notified_at is not None:
        added += _notify(transaction, SubjectKind.OUTAGE_OVER, one, one.repositories, now)
    return added


def _notify(
    transaction: Transaction,
    kind: SubjectKind,
    outage: Outage,
    repositories: Collection[RepositoryName],
    now: datetime,
) -> int:
    if not repositories:
        return 0
    matching = transaction.subscriptions.of_repositories(repositories)
    channels = {one.channel_id for found in matching.values() for one in found}
    return _enqueue(transaction, kind, outage, outage.repositories[0], channels, now)


def _enqueue(
    transaction: Transaction,
    kind: SubjectKind,
    outage: Outage,
    repository: RepositoryName,
    channels: Collection[str],
    now: datetime,
) -> int:
    subject = Subject(kind, repository, outage.alert_id)
    return enqueue_urgent(transaction, subject, channels, now, identity=outage.began_at.isoformat())
