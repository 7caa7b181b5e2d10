"""Leases: for jobs that one process at a time does, and for acts on a repository."""

import asyncio
import logging
import uuid
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

from bot.domain.audit import ActResult, AuditRecord
from bot.domain.errors import LeaseLost, QueueBusy, StoreUnavailable
from bot.domain.leases import Lease
from bot.domain.repository import RepositoryName
from bot.ports import Clock
from bot.store.transactions import Store, Transaction
from bot.usecases.tasks import repeated


@dataclass(slots=True)
class JobLease:
    """A lease on a job. `held`: our lease, once it is known to be committed."""

    name: str
    holder: str
    lifetime: timedelta
    held: Lease | None = None

    def take(self, transaction: Transaction, now: datetime) -> Lease | None:
        """Take or renew it; None while another process has it."""
        leases = transaction.leases.claim(
            [self.name], holder=self.holder, now=now, lifetime=self.lifetime
        )
        return leases.get(self.name)

    def keep(self, transaction: Transaction, now: datetime, *, at_least: timedelta) -> Lease | None:
        """The lease, if it is ours for at least `at_least` without a write."""
        lease = self.held
        if lease is None or lease.expires_at - now < at_least:
            return None
        try:
            transaction.leases.require(lease, now)
        except LeaseLost:
            return None
        return lease

    async def release(self, store: Store, now: datetime) -> None:
        """Release ours, so that the next process can begin immediately. Raises StoreError."""
        self.held = None

        def give_back(transaction: Transaction) -> None:
            lease = self.take(transaction, now)
            if lease is not None:
                transaction.leases.release([lease])

        await store.run(give_back)


logger = logging.getLogger(__name__)

LEASE = timedelta(seconds=10)
"""A process that dies in the middle of an act keeps others waiting no longer than this."""

RETRY_SECONDS = 0.2
PATIENCE = timedelta(seconds=20)
"""Longer than the lease of a dead process. Then the person sees that nothing was done."""


@dataclass(frozen=True, slots=True)
class RepositoryLocks:
    """Makes sure that one person at a time checks and changes a pause through this bot.

    The service has no conditional requests. Without a lock, two people pausing together would both
    find the queue running, and the second reason would silently replace the first. Within this
    process an asyncio lock serves requests in order. Between processes on one database a lease
    does, renewed every `renewed_seconds` so that an act outlasting it keeps its lock.
    """

    store: Store
    clock: Clock
    renewed_seconds: float = 3.0
    holder: str = field(default_factory=lambda: uuid.uuid4().hex)
    locks: dict[RepositoryName, asyncio.Lock] = field(
        default_factory=lambda: defaultdict(asyncio.Lock)
    )
    held: set[str] = field(default_factory=set)

    @asynccontextmanager
    async def alone(self, name: str) -> AsyncIterator[bool]:
        """Take the lock of that name if it is free, without waiting; yield whether it was."""
        if name in self.held:
            yield False
            return
        self.held.add(name)
        try:
            lease = await self.store.run(_claim, _lease_name(name), self.holder, self.clock.now())
            if lease is None:
                yield False
                return
            async with self._renewed(lease):
                yield True
        finally:
            self.held.discard(name)

    @asynccontextmanager
    async def of(self, repository: RepositoryName) -> AsyncIterator[None]:
        """Hold the lock; raises QueueBusy if it isn't free in time, and StoreUnavailable."""
        async with self.locks[repository], self._renewed(await self._wait(repository)):
            yield

    @asynccontextmanager
    async def _renewed(self, lease: Lease) -> AsyncIterator[None]:
        try:
            async with repeated(self.renewed_seconds, partial(self._renew, lease.name)):
                yield
        finally:
            try:
                await self.store.run(lambda transaction: transaction.leases.release([lease]))
            except StoreUnavailable:
                # It expires by itself; the result of the act matters more to the person.
                logger.warning("lock not released", extra={"action": "lock_not_released"})

    async def _wait(self, repository: RepositoryName) -> Lease:
        name = _lease_name(repository)
        until = self.clock.now() + PATIENCE
        while True:
            now = self.clock.now()
            lease = await self.store.run(_claim, name, self.holder, now)
            if lease is not None:
                return lease
            if now >= until:
                raise QueueBusy(repository)
            await self.clock.sleep(RETRY_SECONDS)

    async def _renew(self, name: str) -> None:
        try:
            await self.store.run(_claim, name, self.holder, self.clock.now())
        except StoreUnavailable:
            # The act continues; its own writes may fail or not.
            logger.warning("lock not renewed", extra={"action": "lock_not_renewed"})


def _claim(transaction: Transaction, name: str, holder: str, now: datetime) -> Lease | None:
    claimed = transaction.leases.claim([name], holder=holder, now=now, lifetime=LEASE)
    return claimed.get(name)


def _lease_name(name: str) -> str:
    return f"act:{name}"


def is_under_way(
    transaction: Transaction, act: AuditRecord, acts: Sequence[AuditRecord], now: datetime
) -> bool:
    """Whether the act has no end among `acts` and a process still holds the lock for it.

    Nobody begins another act on the repository until the transaction ends.
    """
    if act.result is not ActResult.STARTED or any(one.act_id == act.record_id for one in acts):
        return False
    name = _lease_name(act.repository)
    free = _claim(transaction, name, uuid.uuid4().hex, now)
    if free is not None:
        transaction.leases.release([free])
    return free is None
