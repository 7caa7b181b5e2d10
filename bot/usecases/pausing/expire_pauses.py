"""Lift the pauses whose time has come, each once, and no other pause than its own."""

import asyncio
import logging
from collections.abc import Awaitable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from bot.domain.errors import BotError
from bot.domain.pause_records import Timer, TimerState, moved
from bot.domain.repository import RepositoryName
from bot.ports import Clock, Nudge
from bot.store.transactions import Store, Transaction
from bot.usecases.leases import JobLease
from bot.usecases.pausing.group_pauses import touch_group
from bot.usecases.pausing.lift_group import LiftGroup, Party, parties
from bot.usecases.pausing.lift_pause import LiftPause
from bot.usecases.pausing.recorded_pauses import find_pause, touch_pause
from bot.usecases.tasks import Tasks

logger = logging.getLogger(__name__)

AT_ONCE = 10_000
"""More than the largest group has: a group that ends at one moment ends in one act and one post."""

LIFTED_AT_ONCE = 32
"""Of those that are not parts of a group. Most of them wait for nothing but the service."""

LEASE_NAME = "timers"
LEASE = timedelta(seconds=30)
FAR_FUTURE = datetime.max.replace(tzinfo=UTC)

_Key = tuple[RepositoryName, datetime]


@dataclass(frozen=True, slots=True)
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
    under_way: set[_Key] = field(default_factory=set)
    tasks: Tasks = field(
        default_factory=lambda: Tasks("lifting a timed pause has a defect", "expiry_defect")
    )
    gate: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(LIFTED_AT_ONCE))

    async def run(self) -> None:
        """Start what is due; it ends on its own. Raises StoreError."""
        now = self.clock.now()
        together, alone = await self.store.run(self._take_due, now, frozenset(self.under_way))
        for party in together:
            self._start(party.timers, self.lift_group.run(party, self.lease))
        for timer in alone:
            self._start([timer], self._lift(timer))

    async def drain(self) -> None:
        """Wait for what is under way."""
        await self.tasks.drain()

    async def release(self) -> None:
        """Give the lease back, if it is ours."""
        await self.lease.release(self.store, self.clock.now())

    def _take_due(
        self, transaction: Transaction, now: datetime, under_way: Collection[_Key]
    ) -> tuple[Sequence[Party], Sequence[Timer]]:
        """Those that act together, and alone; none while another process lifts."""
        found = transaction.timers.due(now, AT_ONCE)
        due = [timer for timer in found if _key(timer) not in under_way]
        if not due or self.lease.take(transaction, now) is None:
            return [], []
        return parties(transaction, due)

    def _start(self, timers: Iterable[Timer], work: Awaitable[object]) -> None:
        keys = {_key(timer) for timer in timers}
        self.under_way.update(keys)
        first = min(keys)[0]
        self.tasks.start(self._finish(keys, work), f"lift {first}")

    async def _finish(self, keys: set[_Key], work: Awaitable[object]) -> None:
        try:
            await work
        except BotError as error:
            # The timers are due still, so the next run begins them again.
            logger.warning(
                "timed pauses could not be lifted",
                extra={"action": "expiry_failed", "count": len(keys), "detail": str(error)},
            )
        finally:
            self.under_way.difference_update(keys)
        self.nudge()

    async def _lift(self, timer: Timer) -> None:
        async with self.gate:
            await self.lift_pause.run(timer, self.lease)


def timers_lease(holder: str) -> JobLease:
    """Under which one process at a time minds the times of pauses."""
    return JobLease(LEASE_NAME, holder, LEASE)


def move_ends(transaction: Transaction, jump: timedelta, now: datetime) -> None:
    """After a jump of the clock: what was to come stays as far off as before.

    An end that was said as a time of day stays what was said. One that was set after the jump,
    within the second until this runs, is moved as well.
    """
    running = transaction.timers.due(FAR_FUTURE, AT_ONCE)
    # In one order, so that two processes never wait for each other.
    for name, paused_at in sorted({_key(timer) for timer in running}):
        # Pauses before timers, as whoever else changes both.
        pause = find_pause(transaction, name, paused_at)
        timer = transaction.timers.locked(name, paused_at)
        if timer is None or timer.state is not TimerState.RUNNING:
            continue
        transaction.timers.save(moved(timer, jump))
        if pause is not None:
            touch_pause(transaction, pause, now)
            touch_group(transaction, pause, now)


def _key(timer: Timer) -> _Key:
    return timer.repository, timer.paused_at
