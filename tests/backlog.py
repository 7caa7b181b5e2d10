"""`python -m tests.backlog --events 1000000`: a real bot posts a backlog within little memory.

Both sandboxes run here, `mqbot run` in a process of its own on a SQLite file.
Prints its progress every few seconds, and at the end the peak of its resident memory.
"""

import argparse
import asyncio
import contextlib
import os
import sqlite3
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bot.cli.manifest import manifest_path
from bot.sandbox.merge_queue.controls import SentEvent
from bot.sandbox.merge_queue.server import MergeQueueSandbox
from bot.sandbox.server import Sandbox
from bot.sandbox.slack.server import SlackSandbox
from tests.support.settings import between

REPOSITORY = "acme/site"
SPAN = timedelta(days=2)
AGE = timedelta(hours=1)


@dataclass(slots=True)
class Progress:
    """The progress of the bot."""

    stored: int = 0
    states: dict[str, int] = field(default_factory=dict)
    peak_megabytes: float = 0.0
    seconds: float = 0.0

    def is_done(self, events: int) -> bool:
        open_states = {"pending", "sending", "in_doubt"}.intersection(self.states)
        return self.stored == events and not open_states

    @property
    def reported(self) -> int:
        return self.states.get("delivered", 0) + self.states.get("summarized", 0)


async def run(events: int, within_seconds: float, *, report: bool = False) -> Progress:
    """Have a bot process a backlog of `events`; raise TimeoutError if it takes too long."""
    queue = MergeQueueSandbox(repositories={REPOSITORY: "quiet"}, log_limit=events + 1000)
    async with Sandbox(queue, SlackSandbox(manifest_path())) as services:
        fill(queue, events)
        with tempfile.TemporaryDirectory() as folder:
            database = Path(folder) / "backlog.sqlite3"
            async with _bot(services, database) as process:
                return await _watch(process, database, events, within_seconds, report=report)


def fill(queue: MergeQueueSandbox, events: int) -> None:
    start = datetime.now(UTC) - AGE - SPAN
    for number in range(events):
        kind = "merged" if number % 2 else "enter"
        queue.emit(
            REPOSITORY,
            SentEvent(
                type=f"action.queue.{kind}",
                metadata={"queue_name": "default", "branch": "main"},
                pull_request=number // 2 + 1,
                base_ref="main",
                received_at=start + SPAN * number / events,
            ),
        )


@contextlib.asynccontextmanager
async def _bot(services: Sandbox, database: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    settings = between(
        services.addresses,
        f"sqlite:///{database}",
        MQBOT_CHANNELS=f"{REPOSITORY}=C0MERGEQ:style:feed",
        MQBOT_BACKFILL_MINUTES=str((SPAN + AGE + timedelta(hours=1)).total_seconds() / 60),
        MQBOT_LOG_LEVEL="WARNING",
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", "run", env={**os.environ, **settings}
    )
    try:
        yield process
    finally:
        process.terminate()
        await asyncio.wait_for(process.wait(), 20)


async def _watch(
    process: asyncio.subprocess.Process,
    database: Path,
    events: int,
    within_seconds: float,
    *,
    report: bool,
) -> Progress:
    progress = Progress()
    started = time.monotonic()
    async with asyncio.timeout(within_seconds):
        while not progress.is_done(events):
            await asyncio.sleep(1 if events < 100_000 else 10)
            progress.seconds = time.monotonic() - started
            progress.peak_megabytes = max(progress.peak_megabytes, resident(process.pid))
            with contextlib.suppress(sqlite3.OperationalError):  # not migrated yet, or busy
                _read(database, progress)
            if report:
                print(f"{progress.seconds:7.0f} s  {progress}", flush=True)
    return progress


def resident(pid: int) -> float:
    """The peak of the process's resident memory in MB (Linux)."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def _read(database: Path, progress: Progress) -> None:
    with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        (progress.stored,) = connection.execute("SELECT count(*) FROM events").fetchone()
        counted = connection.execute("SELECT state, count(*) FROM deliveries GROUP BY state")
        progress.states = dict(counted.fetchall())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--within-seconds", type=float, default=3600)
    arguments = parser.parse_args()
    progress = asyncio.run(run(arguments.events, arguments.within_seconds, report=True))
    print(
        f"{arguments.events:,} events, {progress.reported:,} told in "
        f"{progress.states.get('delivered', 0):,} posts, {progress.seconds:.0f} s, "
        f"at most {progress.peak_megabytes:.0f} MB resident"
    )


if __name__ == "__main__":
    main()
