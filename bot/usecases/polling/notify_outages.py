"""Notify channels once of an outage, and once of its end."""

import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.domain.deliveries import Subject, SubjectKind
from bot.domain.outages import (
    Outage,
    PollObservation,
    SlackObservation,
    outage_changes,
)
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
        polls, slack = self.observe(), self.observe_slack()

        def store_changes(transaction: Transaction) -> int:
            of_slack = self._of_slack(transaction, slack, polls.at) if slack is not None else 0
            return of_slack + self._of_logs(transaction, polls)

        if await self.store.run(store_changes):
            self.wake()

    def _of_slack(self, transaction: Transaction, seen: SlackObservation, now: datetime) -> int:
        """Nobody can be notified before Slack answers again."""
        active = next((one for one in transaction.outages.active() if one.is_of_slack), None)
        began_at = seen.began_at(self.limit)
        if active is None and began_at is not None:
            transaction.outages.add(Outage((), began_at))
            logger.warning("Slack doesn't answer", extra={"action": "slack_silent"})
        if active is None or seen.failing_since is not None:
            return 0
        late = transaction.outbox.late(seen.failed_at or now)
        ended = replace(active, ended_at=now, notified_at=now, late=sum(one.count for one in late))
        transaction.outages.save(ended)
        added = 0
        for one in late:
            subject = Subject(SubjectKind.OUTAGE_OVER, one.repository, ended.alert_id)
            added += _enqueue(transaction, subject, ended, [one.channel_id], now)
        return added

    def _of_logs(self, transaction: Transaction, observation: PollObservation) -> int:
        # Of several processes that notice at once, the first decides.
        transaction.outages.hold("outages")
        unread = observation.unread(self.limit)
        if unread:
            last = transaction.positions.polls(sorted(unread))
            read = {name: one.polled_at for name, one in last.items()}
            observation = observation.corrected(read, transaction.outages.last_end())
        active = [one for one in transaction.outages.active() if not one.is_of_slack]
        added = 0
        for one, notify in outage_changes(observation, active, self.limit):
            changed = one
            if not one.alert_id:
                changed = replace(one, alert_id=transaction.outages.add(one))
            elif not transaction.outages.save(one):
                continue
            is_over = one.ended_at is not None and one.notified_at is not None
            over = one.repositories if is_over else ()
            for kind, names in ((SubjectKind.OUTAGE, notify), (SubjectKind.OUTAGE_OVER, over)):
                matching = transaction.subscriptions.of_repositories(names) if names else {}
                channels = {each.channel_id for found in matching.values() for each in found}
                subject = Subject(kind, one.repositories[0], changed.alert_id)
                added += _enqueue(transaction, subject, changed, channels, observation.at)
        return added


def _enqueue(
    transaction: Transaction,
    subject: Subject,
    outage: Outage,
    channels: Collection[str],
    now: datetime,
) -> int:
    return enqueue_urgent(transaction, subject, channels, now, identity=outage.began_at.isoformat())
