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
    return await _whole(asyncio.create_task(step))


async def to_its_end_here(step: Coroutine[Any, Any, _T]) -> _T:
    """As `to_its_end`, in this task: a step that need not wait is over without a turn of the loop.

    Only for steps that limit their time by other means than cancelling the task they run in.
    """
    cancelled: asyncio.CancelledError | None = None
    try:
        while True:
            awaited = step.send(None)
            # As a task would: whoever resumes the step looks at whether this was asked of it.
            awaited._asyncio_future_blocking = False  # noqa: SLF001  # the protocol of awaited futures
            while not awaited.done():
                try:
                    await asyncio.wait({awaited})
                except asyncio.CancelledError as error:
                    cancelled = error
    except StopIteration as ended:
        if cancelled is None:
            found: _T = ended.value
            return found
        raise cancelled from None
    except Exception as failure:
        if cancelled is None:
            raise
        raise cancelled from failure


async def _whole(task: "asyncio.Task[_T]") -> _T:
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
