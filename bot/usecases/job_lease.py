"""The lease of a job that one process at a time does."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.errors import LeaseLost
from bot.domain.leases import Lease
from bot.store.transactions import Store, Transaction


@dataclass(slots=True)
class JobLease:
    """`held`: the lease under which this process does the job, once it is known to be committed."""

    name: str
    holder: str
    lifetime: timedelta
    held: Lease | None = None

    def take(self, transaction: Transaction, now: datetime) -> Lease | None:
        """Taken or renewed; None while it is another process's."""
        leases = transaction.leases.claim(
            [self.name], holder=self.holder, now=now, lifetime=self.lifetime
        )
        return leases.get(self.name)

    def keep(self, transaction: Transaction, now: datetime, *, at_least: timedelta) -> Lease | None:
        """The lease, where nothing has to be written to have it for `at_least` from now on."""
        lease = self.held
        if lease is None or lease.expires_at - now < at_least:
            return None
        try:
            transaction.leases.require(lease, now)
        except LeaseLost:
            return None
        return lease

    async def release(self, store: Store, now: datetime) -> None:
        """Give it back, if it is ours: the next process may begin at once. Raises StoreError."""
        self.held = None
        await store.run(self._give_back, now)

    def _give_back(self, transaction: Transaction, now: datetime) -> None:
        lease = self.take(transaction, now)
        if lease is not None:
            transaction.leases.release([lease])
