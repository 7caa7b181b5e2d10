"""Concurrent work: tasks kept until they end, and concurrency limits."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Iterator
from contextlib import asynccontextmanager
from typing import Any

logger = logging.getLogger(__name__)


class Tasks:
    """Keeps tasks until they end. They handle their own failures; a defect is logged."""

    def __init__(self, defect: str, action: str) -> None:
        """`defect` and `action` are the sentence and the action of that log record."""
        self._defect = defect
        self._action = action
        self._tasks: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return len(self._tasks)

    def __iter__(self) -> Iterator[asyncio.Task[None]]:
        return iter(self._tasks)

    def start(self, work: Coroutine[Any, Any, None], name: str) -> None:
        """Run `work`; `name` identifies it in the log."""
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    async def drain(self) -> None:
        """Wait for all running tasks, and for those they start."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            logger.error(
                self._defect,
                extra={"action": self._action, "task": task.get_name()},
                exc_info=task.exception(),
            )


@asynccontextmanager
async def repeated(seconds: float, work: Callable[[], Awaitable[None]]) -> AsyncIterator[None]:
    """Do `work` every so many seconds while the context lasts, and let it finish."""
    is_over = asyncio.Event()

    async def repeat() -> None:
        while not is_over.is_set():
            try:
                async with asyncio.timeout(seconds):
                    await is_over.wait()
            except TimeoutError:
                await work()

    repeating = asyncio.create_task(repeat())
    try:
        yield
    finally:
        is_over.set()
        await repeating


async def side_by_side(works: Iterable[Awaitable[None]]) -> None:
    """Return when all have ended; raise the first failure.

    `asyncio.gather` raises immediately and leaves the others running, where nobody waits for them
    when the process ends.
    """
    for ended in await asyncio.gather(*works, return_exceptions=True):
        if ended is not None:
            raise ended


CONCURRENT_STORES = 5
"""The share of polls in the 15 database connections.

Outcomes of posts have 3, edits 2. The other 5 are for people and for single jobs such as presence
and leases, because a transaction that waits for a locked row keeps its connection for seconds.
"""


POLL_REQUESTS = 6
"""The share of polls in the client's 8 concurrent requests; one of the others is for people."""


def poll_requests(requests: int) -> int:
    """The share of the concurrent requests that polls may use."""
    return requests - 2


class LimitClosed(Exception):
    """Waiting work has to stop; another process continues it."""


class ConcurrencyLimit:
    """Lets `width` callers through concurrently, in order.

    Waiting here has no timeout. At the client's own limit the request's timeout would run
    meanwhile, and the last of thousands due together would time out before being sent.
    """

    def __init__(self, width: int) -> None:
        self._slots = asyncio.Semaphore(width)
        self._is_closed = False

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Wait for a slot; raises LimitClosed."""
        async with self._slots:
            if self._is_closed:
                raise LimitClosed
            yield

    def close(self) -> None:
        """Turn away those that wait and those that come; those inside finish."""
        self._is_closed = True
