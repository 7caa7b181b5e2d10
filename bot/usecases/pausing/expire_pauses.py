"""Lift the pauses whose time has come, each once, and no other pause than its own."""

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta

from bot.domain.timers import Timer
from bot.ports import Clock, Nudge, Store
from bot.usecases.job_lease import JobLease
from bot.usecases.pausing.lift_group import LiftGroup, parties
from bot.usecases.pausing.lift_pause import LiftPause
from bot.usecases.side_by_side import side_by_side

AT_ONCE = 10_000
"""More than the largest group has: a group that ends at one moment ends in one act and one post."""

LIFTED_AT_ONCE = 8
LEASE_NAME = "timers"
LEASE = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class ExpirePauses:
    """One process at a time lifts; nothing due costs one look at an index."""

    lift_pause: LiftPause
    lift_group: LiftGroup
    store: Store
    clock: Clock
    nudge: Nudge
    holder: str
    lease: JobLease = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "lease", JobLease(LEASE_NAME, self.holder, LEASE))

    async def run(self) -> None:
        """Raises StoreError."""
        now = self.clock.now()
        async with self.store.begin() as transaction:
            due = await transaction.timers.due(now, AT_ONCE)
            if not due:
                return
            if await self.lease.take(transaction, now) is None:
                return
            together, alone = await parties(transaction, due)
        for party in together:
            await self.lift_group.run(party, self.lease)
            self.nudge()
        gate = asyncio.Semaphore(LIFTED_AT_ONCE)
        await side_by_side(self._lift(timer, gate) for timer in alone)

    async def release(self) -> None:
        """Give the lease back, if it is ours."""
        await self.lease.release(self.store, self.clock.now())

    async def _lift(self, timer: Timer, gate: asyncio.Semaphore) -> None:
        async with gate:
            await self.lift_pause.run(timer, self.lease)
        self.nudge()
