"""The work behind the acknowledgement: supervised tasks, bounded, counted, drained at the end."""

import asyncio
import logging
from collections.abc import Coroutine
from contextvars import Context, copy_context
from typing import Any

logger = logging.getLogger(__name__)

MOST_AT_ONCE = 500

QUIET_SECONDS = 0.001
"""Work begins when nothing was handed over for so long: acknowledgements go first."""

LATEST_SECONDS = 0.03
"""Or after that: what people are answered waits for no end of the acknowledgements."""


class Inbox:
    """Runs what a listener hands over, so that the listener can return at once."""

    def __init__(
        self,
        most_at_once: int = MOST_AT_ONCE,
        *,
        quiet_seconds: float = QUIET_SECONDS,
        latest_seconds: float = LATEST_SECONDS,
    ) -> None:
        self._most_at_once = most_at_once
        self._quiet_seconds = quiet_seconds
        self._latest_seconds = latest_seconds
        self._tasks: set[asyncio.Task[None]] = set()
        self._waiting: list[tuple[Coroutine[Any, Any, None], Context]] = []
        self._first_at = 0.0
        self._last_at = 0.0

    def __len__(self) -> int:
        return len(self._waiting) + len(self._tasks)

    @property
    def is_full(self) -> bool:
        return len(self) >= self._most_at_once

    def hand_over(self, work: Coroutine[Any, Any, None]) -> None:
        """Run `work` soon; it must deal with its own failures, one that escapes is a defect."""
        loop = asyncio.get_running_loop()
        self._last_at = loop.time()
        if not self._waiting:
            self._first_at = self._last_at
            loop.call_at(self._start_at(), self._start_when_quiet)
        self._waiting.append((work, copy_context()))

    async def drain(self, seconds: float) -> int:
        """Wait for what is under way, at most `seconds`; cancel the rest and say how many."""
        self._start()
        if not self._tasks:
            return 0
        _, pending = await asyncio.wait(self._tasks, timeout=seconds)
        for task in pending:
            task.cancel()
        if pending:
            await asyncio.wait(pending)
        return len(pending)

    def _start_when_quiet(self) -> None:
        loop = asyncio.get_running_loop()
        at = self._start_at()
        if self._waiting and at > loop.time():
            loop.call_at(at, self._start_when_quiet)
        else:
            self._start()

    def _start_at(self) -> float:
        return min(self._last_at + self._quiet_seconds, self._first_at + self._latest_seconds)

    def _start(self) -> None:
        started, self._waiting = self._waiting, []
        for work, context in started:
            task = asyncio.create_task(work, context=context)
            self._tasks.add(task)
            task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            logger.error(
                "work behind an acknowledgement failed",
                extra={"action": "inbox_failed"},
                exc_info=task.exception(),
            )
