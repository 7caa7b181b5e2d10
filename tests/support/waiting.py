"""Waiting for a condition, with a deadline; never for time."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

LOOK_SECONDS = 0.02
DEADLINE_SECONDS = 90.0
"""Of a machine that runs six processes of tests on two cores; a bot takes a second or two."""
PATIENT_SECONDS = 20.0
"""For Slack's limits of three seconds, where a test is not about them, on such a machine.

Less than a service that is made to hang takes, so that waiting for one is still found out.
"""

Found = TypeVar("Found")


async def until(
    condition: Callable[[], Found], what: str | Callable[[], str], seconds: float = DEADLINE_SECONDS
) -> Found:
    """The first true value of `condition`; fails, naming `what` is waited for, at the deadline.

    What is missing may be known at the deadline only.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while not (found := condition()):
        if loop.time() > deadline:
            msg = f"{what if isinstance(what, str) else what()}: not within {seconds:g} seconds"
            raise AssertionError(msg)
        # What is waited for is done by code that sets no event for us.
        await asyncio.sleep(LOOK_SECONDS)
    return found


async def until_true(
    condition: Callable[[], Awaitable[bool]], what: str, seconds: float = DEADLINE_SECONDS
) -> None:
    """As `until`, for a condition that has to ask somebody."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while not await condition():
        if loop.time() > deadline:
            msg = f"{what}: not within {seconds:g} seconds"
            raise AssertionError(msg)
        await asyncio.sleep(LOOK_SECONDS)
