"""What the workspace sends to the app while nobody waits for it, until the workspace stops."""

import asyncio
from collections.abc import Callable, Coroutine

from bot.sandbox.slack.delivering.delivery import NOT_CONNECTED

FirstFate = asyncio.Future[str | None]
"""What became of the first attempt to send an event (see `Delivery.announce`)."""

_Work = Coroutine[object, object, object]


class Background:
    """The tasks under way."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[object]] = set()

    def start(self, work: _Work) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def announce(self, attempts: Callable[[FirstFate], _Work]) -> FirstFate:
        """Start attempts, which settle the fate of the first one; it is settled in any case."""
        first: FirstFate = asyncio.get_running_loop().create_future()
        self.start(_settled(attempts, first))
        return first

    async def stop(self) -> None:
        """End what is still being sent."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def _settled(attempts: Callable[[FirstFate], _Work], first: FirstFate) -> None:
    try:
        await attempts(first)
    finally:
        # The workspace may stop before the first attempt had an end.
        settle(first, NOT_CONNECTED)


def settle(first: FirstFate, error: str | None) -> None:
    """The first attempt has ended; the results of later ones aren't reported."""
    if not first.done():
        first.set_result(error)
