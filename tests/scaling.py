"""`python -m tests.scaling`: what one worker, two and four poll, as processes on one PostgreSQL.

The service and Slack are here; the service answers in 100 ms. Prints a table for docs/scaling.md.
"""

import argparse
import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.store import migrate
from tests.support.fleet import Entries, Fleet
from tests.support.polls_seen import PollsSeen
from tests.support.postgres import PostgresServer

REPOSITORIES = 400
"""Due each second, and so more than four workers can poll while each answer takes 100 ms."""

ROUND_SECONDS = 1.0
SECONDS = 5
TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Measured:
    """What so many workers did, as the service saw it.

    `distinct`: repositories polled in a second, each counted once, the median of all seconds.
    `worker_cpu`, `postgres_cpu`: seconds of CPU a second, of all workers and of the server.
    `commits`: transactions a second.
    """

    workers: int
    distinct: float
    worker_cpu: float = 0.0
    postgres_cpu: float = 0.0
    commits: float = 0.0


async def measure(fleet: Fleet, seen: PollsSeen, seconds: int = SECONDS) -> float:
    """How many repositories are polled in a second, the median of so many of them."""
    counts = []
    for _ in range(seconds):
        before, began = seen.polled.copy(), time.monotonic()
        await asyncio.sleep(ROUND_SECONDS)
        polled = sum(seen.polled[name] > before[name] for name in fleet.repositories)
        counts.append(polled / (time.monotonic() - began))
    return statistics.median(counts)


async def run(numbers: Sequence[int], seconds: int) -> list[Measured]:
    """Measure each number of workers in turn; every event is posted once."""
    server = PostgresServer.started()
    try:
        name = server.create_database()
        url = server.url(name)
        migrate.upgrade(url)
        with tempfile.TemporaryDirectory(prefix="mqbot-scaling-") as folder:
            fleet = Fleet.of(url, Path(folder), repositories=REPOSITORIES, workers=1)
            async with fleet:
                return await _each(fleet, server, name, numbers, seconds)
    finally:
        server.stop()


async def _each(
    fleet: Fleet, server: PostgresServer, database: str, numbers: Sequence[int], seconds: int
) -> list[Measured]:
    seen = await fleet.begin_to_answer_slowly()
    entries = Entries(fleet)
    entering = asyncio.create_task(entries.run())
    rows = []
    for number in numbers:
        await fleet.grow(number)
        await seen.all_again(fleet.repositories, 60)
        before = _spent(fleet, server, database)
        distinct = await measure(fleet, seen, seconds)
        after = _spent(fleet, server, database)
        clock, workers, postgres, commits = (
            later - earlier for later, earlier in zip(after, before, strict=True)
        )
        rows.append(Measured(number, distinct, workers / clock, postgres / clock, commits / clock))
    entries.stop()
    await entering
    fleet.fix_service()
    await entries.all_posted_once()
    assert not seen.doubled
    return rows


def _spent(fleet: Fleet, server: PostgresServer, database: str) -> tuple[float, ...]:
    """The time, CPU seconds of the workers and of the server, and commits, until now."""
    ((commits,),) = server.execute(
        "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()", database
    )
    workers = [one.process.process.pid for one in fleet.running("worker")]
    return (
        time.monotonic(),
        sum(_cpu_seconds(pid) for pid in workers),
        sum(_cpu_seconds(pid, with_ended=True) for pid in server.processes()),
        float(commits),
    )


def _cpu_seconds(pid: int, *, with_ended: bool = False) -> float:
    """Of a process on Linux, with what its ended children took when asked for.

    https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    except FileNotFoundError:
        return 0.0  # Ended just now: its parent counts it.
    fields = stat.rpartition(")")[2].split()
    return sum(int(field) for field in fields[11 : 15 if with_ended else 13]) / TICKS_A_SECOND


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--seconds", type=int, default=30)
    arguments = parser.parse_args()
    rows = asyncio.run(run(arguments.workers, arguments.seconds))
    print(
        "| Workers | Repositories polled a second | CPU of each worker | CPU of PostgreSQL "
        "| Transactions a second |"
    )
    print("|---|---|---|---|---|")
    for row in rows:
        print(
            f"| {row.workers} | {row.distinct:.0f} | {row.worker_cpu / row.workers:.0%} of a core "
            f"| {row.postgres_cpu:.0%} of a core | {row.commits:.0f} |"
        )


if __name__ == "__main__":
    main()
