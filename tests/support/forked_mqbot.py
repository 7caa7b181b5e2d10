"""Processes of `mqbot` forked from one that has imported it, because an import takes a second.

Each has its own environment, folder, output and signals, as `python -m bot` has. That a start from
nothing works is shown by the tests of the wheel, of the Procfile, and of the backlog.
"""

import asyncio
import atexit
import gc
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from select import select
from tempfile import gettempdir
from typing import IO, Any

import anyio
from pydantic import BaseModel

from bot.cli.main import PROGRAMS

ROOT = Path(__file__).parents[2]
LARGEST_REQUEST = 1 << 18
EVERYTHING = (
    *(f"bot.cli.{module}" for module, _ in PROGRAMS.values()),
    "bot.runtime.process",
    "alembic.config",
    "alembic.command",
    "apscheduler.executors.asyncio",
    "apscheduler.triggers.interval",
    "certifi",
    "encodings.utf_8_sig",
    # Which httpx imports for its first client.
    "httpcore",
)


class ForkedProcess:
    """What is used of asyncio's Process."""

    def __init__(self, reported: int) -> None:
        loop = asyncio.get_running_loop()
        self.pid = 0
        self.returncode: int | None = None
        self._begun = loop.create_future()
        self._ended = asyncio.Event()
        self._reported = reported
        self._text = ""
        loop.add_reader(reported, self._read)

    async def begun(self) -> "ForkedProcess":
        """Wait until it has an id."""
        await self._begun
        return self

    def _read(self) -> None:
        more = os.read(self._reported, 64).decode()
        self._text += more
        begun, *ended = self._text.split()
        if not self._begun.done():
            self.pid = int(begun)
            self._begun.set_result(None)
        if ended or not more:
            asyncio.get_running_loop().remove_reader(self._reported)
            os.close(self._reported)
            self.returncode = int(ended[0])
            self._ended.set()

    def send_signal(self, sent: int) -> None:
        if self.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, sent)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    async def wait(self) -> int:
        await self._ended.wait()
        assert self.returncode is not None
        return self.returncode


async def forked_mqbot(
    arguments: Sequence[str],
    folder: Path,
    environ: Mapping[str, str],
    output: tuple[IO[bytes], IO[bytes]],
) -> ForkedProcess:
    asked = {"arguments": [*arguments], "folder": str(folder), "environ": {**environ}}
    reported, telling = os.pipe()
    try:
        files = [*(one.fileno() for one in output), telling]
        socket.send_fds(_forking(), [json.dumps(asked).encode()], files)
    finally:
        os.close(telling)
    return await ForkedProcess(reported).begun()


@cache
def _forking() -> socket.socket:
    """A connection to the process to fork from, which all processes of a run of tests share.

    The first that needs it starts it, and it ends with the last connection.
    """
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    address = Path(gettempdir(), f"mqbot-forking-{run}")
    ours = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    # That of pytest-socket takes nothing but hosts.
    connect = super(socket.socket, ours).connect
    try:
        connect(str(address))
    except FileNotFoundError:
        _start(address)
        connect(str(address))
    atexit.register(ours.close)
    return ours


def _start(address: Path) -> None:
    own = address.with_name(f"{address.name}-{os.getpid()}")
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(str(own))
        listening.listen()
        # It gets the address only when it can be connected to, and only one process gives it.
        with suppress(FileExistsError):
            address.hardlink_to(own)
            program = [sys.executable, "-m", "tests.support.forked_mqbot"]
            subprocess.run(
                [*program, str(listening.fileno()), str(address)],
                cwd=ROOT,
                env={"PATH": os.environ["PATH"]},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[listening.fileno()],
                check=True,
            )
    own.unlink()


def serve(listening: socket.socket, address: Path) -> None:
    """Fork for every request, until nobody is left who could make one."""
    _import_everything()
    open_sockets = {listening}
    while readable := select(open_sockets, (), (), None if address.exists() else 0.0)[0]:
        for one in readable:
            if one is listening:
                open_sockets.add(listening.accept()[0])
            elif (request := socket.recv_fds(one, LARGEST_REQUEST, 3))[0]:
                if not _fork(json.loads(request[0]), request[1], open_sockets):
                    return
            else:
                one.close()
                open_sockets.remove(one)
        if open_sockets == {listening}:
            # Who connected before this is served; whoever comes later starts another.
            address.unlink(missing_ok=True)


def _fork(asked: dict[str, Any], files: Sequence[int], open_sockets: set[socket.socket]) -> bool:
    """Whether this is still the process to fork from; the other's program has ended."""
    if os.fork() == 0:
        for one in open_sockets:
            one.close()
        _watch(asked, *files)
        return False
    for file in files:
        os.close(file)
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    return True


def _import_everything() -> None:
    for name in EVERYTHING:
        import_module(name)
    # What it imports for its first event loop, a bot needs for its first request.
    anyio.run(anyio.sleep, 0)
    for model in _models(BaseModel):
        # Else each builds those that it uses.
        model.model_rebuild()
    gc.collect()
    gc.freeze()


def _models(base: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """The bot's own."""
    for model in base.__subclasses__():
        if model.__module__.startswith("bot."):
            yield model
        yield from _models(model)


def _watch(asked: dict[str, Any], stdout: int, stderr: int, telling: int) -> None:
    """Tell the id of the process, and how it ended: only its parent learns that."""
    process = os.fork()
    if process == 0:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(stdout, 1)
        os.dup2(stderr, 2)
        os.closerange(3, telling + 1)
        _run(asked)
        return
    os.close(stdout)
    os.close(stderr)
    os.write(telling, f"{process} ".encode())
    _, status = os.waitpid(process, 0)
    os.write(telling, f"{os.waitstatus_to_exitcode(status)} ".encode())
    os._exit(0)


def _run(asked: dict[str, Any]) -> None:
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environ"])
    time.tzset()
    sys.argv = ["mqbot", *asked["arguments"]]
    runpy.run_module("bot", run_name="__main__", alter_sys=True)


if __name__ == "__main__" and os.fork() == 0:
    # Whoever started it goes on, and may end before it.
    serve(socket.socket(fileno=int(sys.argv[1])), Path(sys.argv[2]))
