"""How many of one kind of request are under way at once, and no more of them at the end."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

STORED_AT_ONCE = 5
"""Of the 15 connections to the database, those in which is stored what polls and looks have read.

Outcomes of posts have 3 and edits 2. What is left, 5, is for people and for the jobs that run one
at a time, presence and leases among them: whoever waits for a row that is locked keeps a
connection, and may do so for seconds.
"""


def looks_at_once(requests: int) -> int:
    """Of so many in flight, those that may look at pauses, and as many at queues known paused.

    A sixth of those for pages, as these looks are a sixth of the polls.
    """
    return max(1, requests // 8)


def pages_at_once(requests: int) -> int:
    """Of so many in flight, those that may read event logs: with both kinds of looks, all."""
    return requests - 2 * looks_at_once(requests)


class GateClosed(Exception):
    """Whoever waited is to leave its work as it stands: another process goes on with it."""


class Gate:
    """Lets `width` pass at once, in the order in which they came.

    Who waits here waits without a limit of time. At the client's own gate the limit of the request
    runs meanwhile, and of thousands that are due at once the last would be given up unasked.
    """

    def __init__(self, width: int) -> None:
        self._places = asyncio.Semaphore(width)
        self._is_closed = False

    @asynccontextmanager
    async def entered(self) -> AsyncIterator[None]:
        """Raises GateClosed."""
        async with self._places:
            if self._is_closed:
                raise GateClosed
            yield

    def close(self) -> None:
        """Who is inside finishes; who waits, and who comes, is sent away."""
        self._is_closed = True
