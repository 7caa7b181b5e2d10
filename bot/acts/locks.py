"""Locks of repositories: one act at a time on each, in whichever process."""

import asyncio
import logging
import uuid
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

from bot.acts.errors import QueueBusy
from bot.acts.record import ActResult, AuditRecord
from bot.kernel.clock import Clock
from bot.kernel.repository import RepositoryName
from bot.kernel.tasks import repeated
from bot.store.coordination import Leases
from bot.store.errors import StoreUnavailable
from bot.store.job_lease import JOB_LEASE, LEASE_PATIENCE, LEASE_RETRY_SECONDS
from bot.store.lease_values import Lease
from bot.store.transaction import Transaction
from bot.store.transactions import Store

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RepositoryLocks:
    """Makes sure that one person at a time checks and changes a pause through this bot.

    The service has no conditional requests. Without a lock, two people pausing together would both
    find the queue running, and the second reason would silently replace the first. Within this
    process an asyncio lock serves requests in order. Between processes on one database a lease
    does, renewed every `renewed_seconds` so that an act outlasting it keeps its lock. Nobody waits
    longer than `patience` for both.
    """

    store: Store
    clock: Clock
    renewed_seconds: float = 3.0
    patience: timedelta = LEASE_PATIENCE  #: how long to wait for a lock
    holder: str = field(default_factory=lambda: uuid.uuid4().hex)
    locks: dict[RepositoryName, asyncio.Lock] = field(
        default_factory=lambda: defaultdict(asyncio.Lock)
    )
    taken: set[str] = field(default_factory=set)  #: the locks of `alone` that this process has

    @asynccontextmanager
    async def alone(self, name: str) -> AsyncIterator[bool]:
        """Take the lock of that name if it is free, without waiting; yield whether it was."""
        if name in self.taken:
            yield False
            return
        self.taken.add(name)
        try:
            lease = await self.store.run(_claim, _lease_name(name), self.holder, self.clock.now())
            if lease is None:
                yield False
                return
            async with self._renewed(lease):
                yield True
        finally:
            self.taken.discard(name)

    @asynccontextmanager
    async def of(self, repository: RepositoryName) -> AsyncIterator[None]:
        """Keep the lock; raises QueueBusy if it isn't free in time, and StoreUnavailable."""
        lock = self.locks[repository]
        until = self.clock.now() + self.patience
        try:
            async with asyncio.timeout(self.patience.total_seconds()):
                await lock.acquire()
        except TimeoutError:
            raise QueueBusy(repository) from None
        try:
            async with self._renewed(await self._wait(repository, until)):
                yield
        finally:
            lock.release()

    @asynccontextmanager
    async def _renewed(self, lease: Lease) -> AsyncIterator[None]:
        try:
            async with repeated(self.renewed_seconds, partial(self._renew, lease.name)):
                yield
        finally:
            try:
                await self.store.run(lambda transaction: Leases(transaction).release(lease))
            except StoreUnavailable:
                # It expires by itself; the result of the act matters more to the person.
                logger.warning("lock not released", extra={"action": "lock_not_released"})

    async def _wait(self, repository: RepositoryName, until: datetime) -> Lease:
        name = _lease_name(repository)
        while True:
            now = self.clock.now()
            lease = await self.store.run(_claim, name, self.holder, now)
            if lease is not None:
                return lease
            if now >= until:
                raise QueueBusy(repository)
            await self.clock.sleep(LEASE_RETRY_SECONDS)

    async def _renew(self, name: str) -> None:
        try:
            await self.store.run(_claim, name, self.holder, self.clock.now())
        except StoreUnavailable:
            # The act continues; its own writes may fail or not.
            logger.warning("lock not renewed", extra={"action": "lock_not_renewed"})


def _claim(transaction: Transaction, name: str, holder: str, now: datetime) -> Lease | None:
    return Leases(transaction).claim(name, holder=holder, now=now, lifetime=JOB_LEASE)


def _lease_name(name: str) -> str:
    return f"act:{name}"


def is_under_way(
    transaction: Transaction, act: AuditRecord, acts: Sequence[AuditRecord], now: datetime
) -> bool:
    """Whether the act has no end among `acts` and a process still has the lock for it.

    Nobody begins another act on the repository until the transaction ends.
    """
    if act.result is not ActResult.STARTED:
        return False
    has_ended = any(other.act_id == act.record_id for other in acts)
    return not has_ended and is_acted_upon(transaction, act.repository, now)


def is_acted_upon(transaction: Transaction, repository: RepositoryName, now: datetime) -> bool:
    """Whether a process has the lock of the repository, to act on it.

    Nobody begins an act on it until the transaction ends.
    """
    name = _lease_name(repository)
    free = _claim(transaction, name, uuid.uuid4().hex, now)
    if free is not None:
        Leases(transaction).release(free)
    return free is None
