"""Steps that end before the cancellation of their task does."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

_T = TypeVar("_T")


async def to_its_end(step: Coroutine[Any, Any, _T]) -> _T:
    """Await `step`; when this task is cancelled meanwhile, let the step end first.

    A statement, commit or rollback cut in two leaves a connection whose state nobody knows, on
    SQLite with the file still locked. Every step has its own limit of time, so the cancellation
    is late by no more than that.
    """
    task = asyncio.create_task(step)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is None:
        return task.result()
    failure = None if task.cancelled() else task.exception()
    raise cancelled from failure
