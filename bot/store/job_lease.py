"""The lease under which one process does a job."""

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.store.coordination import Leases
from bot.store.errors import LeaseLost
from bot.store.lease_values import Lease
from bot.store.transaction import Transaction
from bot.store.transactions import Store


@dataclass(slots=True)
class JobLease:
    """The lease on a job that one process at a time does; the others stand by."""

    name: str
    holder: str
    lifetime: timedelta
    current: Lease | None = None
    """Ours, once it is known to be committed."""

    def take(self, transaction: Transaction, now: datetime) -> Lease | None:
        """Take or renew it; None while another process has it."""
        return Leases(transaction).claim(
            self.name, holder=self.holder, now=now, lifetime=self.lifetime
        )

    def claim(
        self, transaction: Transaction, now: datetime, *, at_least: timedelta
    ) -> Lease | None:
        """Ours, renewed if less than `at_least` is left; None while another process has it."""
        lease = self._still_ours(transaction, now, at_least=at_least)
        return lease or self.take(transaction, now)

    def _still_ours(
        self, transaction: Transaction, now: datetime, *, at_least: timedelta
    ) -> Lease | None:
        """The lease, if it is ours for at least `at_least` without a write."""
        lease = self.current
        if lease is None or lease.expires_at - now < at_least:
            return None
        try:
            Leases(transaction).require(lease, now)
        except LeaseLost:
            return None
        return lease

    async def release(self, store: Store, now: datetime) -> None:
        """Release ours, so that the next process can begin immediately. Raises StoreError."""
        self.current = None

        def give_back(transaction: Transaction) -> None:
            lease = self.take(transaction, now)
            if lease is not None:
                Leases(transaction).release(lease)

        await store.run(give_back)


logger = logging.getLogger(__name__)


JOB_LEASE = timedelta(seconds=10)
"""A process that dies in the middle of an act keeps others waiting no longer than this."""


LEASE_RETRY_SECONDS = 0.2


LEASE_PATIENCE = timedelta(seconds=20)
"""Longer than the lease of a dead process. Then the person sees that nothing was done."""
