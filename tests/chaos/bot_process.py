"""`mqbot run` as a separate process: started, killed, frozen and stopped by its own id."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from threading import Thread
from typing import IO

ROOT = Path(__file__).parents[2]
STOP_SECONDS = 15.0
LOOK_SECONDS = 0.02


class BotProcess:
    """One bot and its successors, each with a log of its own."""

    def __init__(self, name: str, environ: Mapping[str, str], folder: Path) -> None:
        self.name = name
        self.logs: list[Path] = []
        self.exits: list[int] = []
        self._environ = dict(environ)
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._writer: Thread | None = None

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    @property
    def log(self) -> Path:
        return self.logs[-1]

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        assert self._process is None
        log = self._folder / f"{self.name}-{len(self.logs) + 1:03}.log"
        log.touch()
        self.logs.append(log)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bot", "run"],
            cwd=ROOT,
            env=self._environ,
            stdin=subprocess.DEVNULL,
            # Through a pipe: a limit on the files of the bot must not take its voice as well.
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        assert self._process.stdout is not None
        self._writer = Thread(target=_write_down, args=(self._process.stdout, log), daemon=True)
        self._writer.start()

    def signal(self, number: int) -> None:
        """Send a signal, unless the process has already ended."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._process.pid, number)

    async def kill(self) -> None:
        self.signal(signal.SIGKILL)
        await self._ended()

    async def stop(self) -> int:
        """Stop with SIGTERM; the exit code. Fails when it takes longer than STOP_SECONDS."""
        self.signal(signal.SIGTERM)
        return await self._ended(STOP_SECONDS)

    async def notice_exit(self) -> int | None:
        """The exit code of a process that ended by itself, once; None while it runs."""
        if self._process is None or self._process.poll() is None:
            return None
        code = await self._ended()
        self.exits.append(code)
        return code

    def remove(self) -> None:
        """Clean up, whatever happened."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._forget()

    async def _ended(self, seconds: float = STOP_SECONDS) -> int:
        process = self._process
        assert process is not None
        deadline = asyncio.get_running_loop().time() + seconds
        while process.poll() is None:
            if asyncio.get_running_loop().time() > deadline:
                msg = f"{self.name} did not end within {seconds:g} seconds; see {self.log}"
                raise AssertionError(msg)
            await asyncio.sleep(LOOK_SECONDS)
        self._forget()
        return process.returncode

    def _forget(self) -> None:
        self._process = None
        if self._writer is not None:
            self._writer.join()
            self._writer = None


def _write_down(output: IO[bytes], log: Path) -> None:
    with output, log.open("wb", buffering=0) as written:
        for line in output:
            written.write(line)
