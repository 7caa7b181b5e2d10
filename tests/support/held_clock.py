"""HeldClock: a Clock for real sockets; sleepers wake when the test moves the time."""

import asyncio
from datetime import datetime, timedelta

from typing_extensions import override

from bot.ports import Clock
from tests.support.clock import NOON


class HeldClock(Clock):
    """`slept` keeps every wait in seconds."""

    def __init__(self, now: datetime = NOON) -> None:
        self._now = now
        self._sleepers: list[tuple[datetime, asyncio.Future[None]]] = []
        self.slept: list[float] = []

    @override
    def now(self) -> datetime:
        return self._now

    @override
    def monotonic(self) -> float:
        return (self._now - NOON).total_seconds()

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
        return len([one for _, one in self._sleepers if not one.done()])

    def advance(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)
        for at, awake in self._sleepers:
            if at <= self._now and not awake.done():
                awake.set_result(None)
        self._sleepers = [(at, one) for at, one in self._sleepers if not one.done()]
