"""What the processes on one database share out among them."""

from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class Lease:
    """An exclusive right until `expires_at`. Only the store makes one.

    `token` grows at every change of hands, so that a holder that slept is found out.
    """

    name: str
    holder: str
    token: int
    expires_at: datetime


POLL_LEASES = "poll:"
"""Leases of this name and a repository's are shared out."""

WORKER_LEASES = "worker:"
"""A process holds the lease of this name and its own while it takes a share."""

JUMPS_KEPT = timedelta(days=30)
"""For how long a jump of a process's clock is remembered."""
