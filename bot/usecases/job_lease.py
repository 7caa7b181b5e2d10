"""The lease of a job that one process at a time does."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.errors import LeaseLost
from bot.ports import Lease, Store, Transaction


@dataclass(slots=True)
class JobLease:
    """`held`: the lease under which this process does the job, as far as it knows."""

    name: str
    holder: str
    lifetime: timedelta
    held: Lease | None = None

    async def take(self, transaction: Transaction, now: datetime) -> Lease | None:
        """Taken or renewed; None while it is another process's."""
        self.held = None
        leases = await transaction.leases.claim(
            [self.name], holder=self.holder, now=now, lifetime=self.lifetime
        )
        self.held = leases.get(self.name)
        return self.held

    async def keep(
        self, transaction: Transaction, now: datetime, *, at_least: timedelta
    ) -> Lease | None:
        """The lease, where nothing has to be written to have it for `at_least` from now on."""
        lease = self.held
        if lease is None or lease.expires_at - now < at_least:
            return None
        try:
            await transaction.leases.require(lease, now)
        except LeaseLost:
            return None
        return lease

    async def release(self, store: Store, now: datetime) -> None:
        """Give it back, if it is ours: the next process may begin at once. Raises StoreError."""
        self.held = None
        async with store.begin() as transaction:
            lease = await self.take(transaction, now)
            self.held = None
            if lease is not None:
                await transaction.leases.release([lease])
