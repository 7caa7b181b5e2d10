"""A measured program's side: it says that it is ready, and plays a round when it is told to."""

import asyncio
import json
import resource
import sys
import time
from collections.abc import Awaitable, Callable, Mapping

PEAKS_PER_MEGABYTE = 1024 * 1024 if sys.platform == "darwin" else 1024
"""What `ru_maxrss` counts in, as parts of a megabyte."""

Play = Callable[[int], Awaitable[Mapping[str, float]]]


async def attend(play: Play, **told: float | str) -> None:
    """Say `told`, then answer each line of standard input, how much to do, with figures."""
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
    )
    _say(told)
    while line := await reader.readline():
        _say(await play(int(line)))


async def only_observed(_amount: int) -> Mapping[str, float]:
    """For a program whose rounds are played by others: its CPU so far, and its memory at most."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"cpu": time.process_time(), "megabytes": peak / PEAKS_PER_MEGABYTE}


def _say(figures: Mapping[str, float | str]) -> None:
    print(json.dumps(dict(figures)), flush=True)
