"""FakeClock: a Clock that tests move."""

import asyncio
from datetime import UTC, datetime, timedelta

from typing_extensions import override

from bot.clock import SystemClock
from bot.ports import Clock

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
