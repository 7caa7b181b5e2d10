"""Posts that stand in Slack although the database may have lost them.

A database goes back in time when a copy is restored or a lagging replica takes over.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime

from bot.domain.deliveries import Delivery
from bot.domain.errors import PostRefused
from bot.domain.leases import Lease
from bot.domain.message import Message
from bot.ports import ChannelPoster

REMEMBERED = 20_000
"""How many of its own posts a process remembers: more than it sends within an hour."""


@dataclass(slots=True)
class PostedBefore:
    """What this process has sent itself, and when it took over from the process before it.

    The lease `post` allows one process to post at a time, so all that others have posted is older
    than `taken_over_at`.
    """

    taken_over_at: datetime | None = None
    _token: int | None = None
    _sent: dict[str, datetime] = field(default_factory=dict)

    def notice(self, lease: Lease, now: datetime) -> None:
        """A new token means that other processes may have posted, or that this one just started."""
        if lease.token != self._token:
            self._token = lease.token
            self.taken_over_at = now

    def remember(self, delivery: Delivery, sent_at: datetime) -> None:
        """Slack may have accepted its post."""
        self._sent[delivery.delivery_id] = sent_at
        if len(self._sent) > REMEMBERED:
            del self._sent[next(iter(self._sent))]

    def forget(self, delivery: Delivery) -> None:
        """Slack has not accepted its post."""
        self._sent.pop(delivery.delivery_id, None)

    def as_sent(self, delivery: Delivery) -> Delivery:
        """In doubt if this process has sent it, whatever the database says."""
        if delivery.attempted_at is not None:
            return delivery
        return replace(delivery, attempted_at=self._sent.get(delivery.delivery_id))

    async def find(
        self, poster: ChannelPoster, delivery: Delivery, message: Message, root: str | None
    ) -> str | None:
        """The `ts` of a post that another process made before this one took over, if it is there.

        Raises PostError when it can be known later.
        """
        happened_at = message.happened_at or message.since or delivery.created_at
        since, until = min(delivery.created_at, happened_at), self.taken_over_at
        if until is None or since >= until:
            return None
        try:
            return await poster.find(delivery.channel_id, delivery.delivery_id, since, root, until)
        except PostRefused:
            # Databases go back rarely: who cannot be asked for the history still gets the post.
            return None
