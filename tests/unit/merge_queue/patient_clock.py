"""A clock that moves only when somebody sleeps."""

from datetime import UTC, datetime, timedelta

from typing_extensions import override

from bot.ports import Clock


class PatientClock(Clock):
    """Sleeping moves the time and returns at once; `slept` keeps the waits in seconds."""

    def __init__(self, now: datetime = datetime(2026, 7, 20, 12, 0, tzinfo=UTC)) -> None:
        self._now = now
        self.slept: list[float] = []

    @override
    def now(self) -> datetime:
        return self._now

    @override
    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self._now += timedelta(seconds=seconds)
