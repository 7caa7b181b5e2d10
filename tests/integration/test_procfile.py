"""The Procfile started by a Procfile runner: release, then web and worker on one PostgreSQL."""

import asyncio
import json
import os
import re
import signal
import socket
import sys
from asyncio.subprocess import DEVNULL, STDOUT, Process
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from typing_extensions import override

from tests.documentation import ROOT
from tests.support.bot_tester import MERGE_QUEUE, RELEASES, BotTester
from tests.support.postgres import PostgresServer
from tests.support.waiting import until

PROGRAMS = Path(sys.executable).parent
LINE = re.compile(r"^\S+ (\w+)(?:\.1)? +\| (.*)$", re.MULTILINE)
"""What the runner prints: a time, who, and what they said."""


KINDS = ("web", "worker")
FURTHER = (0, 100)
"""The health ports of the first process of each kind are so much above MQBOT_HEALTH_PORT."""


def two_free_ports() -> int:
    """A port that is free, as is the one which the worker gets."""
    for first in range(20_000, 30_000):
        try:
            for further in FURTHER:
                with socket.create_server(("127.0.0.1", first + further)):
                    pass
        except OSError:
            continue
        return first
    raise AssertionError("no port is free")


@dataclass
class Honcho:
    """The runner with some of the Procfile's processes; its output goes to a file."""

    process: Process
    output: Path

    @classmethod
    async def start(cls, *names: str, folder: Path, environ: Mapping[str, str]) -> "Honcho":
        output = folder / f"honcho-{'-'.join(names)}"
        procfile = str(ROOT / "Procfile")
        with output.open("wb") as written:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "honcho", "--no-colour", "start", "-f", procfile, *names),
                cwd=folder,
                env={"PATH": f"{PROGRAMS}:{os.environ['PATH']}", "HOME": str(folder), **environ},
                stdin=DEVNULL,
                stdout=written,
                stderr=STDOUT,
            )
        return cls(process, output)

    def said(self, who: str) -> list[str]:
        return [text for name, text in LINE.findall(self.output.read_text()) if name == who]

    def records(self, who: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.said(who) if re.fullmatch(r"\{.*\}", line)]

    async def logged(self, who: str, action: str) -> dict[str, Any]:
        def look() -> dict[str, Any] | None:
            assert self.process.returncode is None, self.output.read_text()
            return next(
                (record for record in self.records(who) if record.get("action") == action), None
            )

        found = await until(look, f"“{action}” of {who}", 60)
        assert found is not None
        return found

    def end_first(self) -> None:
        """Ask the process that started first to end, upon which the runner asks all others.

        A signal to the runner itself would be lost while it prints: its handler prints too, which
        Python refuses (https://docs.python.org/3/library/io.html#reentrancy).
        """
        started = re.search(r"started \(pid=(\d+)\)", "\n".join(self.said("system")))
        assert started is not None, self.output.read_text()
        os.kill(int(started[1]), signal.SIGTERM)

    async def ends(self) -> int:
        async with asyncio.timeout(60):
            return await self.process.wait()


@dataclass
class FromProcfile(BotTester):
    """The bot is what the Procfile names; everything else is as with BotTester."""

    folder: Path = field(kw_only=True)
    runner: Honcho | None = field(default=None, init=False)

    @override
    async def _open_bot(self) -> None:
        environ = {**self.settings_environment(), "MQBOT_LOG_FORMAT": "json"}
        release = await Honcho.start("release", folder=self.folder, environ=environ)
        assert await release.ends() == 0, release.output.read_text()
        self.runner = await Honcho.start("web", "worker", folder=self.folder, environ=environ)
        for who in ("web", "worker"):
            await self.runner.logged(who, "ready")
        port = (await self.runner.logged("web", "http_open"))["port"]
        await self.give_request_url(f"http://127.0.0.1:{port}/slack/events")

    @override
    async def stop_bot(self) -> None:
        if self.runner is not None and self.runner.process.returncode is None:
            self.runner.end_first()
            await self.runner.ends()

    @override
    def logged_errors(self) -> list[str]:
        assert self.runner is not None
        records = [*self.runner.records("web"), *self.runner.records("worker")]
        return [str(record.get("action")) for record in records if record["level"] == "error"]


@pytest.mark.postgres
@pytest.mark.timeout(240)
async def test_the_procfile_is_the_whole_bot_on_postgresql(
    postgres_server: PostgresServer, tmp_path: Path
) -> None:
    empty = postgres_server.url(postgres_server.create_database())
    bot = FromProcfile(
        empty,
        folder=tmp_path,
        mode="http",
        channels=f"acme/site={RELEASES}:enter,pause",
        environment={"SLACK_APP_TOKEN": "", "MQBOT_HEALTH_PORT": str(two_free_ports())},
    )
    async with bot:
        assert bot.runner is not None
        ports = [(await bot.runner.logged(who, "health_open"))["port"] for who in KINDS]
        assert ports == [int(bot.environment["MQBOT_HEALTH_PORT"]) + further for further in FURTHER]
        number = bot.enqueue()
        await bot.wait_for_post(f"#{number}", RELEASES)
        await bot.type("/mq pause now CI runners are down")
        await bot.wait_for_post("CI runners are down", MERGE_QUEUE)
        await bot.wait_for_post("CI runners are down", RELEASES)
        await bot.stop_bot()
        # Both have ended by themselves: the runner kills what does not.
        ends = [line for line in bot.runner.said("system") if "stopped" in line]
        assert sorted(ends) == ["web.1 stopped (rc=0)", "worker.1 stopped (rc=0)"]
        assert "Traceback" not in bot.runner.output.read_text()
