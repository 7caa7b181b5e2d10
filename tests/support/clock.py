"""FakeClock: a Clock that tests move."""

import asyncio
from datetime import UTC, datetime, timedelta

from typing_extensions import override

from bot.kernel.clock import Clock
from bot.runtime.clock import SystemClock

NOON = datetime(2026, 7, 20, 12, 0, tzinfo=UTC)


class FakeClock(Clock):
    """Sleeping moves the time and returns at once; `slept` keeps the waits in seconds."""

    def __init__(self, now: datetime = NOON) -> None:
        self._now = now
        self._passed = 0.0
        self.slept: list[float] = []

    @override
    def now(self) -> datetime:
        return self._now

    @override
    def monotonic(self) -> float:
        return self._passed

    @override
    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.advance(max(seconds, 0))
        # Others get their turn, as with a real wait.
        await asyncio.sleep(0)

    def advance(self, seconds: float) -> datetime:
        self._passed += seconds
        self._now += timedelta(seconds=seconds)
        return self._now

    def jump(self, seconds: float) -> None:
        """Somebody sets the wall clock; no time passes."""
        self._now += timedelta(seconds=seconds)


class HeldClock(FakeClock):
    """For real sockets: sleepers wake when the test moves the time."""

    def __init__(self, now: datetime = NOON) -> None:
        super().__init__(now)
        self._sleepers: list[tuple[datetime, asyncio.Future[None]]] = []

    @override
    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        awake: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._sleepers.append((self._now + timedelta(seconds=seconds), awake))
        await awake

    @property
    def sleepers(self) -> int:
        return len([task for _, task in self._sleepers if not task.done()])

    @override
    def advance(self, seconds: float) -> datetime:
        now = super().advance(seconds)
        for at, awake in self._sleepers:
            if at <= now and not awake.done():
                awake.set_result(None)
        self._sleepers = [(at, task) for at, task in self._sleepers if not task.done()]
        return now


class StandingClock(FakeClock):
    """No deadline comes, however long the waits are, which are real."""

    @override
    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await asyncio.sleep(seconds)


class ImpatientClock(SystemClock):
    """Wakes its sleepers after a twentieth of a second."""

    @override
    async def sleep(self, seconds: float) -> None:
        await super().sleep(min(seconds, 0.05))


class MovedClock(SystemClock):
    """The time of this machine, and what a test has added to it. Waits are real."""

    def __init__(self) -> None:
        self._passed = 0.0
        self._jumped = 0.0

    @override
    def now(self) -> datetime:
        return super().now() + timedelta(seconds=self._passed + self._jumped)

    @override
    def monotonic(self) -> float:
        return super().monotonic() + self._passed

    def advance(self, seconds: float) -> None:
        self._passed += seconds

    def jump(self, seconds: float) -> None:
        """Somebody sets the wall clock; no time passes."""
        self._jumped += seconds
