"""The measured program's side: it reports that it is ready, and plays rounds on request."""

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

Play = Callable[[int], Awaitable[Mapping[str, float]]]


async def attend(play: Play, **reported: float | str) -> None:
    """Print `told`, then answer each line of standard input (an amount of work) with figures."""
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
    )
    _say(reported)
    while line := await reader.readline():
        _say(await play(int(line)))


async def only_observed(_amount: int) -> Mapping[str, float]:
    """For a program driven by others: its CPU so far and its peak memory."""
    return {"cpu": time.process_time(), "megabytes": _peak_megabytes()}


def _peak_megabytes() -> float:
    """From /proc; `getrusage` would include the peak of the parent process."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def _say(figures: Mapping[str, float | str]) -> None:
    print(json.dumps(dict(figures)), flush=True)
