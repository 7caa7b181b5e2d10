"""The running bot with a database that can't be written for a while.

What the operating system refuses is the bot's writing to files: RLIMIT_FSIZE, set on the running
process and lifted again, binds root too, needs no mount and no other account, and leaves what is
open open, as a full disk or one remounted read-only does. At the present size of the database's log
nothing can be added to it (a full disk); at zero no byte can be written (a read-only one). The
error number is EFBIG where a full disk says ENOSPC and a read-only one EROFS, so that SQLite's own
words differ; the way they take through the bot is the same.
"""

import asyncio
import json
import resource
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from bot.sandbox.merge_queue.controls import SentEvent
from bot.sandbox.merge_queue.server import MergeQueueSandbox
from bot.sandbox.server import Sandbox
from bot.sandbox.slack.server import SlackSandbox
from tests.chaos.bot_process import ROOT, BotProcess
from tests.support.settings import between
from tests.support.waiting import PATIENT_SECONDS, until

SITE = "acme/site"
ALICE = "U0ALICE"
CHANNEL = "C0MERGEQ"
UNLIMITED = resource.RLIM_INFINITY
WAIT_SECONDS = 40.0
CLAIM_SECONDS = 100.0
"""A post whose outcome could not be stored is looked for once its claim has run out."""

pytestmark = pytest.mark.timeout(300)


@dataclass
class Disk:
    """A bot, and its database's file that can be made unwritable."""

    bot: BotProcess
    service: MergeQueueSandbox
    slack: SlackSandbox
    path: Path
    number: int = 1000

    def limit_files(self, size: int) -> None:
        """No file of the running bot may be written beyond so many bytes."""
        assert self.bot.pid is not None
        resource.prlimit(self.bot.pid, resource.RLIMIT_FSIZE, (size, UNLIMITED))

    def log_size(self) -> int:
        """Of the write-ahead log, where every transaction begins."""
        return self.path.with_name(f"{self.path.name}-wal").stat().st_size

    def unsettled(self) -> int:
        return _number(self.path, "SELECT count(*) FROM deliveries WHERE settled_at IS NULL")

    def enter(self) -> int:
        """Let a pull request enter the queue; its number."""
        self.number += 1
        event = SentEvent("action.queue.enter", {}, self.number, "main")
        self.service.emit(SITE, event)
        return self.number

    def posted(self) -> list[int]:
        """The pull requests of the posts in the channel, in their order."""
        messages = self.slack.installation.workspace.channels[CHANNEL].messages
        texts = [
            message.text
            for message in messages
            if message.from_app and message.ephemeral_to is None
        ]
        return [int(text.split("#")[1].split()[0]) for text in texts if "#" in text]

    async def wait_for_post(self, number: int) -> None:
        await until(lambda: number in self.posted(), f"a post about #{number}", CLAIM_SECONDS)

    async def answer_to(self, text: str) -> str:
        """Type a command and read what only the person sees of its answer."""
        seen = len(self._answers())
        typed = await self.slack.people.command(ALICE, CHANNEL, text)
        assert typed["acknowledged"], typed
        await until(lambda: len(self._answers()) > seen, f"an answer to {text}", WAIT_SECONDS)
        return self._answers()[-1]

    def _answers(self) -> list[str]:
        found = self.slack.sight.messages(ALICE, CHANNEL)["messages"]
        return [message["text"] for message in found if message["ephemeral"]]

    def logged(self, action: str) -> list[dict[str, Any]]:
        lines = self.bot.log.read_text().splitlines()
        entries = [json.loads(line) for line in lines if line.startswith("{")]
        return [entry for entry in entries if entry.get("action") == action]

    async def monitored(self, path: str) -> str:
        """What the health port answers, whatever the status."""
        (opened,) = self.logged("health_open")
        async with httpx.AsyncClient() as client:
            answer = await client.get(f"http://127.0.0.1:{opened['port']}{path}")
        return answer.text

    async def check(self, size: int) -> dict[str, Any]:
        """What `mqbot check` says of writing, itself limited as the bot is."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bot", "check", "--json"),
            cwd=ROOT,
            env=self.bot.environ,
            stdout=asyncio.subprocess.PIPE,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, UNLIMITED)),
        )
        printed, _ = await process.communicate()
        findings = json.loads(printed)["findings"]
        (found,) = [each for each in findings if each["subject"] == "writing"]
        return dict(found)

    def printed_tracebacks(self) -> bool:
        return "Traceback" in self.bot.log.read_text()


@pytest.fixture
async def disk(tmp_path: Path) -> AsyncIterator[Disk]:
    """A bot that has posted once, and whose database's log is not empty."""
    service = MergeQueueSandbox(repositories={SITE: "quiet"})
    slack = SlackSandbox(ROOT / "manifest.yml", ack_seconds=PATIENT_SECONDS)
    path = tmp_path / "bot.sqlite3"
    async with Sandbox(service, slack) as sandbox:
        environ = between(
            sandbox.addresses,
            f"sqlite:///{path}",
            HOME=str(tmp_path),
            MQBOT_CHANNELS=f"{SITE}={CHANNEL}:enter",
            MQBOT_LOG_FORMAT="json",
            MQBOT_HEALTH_PORT="0",
        )
        bot = BotProcess("bot", environ, tmp_path)
        await bot.start()
        try:
            disk = Disk(bot, service, slack, path)
            positions = "SELECT count(origin) FROM repositories"
            await until(lambda: _number(path, positions), "a look at the log", WAIT_SECONDS)
            await until(lambda: slack.socket_mode.connections, "a connection", WAIT_SECONDS)
            await disk.wait_for_post(disk.enter())
            await until(lambda: not disk.unsettled(), "the outbox to hear of it", WAIT_SECONDS)
            yield disk
        finally:
            await bot.remove()


def _number(path: Path, query: str) -> int:
    if not path.exists():
        return 0
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            return int(database.execute(query).fetchone()[0])
    except sqlite3.OperationalError:
        return 0  # The tables are being made.


def _integrity(path: Path) -> str:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        return str(database.execute("PRAGMA integrity_check").fetchone()[0])


async def _outlives(disk: Disk, size: int) -> None:
    """What must hold while no file can be written beyond `size`, and afterwards."""
    before = {action: len(disk.logged(action)) for action in ("job_failed", "job_recovered")}

    def logged(action: str) -> list[dict[str, Any]]:
        return disk.logged(action)[before[action] :]

    disk.limit_files(size)
    meanwhile = disk.enter()
    await until(lambda: logged("job_failed"), "the log to say so", WAIT_SECONDS)

    assert "acme/site" in await disk.answer_to("/mq status")
    assert "/mq pause" in await disk.answer_to("/mq help")
    refused = await disk.answer_to("/mq subscribe failure")
    assert refused.startswith("My database isn't available right now")
    assert meanwhile not in disk.posted()
    # Each place says so, and why.
    problems = json.loads(await disk.monitored("/readyz"))["problems"]
    assert problems["database"].startswith("cannot be written: the disk")
    assert "mqbot_database_up 0.0" in await disk.monitored("/metrics")
    assert logged("job_failed")[0]["detail"].startswith("the disk")
    found = await disk.check(size)
    assert found["standing"] == "wrong"
    assert found["sentence"].startswith("It is read-only: the disk")

    disk.limit_files(UNLIMITED)
    await disk.wait_for_post(meanwhile)
    await disk.wait_for_post(disk.enter())
    await until(lambda: logged("job_recovered"), "the log to say so", WAIT_SECONDS)
    assert "database" not in json.loads(await disk.monitored("/readyz"))["problems"]
    assert "mqbot_database_up 1.0" in await disk.monitored("/metrics")
    assert (await disk.check(UNLIMITED))["standing"] == "ok"
    jobs = [entry["job"] for entry in logged("job_failed")]
    assert len(jobs) == len(set(jobs)), "said when it begins, not at every turn"
    assert not disk.printed_tracebacks()


async def test_a_bot_reports_a_full_disk_and_a_read_only_one_once_and_recovers(disk: Disk) -> None:
    await _outlives(disk, disk.log_size())
    await _outlives(disk, 0)

    assert await disk.bot.stop() == 0
    assert disk.posted() == sorted(set(disk.posted())), "once each, in order"
    assert _integrity(disk.path) == "ok"


async def test_a_bot_killed_on_a_full_disk_loses_nothing(disk: Disk) -> None:
    disk.limit_files(disk.log_size())
    meanwhile = disk.enter()
    await until(lambda: disk.logged("job_failed"), "the log to say so", WAIT_SECONDS)
    await disk.bot.kill()

    assert _integrity(disk.path) == "ok"
    await disk.bot.start()
    await disk.wait_for_post(meanwhile)
    assert await asyncio.wait_for(disk.bot.stop(), WAIT_SECONDS) == 0
    assert disk.posted() == sorted(set(disk.posted()))
