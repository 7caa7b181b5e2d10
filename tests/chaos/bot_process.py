"""`mqbot run` as a process of its own: started, killed, frozen, stopped; only by its own id."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
STOP_SECONDS = 15.0
LOOK_SECONDS = 0.02


class BotProcess:
    """One bot and its successors: a killed one leaves its log, and the next begins a new one."""

    def __init__(
        self,
        name: str,
        environ: Mapping[str, str],
        folder: Path,
        before_run: Callable[[], None] | None = None,
    ) -> None:
        self.name = name
        self.logs: list[Path] = []
        self.exits: list[int] = []
        self._environ = dict(environ)
        self._folder = folder
        self._before_run = before_run
        self._process: subprocess.Popen[bytes] | None = None

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
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "bot", "run"],
                cwd=ROOT,
                env=self._environ,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                # A limit has to be set in the child, and the child has no other thread yet.
                preexec_fn=self._before_run,  # noqa: PLW1509
            )
        self.logs.append(log)

    def signal(self, number: int) -> None:
        """Nothing happens when the process has ended by itself."""
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
        """The code of a process that ended by itself, once; None while it runs."""
        if self._process is None or self._process.poll() is None:
            return None
        code = await self._ended()
        self.exits.append(code)
        return code

    def remove(self) -> None:
        """Leave nothing behind, whatever happened."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    async def _ended(self, seconds: float = STOP_SECONDS) -> int:
        process = self._process
        assert process is not None
        deadline = asyncio.get_running_loop().time() + seconds
        while process.poll() is None:
            if asyncio.get_running_loop().time() > deadline:
                msg = f"{self.name} did not end within {seconds:g} seconds; see {self.log}"
                raise AssertionError(msg)
            await asyncio.sleep(LOOK_SECONDS)
        self._process = None
        return process.returncode
