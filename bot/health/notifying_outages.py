"""Notify channels once of an outage, and once of its end."""

import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.channels.rows import Subscriptions
from bot.health.outage import Outage, PollObservation, SlackOutage, outage_changes
from bot.health.outage_rows import Outages, SlackOutages
from bot.log.rows import Positions
from bot.posts.delivery import Subject, SubjectKind
from bot.posts.enqueueing import enqueue_urgent
from bot.posts.outbox import Outbox
from bot.posts.wake import Wake
from bot.slack.observation import SlackObservation
from bot.store.transaction import Transaction
from bot.store.transactions import Store

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class NotifyOutages:
    """Compares the logs that this process polls with the stored outages.

    An outage outlasts the process that announced it: the next one to poll announces its end.
    """

    store: Store
    wake: Wake
    limit: timedelta  #: how long a log may go unread, and Slack may leave calls unanswered
    observe: Callable[[], PollObservation]
    #: None while another process posts
    observe_slack: Callable[[], SlackObservation | None] = lambda: None

    async def run(self) -> None:
        """Update the stored outages; raises StoreError."""
        polls = self.observe()
        slack = self.observe_slack()

        def store_changes(transaction: Transaction) -> int:
            of_slack = self._of_slack(transaction, slack, polls.at) if slack is not None else 0
            return of_slack + self._of_logs(transaction, polls)

        if await self.store.run(store_changes):
            self.wake()

    def _of_slack(self, transaction: Transaction, seen: SlackObservation, now: datetime) -> int:
        """Nobody can be notified before Slack answers again."""
        active = SlackOutages(transaction).active()
        began_at = seen.began_at(self.limit)
        if active is None and began_at is not None:
            SlackOutages(transaction).begin(began_at)
            logger.warning("Slack doesn't answer", extra={"action": "slack_silent"})
        if active is None or seen.failing_since is not None:
            return 0
        late = Outbox(transaction).late(seen.failed_at or now)
        SlackOutages(transaction).end(active, now, sum(delivery.count for delivery in late))
        added = 0
        for delivery in late:
            subject = Subject(SubjectKind.SLACK_OUTAGE_OVER, delivery.repository, active.outage_id)
            added += _enqueue(transaction, subject, active, [delivery.channel_id], now)
        return added

    def _of_logs(self, transaction: Transaction, observation: PollObservation) -> int:
        # While another process takes over, two may notice at once: the first decides.
        Outages(transaction).lock("outages")
        unread = observation.unread(self.limit)
        if unread:
            last = Positions(transaction).polls(sorted(unread))
            read = {name: poll.polled_at for name, poll in last.items()}
            observation = observation.corrected(read, Outages(transaction).last_end())
        active = Outages(transaction).active()
        added = 0
        for outage, notify in outage_changes(observation, active, self.limit):
            changed = outage
            if not outage.outage_id:
                changed = replace(outage, outage_id=Outages(transaction).add(outage))
            elif not Outages(transaction).save(outage):
                continue
            is_over = outage.ended_at is not None and outage.notified_at is not None
            over = outage.repositories if is_over else ()
            for kind, names in ((SubjectKind.OUTAGE, notify), (SubjectKind.OUTAGE_OVER, over)):
                matching = Subscriptions(transaction).of_repositories(names) if names else {}
                channels = {each.channel_id for found in matching.values() for each in found}
                subject = Subject(kind, outage.repositories[0], changed.outage_id)
                added += _enqueue(transaction, subject, changed, channels, observation.at)
        return added


def _enqueue(
    transaction: Transaction,
    subject: Subject,
    outage: Outage | SlackOutage,
    channels: Collection[str],
    now: datetime,
) -> int:
    return enqueue_urgent(transaction, subject, channels, now, identity=outage.began_at.isoformat())
