"""The work behind the acknowledgement: supervised tasks, bounded, counted, drained at the end."""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

logger = logging.getLogger(__name__)

MOST_AT_ONCE = 500


class Inbox:
    """Runs what a listener hands over, so that the listener can return at once."""

    def __init__(self, most_at_once: int = MOST_AT_ONCE) -> None:
        self._most_at_once = most_at_once
        self._tasks: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return len(self._tasks)

    @property
    def is_full(self) -> bool:
        return len(self._tasks) >= self._most_at_once

    def hand_over(self, work: Coroutine[Any, Any, None]) -> None:
        """Start `work`; it must deal with its own failures, one that escapes is a defect."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    async def drain(self, seconds: float) -> int:
        """Wait for what is under way, at most `seconds`; cancel the rest and say how many."""
        if not self._tasks:
            return 0
        _, pending = await asyncio.wait(self._tasks, timeout=seconds)
        for task in pending:
            task.cancel()
        if pending:
            await asyncio.wait(pending)
        return len(pending)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            logger.error(
                "work behind an acknowledgement failed",
                extra={"action": "inbox_failed"},
                exc_info=task.exception(),
            )
