"""Posts that stand in Slack although the database may have lost them.

A database goes back in time when a copy is restored or a lagging replica takes over.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime

from bot.domain.deliveries import Delivery
from bot.ports import Lease

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
        self._sent[delivery.posted_id] = sent_at
        if len(self._sent) > REMEMBERED:
            del self._sent[next(iter(self._sent))]

    def forget(self, delivery: Delivery) -> None:
        """Slack has not accepted its post."""
        self._sent.pop(delivery.posted_id, None)

    def as_sent(self, delivery: Delivery) -> Delivery:
        """In doubt if this process has sent it, whatever the database says."""
        if delivery.attempted_at is not None:
            return delivery
        return replace(delivery, attempted_at=self._sent.get(delivery.posted_id))
