"""The system's clock: the only module that reads the time."""

import asyncio
from datetime import UTC, datetime

from typing_extensions import override

from bot.ports import Clock


class SystemClock(Clock):
    """The wall clock of this machine."""

    @override
    def now(self) -> datetime:
        return datetime.now(UTC)

    @override
    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
