"""Lift the pauses whose time has come, each once, and no other pause than its own."""

import asyncio
import logging
from collections.abc import Awaitable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.domain.errors import BotError
from bot.domain.pause_records import PauseRecord, moved
from bot.ports import Clock, Nudge
from bot.store.transactions import Store, Transaction
from bot.usecases.leases import JobLease
from bot.usecases.pausing.group_pauses import touch_group
from bot.usecases.pausing.lift_group import LiftGroup, Party, parties
from bot.usecases.pausing.lift_pause import LiftPause
from bot.usecases.pausing.recorded_pauses import touch_pause
from bot.usecases.tasks import Tasks

logger = logging.getLogger(__name__)

AT_ONCE = 10_000
"""More than the largest group has: a group that ends at one moment ends in one act and one post."""

LIFTED_AT_ONCE = 32
"""Of those that are not parts of a group. Most of them wait for nothing but the service."""

LEASE_NAME = "timers"
LEASE = timedelta(seconds=30)


@dataclass(slots=True)
class ExpirePauses:
    """One process at a time lifts; nothing due costs one look at an index.

    What takes long holds up nothing else: each is a task of its own, and is not begun again while
    it goes on.
    """

    lift_pause: LiftPause
    lift_group: LiftGroup
    store: Store
    clock: Clock
    nudge: Nudge
    lease: JobLease
    under_way: set[int] = field(default_factory=set)
    tasks: Tasks = field(
        default_factory=lambda: Tasks("lifting a timed pause has a defect", "expiry_defect")
    )
    gate: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(LIFTED_AT_ONCE))

    async def run(self) -> None:
        """Start what is due; it ends on its own. Raises StoreError."""
        now = self.clock.now()
        together, alone = await self.store.run(self._take_due, now, frozenset(self.under_way))
        for party in together:
            self._start(party.pauses, self.lift_group.run(party, self.lease))
        for pause in alone:
            self._start([pause], self._lift(pause))

    async def drain(self) -> None:
        """Wait for what is under way."""
        await self.tasks.drain()

    async def release(self) -> None:
        """Give the lease back, if it is ours."""
        await self.lease.release(self.store, self.clock.now())

    def _take_due(
        self, transaction: Transaction, now: datetime, under_way: Collection[int]
    ) -> tuple[Sequence[Party], Sequence[PauseRecord]]:
        """Those that end together, and alone; none while another process lifts."""
        found = transaction.pauses.due(now, AT_ONCE)
        due = [one for one in found if one.pause_id not in under_way]
        if not due or self.lease.take(transaction, now) is None:
            return [], []
        return parties(transaction, due)

    def _start(self, pauses: Sequence[PauseRecord], work: Awaitable[object]) -> None:
        ids = {one.pause_id for one in pauses}
        self.under_way.update(ids)
        self.tasks.start(self._finish(ids, work), f"lift {pauses[0].repository}")

    async def _finish(self, ids: set[int], work: Awaitable[object]) -> None:
        try:
            await work
        except BotError as error:
            # The pauses are due still, so the next run begins them again.
            logger.warning(
                "timed pauses could not be lifted",
                extra={"action": "expiry_failed", "count": len(ids), "detail": str(error)},
            )
        finally:
            self.under_way.difference_update(ids)
        self.nudge()

    async def _lift(self, pause: PauseRecord) -> None:
        async with self.gate:
            await self.lift_pause.run(pause, self.lease)


def timers_lease(holder: str) -> JobLease:
    """Under which one process at a time minds the times of pauses."""
    return JobLease(LEASE_NAME, holder, LEASE)


def move_times(
    transaction: Transaction, jump: timedelta, first_gap: timedelta, now: datetime
) -> None:
    """After a jump of the clock: what was to come stays as far off as before.

    An end that was said as a time of day stays what was said. One that was set after the jump,
    within the second until this runs, is moved as well. `first_gap`: before a first reminder.
    """
    # In the order of their repositories, so that two processes never wait for each other.
    pauses = [transaction.pauses.locked(one) for one in transaction.pauses.unended()]
    for pause in pauses:
        if pause is not None:
            transaction.pauses.save(moved(pause, jump, first_gap))
            touch_pause(transaction, pause, now)
            touch_group(transaction, pause, now)
