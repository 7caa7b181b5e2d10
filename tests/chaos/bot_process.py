"""`mqbot run` as a separate process: started, killed, frozen and stopped by its own id."""

import asyncio
import contextlib
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, STDOUT, Process
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
STOP_SECONDS = 15.0


class BotProcess:
    """One bot and its successors, each with a log of its own."""

    def __init__(self, name: str, environ: Mapping[str, str], folder: Path) -> None:
        self.name = name
        self.logs: list[Path] = []
        self.exits: list[int] = []
        self._environ = dict(environ)
        self._folder = folder
        self._process: Process | None = None

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    @property
    def log(self) -> Path:
        return self.logs[-1]

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.returncode is None

    async def start(self) -> None:
        assert self._process is None
        log = self._folder / f"{self.name}-{len(self.logs) + 1:03}.log"
        log.touch()
        self.logs.append(log)
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bot", "run"),
            cwd=ROOT,
            env=self._environ,
            stdin=DEVNULL,
            # Through a pipe: a limit on the files of the bot must not take its voice as well.
            stdout=PIPE,
            stderr=STDOUT,
            start_new_session=True,
        )
        assert self._process.stdout is not None
        self._writing = asyncio.create_task(_write_down(self._process.stdout, log))

    def signal(self, number: int) -> None:
        """Send a signal, unless the process has already ended."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(number)

    async def kill(self) -> None:
        self.signal(signal.SIGKILL)
        await self._ended()

    async def stop(self) -> int:
        """Stop with SIGTERM; the exit code. Fails when it takes longer than STOP_SECONDS."""
        self.signal(signal.SIGTERM)
        return await self._ended()

    async def notice_exit(self) -> None:
        """Keep the exit code of a process that ended by itself."""
        if self._process is not None and not self.is_running:
            self.exits.append(await self._ended())

    async def remove(self) -> None:
        """Clean up, whatever happened."""
        if self._process is not None:
            await self.kill()

    async def _ended(self) -> int:
        assert self._process is not None
        try:
            async with asyncio.timeout(STOP_SECONDS):
                code = await self._process.wait()
        except TimeoutError:
            msg = f"{self.name} did not end within {STOP_SECONDS:g} seconds; see {self.log}"
            raise AssertionError(msg) from None
        self._process = None
        await self._writing
        return code


async def _write_down(output: asyncio.StreamReader, log: Path) -> None:
    with log.open("wb", buffering=0) as written:
        while some := await output.read(1 << 16):
            written.write(some)
