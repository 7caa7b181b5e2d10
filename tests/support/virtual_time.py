"""An event loop whose time passes only while nothing can run."""

import asyncio
import selectors
from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from typing_extensions import override

from bot.kernel.clock import Clock

BEGIN = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
Result = TypeVar("Result")


class _Skipping(selectors.SelectSelector):
    """Does not wait; adds up what it would have waited."""

    waited = 0.0

    @override
    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if timeout is None and not ready:
            raise RuntimeError("nothing will ever happen")
        if not ready and timeout is not None and timeout > 0:
            self.waited += timeout
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """Without real input or output."""

    def __init__(self) -> None:
        self._skipping = _Skipping()
        super().__init__(self._skipping)

    @override
    def time(self) -> float:
        return self._skipping.waited


class VirtualClock(Clock):
    """The loop's time as a date."""

    @override
    def now(self) -> datetime:
        return BEGIN + timedelta(seconds=asyncio.get_running_loop().time())

    @override
    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()

    @override
    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def run_virtually(work: Coroutine[Any, Any, Result]) -> Result:
    loop = VirtualLoop()
    try:
        return loop.run_until_complete(work)
    finally:
        loop.close()
