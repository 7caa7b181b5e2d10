"""`python -m tests.soak --minutes 60`: whether the memory of a busy bot stays flat.

Both local services run here at 50 times the pace of a working day, `mqbot run` in a process of its
own on a SQLite file. Prints its resident memory each minute, and at the end the growth a minute in
the second half. `--trace` also prints where Python's memory grew from half time to nine tenths.
Tracing slows the bot down and keeps a snapshot in its memory, so then only what is printed counts,
not the growth.
"""

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bot.cli.manifest import manifest_path
from bot.sandbox.merge_queue.server import MergeQueueSandbox
from bot.sandbox.server import Sandbox
from bot.sandbox.slack.server import SlackSandbox
from tests.support.settings import between

REPOSITORIES = {"acme/site": "busy", "acme/api": "busy", "acme/docs": "calm", "acme/infra": "calm"}
SPEED = 50.0
SAMPLE_SECONDS = 10.0
FLAT = 0.02
"""MiB a minute: what a sample of this length may be off by."""

TRACED = """
import sys, threading, time, tracemalloc
from bot.cli.main import main
half, end = float(sys.argv.pop(1)), float(sys.argv.pop(1))

def compare():
    time.sleep(half)
    before = tracemalloc.take_snapshot()
    time.sleep(end - half)
    for line in tracemalloc.take_snapshot().compare_to(before, "traceback")[:25]:
        print(f"{line.size_diff / 1024:8.0f} KiB {line.count_diff:7}", file=sys.stderr)
        print("\\n".join(line.traceback.format()), file=sys.stderr, flush=True)

tracemalloc.start(6)
threading.Thread(target=compare, daemon=True).start()
main()
"""


async def run(minutes: float, speed: float, *, trace: bool = False) -> float:
    """Run a bot so long; return the growth of its memory in the second half, in MiB a minute."""
    queue = MergeQueueSandbox(repositories=REPOSITORIES, speed=speed)
    async with Sandbox(queue, SlackSandbox(manifest_path())) as services:
        with tempfile.TemporaryDirectory() as folder:
            channels = ("C0MERGEQ", "C0RELEASE", "C0GENERAL", "C0MERGEQ")
            follows = zip(REPOSITORIES, channels, strict=True)
            settings = between(
                services.addresses,
                f"sqlite:///{folder}/soak.sqlite3",
                MQBOT_REPOSITORIES=",".join(REPOSITORIES),
                MQBOT_CHANNELS=";".join(f"{name}={channel}" for name, channel in follows),
                MQBOT_LOG_LEVEL="ERROR",
            )
            traced = ["-c", TRACED, str(minutes * 30), str(minutes * 54)]
            command = [*(traced if trace else ["-m", "bot"]), "run"]
            process = await asyncio.create_subprocess_exec(
                sys.executable, *command, env={**os.environ, **settings}
            )
            try:
                return growth(await _watch(process.pid, minutes * 60))
            finally:
                process.terminate()
                await asyncio.wait_for(process.wait(), 60)


async def _watch(pid: int, seconds: float) -> Sequence[tuple[float, float]]:
    """The process's resident memory in MiB, with the minutes since its start."""
    samples: list[tuple[float, float]] = []
    started = time.monotonic()
    while (elapsed := time.monotonic() - started) < seconds:
        await asyncio.sleep(SAMPLE_SECONDS)
        samples.append((elapsed / 60, _resident(pid)))
        if len(samples) % 6 == 0:
            print(f"{elapsed / 60:6.1f} min {samples[-1][1]:8.2f} MiB", flush=True)
    return samples


def growth(samples: Sequence[tuple[float, float]]) -> float:
    """The slope of the second half of the samples."""
    late = samples[len(samples) // 2 :]
    slope, _ = statistics.linear_regression([at for at, _ in late], [size for _, size in late])
    return slope


def _resident(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--speed", type=float, default=SPEED)
    parser.add_argument("--trace", action="store_true")
    arguments = parser.parse_args()
    grown = asyncio.run(run(arguments.minutes, arguments.speed, trace=arguments.trace))
    print(f"{grown:.3f} MiB a minute in the second half: {'flat' if grown < FLAT else 'grows'}")
    return 0 if grown < FLAT else 1


if __name__ == "__main__":
    sys.exit(main())
