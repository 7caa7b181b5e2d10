"""One act at a time on a repository, whichever process carries it out."""

import asyncio
import logging
import uuid
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.domain.audit import ActResult, AuditRecord
from bot.domain.errors import QueueBusy, StoreUnavailable
from bot.domain.leases import Lease
from bot.domain.repository import RepositoryName
from bot.ports import Clock
from bot.store.transactions import Store, Transaction

logger = logging.getLogger(__name__)

LEASE = timedelta(seconds=10)
"""A process that dies in the middle of an act keeps others waiting no longer than this."""

LOOK_AGAIN_SECONDS = 0.2
PATIENCE = timedelta(seconds=20)
"""Longer than a dead holder's lease. Whoever waited in vain is told so, and nothing was done."""


@dataclass(frozen=True, slots=True)
class Turns:
    """Between looking at a pause and changing it nobody else acts on it through this bot.

    The service has no conditional request, so without turns two people who pause at once would
    both find the queue running, and the second reason would replace the first without a word.
    In this process a lock gives turns in the order they were asked for; among processes on one
    database a lease does, renewed every `renewed_seconds`: an act that takes longer than a lease
    lasts, because the service does, keeps its turn.
    """

    store: Store
    clock: Clock
    renewed_seconds: float = 3.0
    holder: str = field(default_factory=lambda: uuid.uuid4().hex)
    locks: dict[RepositoryName, asyncio.Lock] = field(
        default_factory=lambda: defaultdict(asyncio.Lock)
    )
    going: set[str] = field(default_factory=set)

    @asynccontextmanager
    async def alone(self, name: str) -> AsyncIterator[bool]:
        """Whether the turn of that name was free; if so it is held. Nobody waits for it."""
        if name in self.going:
            yield False
            return
        self.going.add(name)
        try:
            lease = await self._claim(_lease_name(name), self.clock.now())
            if lease is None:
                yield False
                return
            async with self._renewed(lease):
                yield True
        finally:
            self.going.discard(name)

    @asynccontextmanager
    async def of(self, repository: RepositoryName) -> AsyncIterator[None]:
        """Raises QueueBusy when the turn does not come, and StoreUnavailable."""
        async with self.locks[repository], self._renewed(await self._wait(repository)):
            yield

    @asynccontextmanager
    async def _renewed(self, lease: Lease) -> AsyncIterator[None]:
        is_over = asyncio.Event()
        renewing = asyncio.create_task(self._renew(lease.name, is_over))
        try:
            yield
        finally:
            is_over.set()
            await renewing
            await self._give_back(lease)

    async def _wait(self, repository: RepositoryName) -> Lease:
        name = _lease_name(repository)
        until = self.clock.now() + PATIENCE
        while True:
            now = self.clock.now()
            lease = await self._claim(name, now)
            if lease is not None:
                return lease
            if now >= until:
                raise QueueBusy(repository)
            await self.clock.sleep(LOOK_AGAIN_SECONDS)

    async def _claim(self, name: str, now: datetime) -> Lease | None:
        leases = await self.store.run(
            lambda transaction: transaction.leases.claim(
                [name], holder=self.holder, now=now, lifetime=LEASE
            )
        )
        return leases.get(name)

    async def _renew(self, name: str, is_over: asyncio.Event) -> None:
        while not is_over.is_set():
            try:
                async with asyncio.timeout(self.renewed_seconds):
                    await is_over.wait()
            except TimeoutError:
                try:
                    await self._claim(name, self.clock.now())
                except StoreUnavailable:
                    # The act goes on; its own words to the database will fail, or not.
                    logger.warning("turn not renewed", extra={"action": "turn_not_renewed"})

    async def _give_back(self, lease: Lease) -> None:
        try:
            await self.store.run(lambda transaction: transaction.leases.release([lease]))
        except StoreUnavailable:
            # It ends by itself; what the act came to matters more to whoever acted.
            logger.warning("turn not given back", extra={"action": "turn_not_given_back"})


def _lease_name(name: str) -> str:
    return f"act:{name}"


def is_under_way(
    transaction: Transaction, act: AuditRecord, acts: Sequence[AuditRecord], now: datetime
) -> bool:
    """Whether the act has no end among `acts`, and a process still holds the turn for it.

    Nobody begins another act on the repository until the transaction ends.
    """
    if act.result is not ActResult.STARTED or any(one.act_id == act.record_id for one in acts):
        return False
    name = _lease_name(act.repository)
    free = transaction.leases.claim([name], holder=uuid.uuid4().hex, now=now, lifetime=LEASE)
    transaction.leases.release(list(free.values()))
    return not free
