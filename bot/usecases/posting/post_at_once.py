"""Send what a poll has stored without claiming it first: it is claimed as it is stored."""

import logging
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bot.domain.deliveries import Delivery, NewDelivery
from bot.domain.errors import BotError, LeaseLost
from bot.ports import Transaction
from bot.usecases.posting.post_deliveries import CLAIM, PER_CHANNEL, PostDeliveries
from bot.usecases.posting.render_deliveries import Rendered, load_messages
from bot.usecases.tasks import Tasks

logger = logging.getLogger(__name__)

MOST = 50
"""Channels that are posted to in this way at a time, so that a process that dies leaves no more
in doubt than one that claimed as usual."""


@dataclass(slots=True)
class Sending:
    """What one transaction stores and claims, to be sent when it is committed."""

    now: datetime
    posts: PostDeliveries
    most: int
    claimed: list[Delivery] = field(default_factory=list)
    left: int = 0
    rendered: Rendered | None = None

    async def add(
        self, transaction: Transaction, deliveries: Sequence[NewDelivery], now: datetime
    ) -> int:
        """Add them to the outbox; return how many were not there."""
        added = await transaction.outbox.add_claimed(
            deliveries, self._chosen(deliveries), now=now, claimed_until=now + CLAIM
        )
        self.claimed += added.claimed
        self.left += added.count - len(added.claimed)
        return added.count

    def _chosen(self, deliveries: Sequence[NewDelivery]) -> Collection[str]:
        """Where many are added to a channel, more may come that one summary is to tell of."""
        added = Counter(one.channel_id for one in deliveries)
        free = [
            one.delivery_id
            for one in deliveries
            if added[one.channel_id] <= PER_CHANNEL
            and self.posts.pace.has_room(one.channel_id, self.now)
        ]
        return free if len(added) <= self.most else ()

    async def render(self, transaction: Transaction) -> None:
        """Make the messages, from what the transaction has just stored."""
        if self.claimed:
            self.rendered = await load_messages(transaction, self.claimed, self.now)


@dataclass(frozen=True, slots=True)
class PostAtOnce:
    """Only while this process is the one that posts: it holds the lease of `posts`.

    For all that is claimed here, everything holds that holds for what `posts` claims: that it is
    about to be sent is stored before it is, and nobody else sends it as long as the claim lasts.
    """

    posts: PostDeliveries
    tasks: Tasks = field(default_factory=lambda: Tasks("a post has a defect", "post_defect"))

    async def begin(self, transaction: Transaction) -> Sending | None:
        """None when another process posts, or is to. Before anything else that is locked."""
        lease = self.posts.lease.held
        if lease is None or len(self.tasks) >= MOST or self.posts.ending.is_set():
            return None
        now = self.posts.clock.now()
        try:
            await transaction.leases.require(lease, now)
        except LeaseLost:
            return None
        return Sending(now, self.posts, MOST - len(self.tasks))

    def send(self, sending: Sending) -> None:
        """When it is committed. The channels do not wait for each other."""
        if sending.rendered is None:
            return
        for delivery in sending.claimed:
            work = self._send(delivery, sending, sending.rendered)
            self.tasks.start(work, f"post to {delivery.channel_id}")

    async def drain(self) -> None:
        """Wait for the posts under way."""
        await self.tasks.drain()

    async def _send(self, delivery: Delivery, sending: Sending, rendered: Rendered) -> None:
        try:
            await self.posts.post([delivery], rendered, sending.now)
        except BotError as error:
            # Whether it was posted is found out when its claim has ended.
            logger.warning(
                "the outcome of a post is not stored",
                extra={
                    "action": "outcome_not_stored",
                    "channel": delivery.channel_id,
                    "delivery_id": delivery.delivery_id,
                    "error": type(error).__name__,
                    "detail": str(error),
                },
            )
        if sending.left:
            self.posts.nudge()
