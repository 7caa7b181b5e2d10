"""A measured program's side: it says that it is ready, and plays a round when it is told to."""

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

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
    return {"cpu": time.process_time(), "megabytes": _peak_megabytes()}


def _peak_megabytes() -> float:
    """Of Linux; `getrusage` would count what the process that started this one had."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def _say(figures: Mapping[str, float | str]) -> None:
    print(json.dumps(dict(figures)), flush=True)
