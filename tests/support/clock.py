"""FakeClock: the Clock port as a value that a test moves."""

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
        self.slept: list[float] = []

    @override
    def now(self) -> datetime:
        return self._now

    @override
    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.advance(max(seconds, 0))
        # Others get their turn, as with a real wait.
        await asyncio.sleep(0)

    def advance(self, seconds: float) -> datetime:
        self._now += timedelta(seconds=seconds)
        return self._now


class MovedClock(SystemClock):
    """The time of this machine, and what a test has added to it. Waits are real."""

    def __init__(self) -> None:
        self._added = timedelta()

    @override
    def now(self) -> datetime:
        return super().now() + self._added

    def advance(self, seconds: float) -> None:
        self._added += timedelta(seconds=seconds)
