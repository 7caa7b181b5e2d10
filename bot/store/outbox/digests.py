"""Deliveries that wait for a digest: when they are due, and when they are dropped."""

from datetime import datetime

from sqlalchemy import func, select

from bot.domain.deliveries import NOT_HEARD, DeliveryState
from bot.domain.repository import RepositoryName
from bot.store.outbox.channel_queues import DIGEST, ChannelQueues, queues_of, unsettled
from bot.store.tables import deliveries


class Digests(ChannelQueues):
    """The part of the outbox that waits for digests."""

    def _bring_forward(self, queue: str, last: int, due_at: datetime) -> None:
        """Make what is in front of delivery `last` due with it: it would keep that one waiting."""
        columns = deliveries.c
        self._update_waiting(queue, columns.sequence < last, columns.due_at > due_at, due_at=due_at)

    def move_digest(
        self, channel_id: str, repository: RepositoryName, to: datetime, now: datetime
    ) -> None:
        """What of the repository waits for a digest of the channel after `now` comes at `to`.

        Or sooner, in front of what other repositories have waiting for a sooner digest.
        """
        queue = f"{DIGEST}{channel_id}"
        self._lock([queue])
        of_repository = deliveries.c.repository == repository
        if not self._update_waiting(queue, of_repository, deliveries.c.due_at > now, due_at=to):
            return
        times = self._statements.run(
            select(deliveries.c.due_at, func.max(deliveries.c.sequence))
            .where(unsettled(queue))
            .group_by(deliveries.c.due_at)
        )
        for due_at, last in times.all():
            self._bring_forward(queue, last, due_at)

    def drop_unheard(self, channel_id: str, repository: RepositoryName, now: datetime) -> None:
        """What waits to be told to a channel that hears of the repository no more is FAILED.

        That is what its digest was to tell, and all that waits while Slack refuses the channel.
        """
        for queue, row in self._lock(queues_of(channel_id)).items():
            if queue.startswith(DIGEST) or row.suspended_at is not None:
                self._update_waiting(
                    queue,
                    deliveries.c.repository == repository,
                    deliveries.c.attempted_at.is_(None),
                    state=DeliveryState.FAILED,
                    error=NOT_HEARD,
                    settled_at=now,
                )
