"""Work that runs side by side and that nobody awaits."""

import asyncio
import logging
from collections.abc import Coroutine, Iterator
from typing import Any

logger = logging.getLogger(__name__)


class Tasks:
    """Keeps what was started until it ends. It deals with its own failures; a defect is logged."""

    def __init__(self, defect: str, action: str) -> None:
        """`defect` and `action` are the sentence and the action of that record."""
        self._defect = defect
        self._action = action
        self._tasks: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return len(self._tasks)

    def __iter__(self) -> Iterator[asyncio.Task[None]]:
        return iter(self._tasks)

    def start(self, work: Coroutine[Any, Any, None], name: str) -> None:
        """Run `work`; `name` tells in the log which it was."""
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    async def drain(self) -> None:
        """Wait for all that is under way, and for what that starts."""
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
