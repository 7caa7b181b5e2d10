"""Leases: which process on a database does what."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Lease:
    """An exclusive right until `expires_at`. Only the store makes one.

    `token` increases with every new holder, which exposes a former holder that slept.
    """

    name: str
    holder: str
    token: int
    expires_at: datetime


POLL_LEASE = "poll"
"""The lease of the process that polls, and notifies of freezes: it knows the service's time."""

POST_LEASE = "post"
"""The lease of the process that posts."""

EDIT_LEASE = "edit live messages"
"""The lease of the process that edits."""

DUE_LEASE = "due"
"""The lease of the process that ends pauses, reminds of them and holds windows."""
