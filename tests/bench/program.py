"""A measured program in its own process, and alternating rounds of two of them."""

import asyncio
import json
import os
import sys
import tempfile
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench.figures import Extent, Figures, Rounds
from tests.bench.services import database

END_SECONDS = 20.0


class ProgramFailed(Exception):
    """A measured program ended instead of answering; the text is its error output."""


@dataclass
class Program:
    """A running program; `reported` is what it printed when it was ready."""

    name: str
    process: Process
    complaints: Path
    reported: Mapping[str, Any]

    async def play(self, amount: int = 1) -> dict[str, float]:
        assert self.process.stdin is not None
        self.process.stdin.write(b"%d\n" % amount)
        return await _line(self.name, self.process, self.complaints)


@asynccontextmanager
async def running(
    module: str, *arguments: str, environ: Mapping[str, str] | None = None
) -> AsyncIterator[Program]:
    """`python -m tests.bench.<module>`, ready, with a database of its own; ended on leaving."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bot.sqlite3"
        await database.make(path)
        own = {"MQBOT_BENCH_FOLDER": folder, "DATABASE_URL": f"sqlite:///{path}"}
        complaints = Path(folder) / "stderr"
        with complaints.open("wb") as stderr:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", f"tests.bench.{module}", *arguments),
                env={**os.environ, **own, **(environ or {})},
                stdin=PIPE,
                stdout=PIPE,
                stderr=stderr,
            )
        try:
            reported = await _line(module, process, complaints)
            yield Program(module, process, complaints, reported)
        finally:
            await _end(process)


@asynccontextmanager
async def running_both(
    ours: AbstractAsyncContextManager[Program], floor: AbstractAsyncContextManager[Program]
) -> AsyncIterator[tuple[Program, Program]]:
    """Start both together: a start takes seconds of CPU and isn't measured."""
    async with AsyncExitStack() as stack:
        async with asyncio.TaskGroup() as group:
            first = group.create_task(stack.enter_async_context(ours))
            second = group.create_task(stack.enter_async_context(floor))
        yield first.result(), second.result()


async def _line(name: str, process: Process, complaints: Path) -> dict[str, Any]:
    assert process.stdout is not None
    line = await process.stdout.readline()
    if not line:
        raise ProgramFailed(f"{name}: {_end_of(complaints)}")
    said: dict[str, Any] = json.loads(line)
    return said


def _end_of(complaints: Path) -> str:
    return complaints.read_text("utf-8")[-4000:]


async def _end(process: Process) -> None:
    assert process.stdin is not None
    process.stdin.close()
    try:
        async with asyncio.timeout(END_SECONDS):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


Round = Callable[[Program], Awaitable[Figures]]


async def by_turns(ours: Program, floor: Program, play: Round, extent: Extent) -> Rounds:
    """A warm-up round of each, then rounds of both in alternating order."""
    programs = (floor, ours)
    for program in programs:
        await play(program)
    found: dict[str, list[Figures]] = {program.name: [] for program in programs}
    for number in range(extent.rounds):
        for program in reversed(programs) if number % 2 else programs:
            found[program.name].append(await play(program))
    return Rounds(found[ours.name], found[floor.name])
