"""`mqbot run` as a separate process: started, killed, frozen and stopped by its own id."""

import asyncio
import os
import signal
from collections.abc import Mapping
from pathlib import Path

from tests.support.forked_mqbot import ForkedProcess, forked_mqbot

ROOT = Path(__file__).parents[2]
STOP_SECONDS = 15.0


class BotProcess:
    """One bot and its successors, each with a log of its own."""

    def __init__(self, name: str, environ: Mapping[str, str], folder: Path) -> None:
        self.name = name
        self.logs: list[Path] = []
        self.exits: list[int] = []
        self.environ = dict(environ)
        self._folder = folder
        self._process: ForkedProcess | None = None

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
        # Through a pipe: a limit on the files of the bot must not take its voice as well.
        reading, writing = os.pipe()
        with os.fdopen(writing, "wb", buffering=0) as output:
            self._process = await forked_mqbot(["run"], ROOT, self.environ, (output, output))
        self._writing = asyncio.create_task(_write_down(reading, log))

    def signal(self, number: int) -> None:
        """Send a signal, unless the process has already ended."""
        if self._process is not None:
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


async def _write_down(reading: int, log: Path) -> None:
    """Keep all that comes through the pipe, until nobody writes into it any more."""
    output = asyncio.StreamReader()
    protocol = asyncio.StreamReaderProtocol(output)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: protocol, os.fdopen(reading, "rb", buffering=0)
    )
    with log.open("wb", buffering=0) as written:
        while some := await output.read(1 << 16):
            written.write(some)
    transport.close()
