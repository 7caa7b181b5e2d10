"""Lift the pauses whose time has come, each once, and no other pause than its own."""

import asyncio
import logging
from collections.abc import Awaitable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from bot.domain.clock_jumps import ClockJumps
from bot.domain.errors import BotError
from bot.domain.pause_records import Timer
from bot.domain.repository import RepositoryName
from bot.ports import Clock, Nudge
from bot.store.transactions import Store, Transaction
from bot.usecases.leases import JobLease
from bot.usecases.pausing.lift_group import LiftGroup, Party, parties
from bot.usecases.pausing.lift_pause import LiftPause
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
_Moment = tuple[RepositoryName, datetime, datetime]


@dataclass(frozen=True, slots=True)
class ExpirePauses:
    """One process at a time lifts; nothing due costs one look at an index.

    What takes long holds up nothing else: each is a task of its own, and is not begun again while
    it goes on. `moved`: how far the clock jumped since the time of a running timer was set, by
    pause and time. A pause for half an hour lasts half an hour whatever the wall clock says.
    """

    lift_pause: LiftPause
    lift_group: LiftGroup
    store: Store
    clock: Clock
    nudge: Nudge
    holder: str
    lease: JobLease = field(init=False)
    jumps: ClockJumps = field(default_factory=ClockJumps)
    moved: dict[_Moment, timedelta] = field(default_factory=dict)
    under_way: set[_Key] = field(default_factory=set)
    tasks: Tasks = field(
        default_factory=lambda: Tasks("lifting a timed pause has a defect", "expiry_defect")
    )
    gate: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(LIFTED_AT_ONCE))

    def __post_init__(self) -> None:
        object.__setattr__(self, "lease", JobLease(LEASE_NAME, self.holder, LEASE))

    async def run(self) -> None:
        """Start what is due; it ends on its own. Raises StoreError."""
        now = self.clock.now()
        jump = self.jumps.since_last(now, self.clock.monotonic())
        if jump:
            await self._move(jump)
        together, alone = await self.store.run(self._take_due, now, frozenset(self.under_way))
        for party in together:
            moved = self._moved(party.timers[0], party.timers[0].lifts_at)
            self._start(party.timers, self.lift_group.run(party, self.lease, moved))
        for timer in alone:
            self._start([timer], self._lift(timer))

    async def drain(self) -> None:
        """Wait for what is under way."""
        await self.tasks.drain()

    async def release(self) -> None:
        """Give the lease back, if it is ours."""
        await self.lease.release(self.store, self.clock.now())

    async def _move(self, jump: timedelta) -> None:
        """Of all that run, those that were set for a length end as much later by the new time."""
        running = await self.store.run(
            lambda transaction: transaction.timers.due(FAR_FUTURE, AT_ONCE)
        )
        moved = {
            (timer.repository, timer.paused_at, at): self._moved(timer, at) + jump
            for timer in running
            for at in (timer.lifts_at, timer.due_at)
            if not timer.is_time_of_day or at != timer.lifts_at
        }
        self.moved.clear()
        self.moved.update(moved)

    def _moved(self, timer: Timer, at: datetime) -> timedelta:
        return self.moved.get((timer.repository, timer.paused_at, at), timedelta())

    def _take_due(
        self, transaction: Transaction, now: datetime, under_way: Collection[_Key]
    ) -> tuple[Sequence[Party], Sequence[Timer]]:
        """Those that act together, and alone; none while another process lifts."""
        earliest = min(self.moved.values(), default=timedelta())
        found = transaction.timers.due(now - min(earliest, timedelta()), AT_ONCE)
        due = [
            timer
            for timer in found
            if timer.due_at + self._moved(timer, timer.due_at) <= now
            and _key(timer) not in under_way
        ]
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
            moved = self._moved(timer, timer.lifts_at)
            await self.lift_pause.run(timer, self.lease, moved=moved)


def _key(timer: Timer) -> _Key:
    return timer.repository, timer.paused_at
