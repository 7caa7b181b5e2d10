"""Start-up time: `mqbot run` until its first socket, and `mqbot --help`."""

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from tests.bench.figures import Extent, Rounds, Row
from tests.bench.program import running
from tests.bench.services import database
from tests.bench.services.merge_queue import QuietService
from tests.bench.services.slack import SlackService
from tests.bench.surroundings import environment

START_SECONDS = 60.0

COMPILED = {"PYTHONDONTWRITEBYTECODE": ""}
"""As installed: modules are compiled once, by the start that does not count."""

Seconds = Callable[[], Awaitable[float]]


async def rows(extent: Extent) -> Sequence[Row]:
    with tempfile.TemporaryDirectory() as folder:
        # A database that is there already, as with every start but the first.
        path = Path(folder) / "bot.sqlite3"
        await database.make(path)
        first_socket = partial(_to_first_socket, f"sqlite:///{path}")
        run = await _by_turns(first_socket, _import_of_libraries, extent)
    help_ = await _by_turns(_help, _nothing, extent)
    return [
        run.row("start of mqbot run → first socket", "seconds", unit="ms", goal=1.4),
        help_.row("mqbot --help", "seconds", unit="ms", goal=5),
    ]


async def _by_turns(ours: Seconds, floor: Seconds, extent: Extent) -> Rounds:
    if not extent.quick:
        # What lies on the disk is read for the first time. By the other parts, in a quick run.
        await floor()
        await ours()
    of_ours = []
    of_floor = []
    for _ in range(extent.rounds):
        of_floor.append({"seconds": await floor() * 1000})
        of_ours.append({"seconds": await ours() * 1000})
    return Rounds(of_ours, of_floor)


async def _to_first_socket(database_url: str) -> float:
    async with SlackService() as slack, QuietService() as queue:
        environ = {**environment(slack, queue), "DATABASE_URL": database_url}
        begun = time.perf_counter()
        process = await _started(sys.executable, "-m", "bot", "run", environ=environ)
        try:
            async with asyncio.timeout(START_SECONDS):
                at = await slack.first_socket
            return at - begun
        finally:
            process.terminate()
            await process.wait()


async def _import_of_libraries() -> float:
    begun = time.perf_counter()
    async with running("floors.libraries", environ=COMPILED):
        return time.perf_counter() - begun


async def _help() -> float:
    """`mqbot --help` as people type it."""
    return await _ran(str(Path(sys.executable).with_name("mqbot")), "--help")


async def _nothing() -> float:
    return await _ran(sys.executable, "-c", "pass")


async def _ran(*command: str) -> float:
    begun = time.perf_counter()
    process = await _started(*command)
    assert await process.wait() == 0, command
    return time.perf_counter() - begun


async def _started(
    *command: str, environ: Mapping[str, str] | None = None
) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *command,
        env={**os.environ, **COMPILED, **(environ or {})},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
