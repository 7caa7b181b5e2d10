"""A measured program's side: it says that it is ready, and plays a round when it is told to."""

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable, Mapping

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


async def only_told_of_cpu(_amount: int) -> Mapping[str, float]:
    """For a server, whose rounds are played by others."""
    return {"cpu": time.process_time()}


def _say(figures: Mapping[str, float | str]) -> None:
    print(json.dumps(dict(figures)), flush=True)
