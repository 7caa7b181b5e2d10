"""Work that is done side by side, to the end of all of it."""

import asyncio
from collections.abc import Awaitable, Iterable


async def side_by_side(works: Iterable[Awaitable[None]]) -> None:
    """Return when all have ended; raise what the first of them that failed did.

    `asyncio.gather` raises at once and leaves the others running, where nobody waits for them when
    the process is to end.
    """
    for ended in await asyncio.gather(*works, return_exceptions=True):
        if ended is not None:
            raise ended
