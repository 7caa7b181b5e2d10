"""A process with few files under attack: the port answers, Slack is heard, the log stays short."""

import asyncio
import os
import resource
import socket
import sys
from contextlib import ExitStack
from pathlib import Path

import aiohttp
import pytest
from typing_extensions import override

from tests.support.bot_process import KEPT_VARIABLES, MqbotProcess, ProcessTester
from tests.support.bot_tester import RELEASES
from tests.support.waiting import until

FILES = 512
"""What the process may open; `ulimit -n` of many systems says 1024."""

ATTACKERS = FILES + 100
HALF_A_HEAD = b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: "
DAMAGED = ((b"\x16\x03\x01" * 40), b"GET / HTTP/9.9\r\n\r\n", b"\x00" * 20)

MOST_LOGGED = 20_000
"""Bytes. Without limits it grew by a megabyte a second."""


class FewFiles(ProcessTester):
    """`mqbot run` with a health port, under a low limit of files."""

    @override
    async def _open_bot(self) -> None:
        environ = {
            **{name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ},
            **self.settings_environment(),
            "HOME": str(self.folder),
            "MQBOT_HEALTH_PORT": "0",
        }
        limited = f'ulimit -n {FILES}; exec "$@"'
        with (self.folder / "stdout").open("ab") as out, (self.folder / "stderr").open("ab") as err:
            process = await asyncio.create_subprocess_exec(
                *("sh", "-c", limited, "sh", sys.executable, "-m", "bot", "run"),
                cwd=self.folder,
                env=environ,
                stdout=out,
                stderr=err,
            )
        self.running = MqbotProcess(process, self.folder)
        await until(self._is_ready_or_dead(0), "“ready” in the log", seconds=90)

    @property
    def port(self) -> int:
        opened = [record for record in self.log_records() if record.get("action") == "health_open"]
        return int(opened[-1]["port"])

    def greetings(self) -> int:
        """How many connections Slack has opened to the bot."""
        return sum(record.get("action") == "socket_hello" for record in self.log_records())

    def attack(self, stack: ExitStack, sent: bytes) -> None:
        connected = stack.enter_context(socket.socket())
        connected.settimeout(0)
        connected.connect_ex(("127.0.0.1", self.port))
        try:
            connected.sendall(sent)
        except OSError:
            # It isn't connected yet, and then holds a file without a word.
            return

    async def is_healthy(self) -> bool:
        timeout = aiohttp.ClientTimeout(total=20)
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.get(f"http://127.0.0.1:{self.port}/healthz") as answer,
        ):
            return answer.status == 200


def files_of(process: int) -> int:
    return len(list(Path(f"/proc/{process}/fd").iterdir()))


@pytest.fixture
def files() -> None:
    """This process plays the attackers too."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < 2 * ATTACKERS:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(2 * ATTACKERS, hard), hard))


@pytest.mark.usefixtures("files")
async def test_strangers_at_the_health_port_stop_nothing(sqlite_url: str, tmp_path: Path) -> None:
    bot = FewFiles(sqlite_url, folder=tmp_path, channels=f"acme/site={RELEASES}:pause")
    async with bot:
        with ExitStack() as stack:
            for number in range(ATTACKERS):
                bot.attack(stack, HALF_A_HEAD)
                if number % 50 == 0:
                    assert await bot.is_healthy()
            for damaged in DAMAGED * 30:
                bot.attack(stack, damaged)
            assert await bot.is_healthy()
            opened = bot.greetings()
            bot.break_slack("disconnect", "*", reason="refresh_requested")
            assert bot.running is not None
            open_files = files_of(bot.running.process.pid)
            assert open_files < FILES * 3 // 4
            await until(lambda: bot.greetings() >= 2 * opened, "new connections")
            assert "*acme/site* is running" in await bot.ask("/mq status")
            assert await bot.is_healthy()
        assert len(bot.running.complaints) < MOST_LOGGED
        assert "Traceback" not in bot.running.complaints
