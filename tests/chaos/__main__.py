"""`python -m tests.chaos --minutes 30 --seed N`: disturb the bot, and count losses."""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

import click

from tests.chaos.plan import Options
from tests.chaos.report import table
from tests.chaos.run import run


def main() -> int:
    """Return 0 if every event was posted once and in order; otherwise keep the logs."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kills", type=int, help="without it 200 in 30 minutes")
    parser.add_argument("--database", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--processes", type=int, choices=(1, 2), default=1)
    given = parser.parse_args()
    if given.database == "sqlite" and given.processes > 1:
        parser.error("a SQLite file belongs to one process: two take --database postgres")
    kills = given.kills if given.kills is not None else round(given.minutes * 200 / 30)
    options = Options(
        seed=given.seed,
        minutes=given.minutes,
        kills=kills,
        database=given.database,
        processes=given.processes,
        long_freezes=round(given.minutes / 10),
    )
    folder = Path(tempfile.mkdtemp(prefix="mqbot-chaos-"))
    result = asyncio.run(run(options, folder))
    click.echo(table(result))
    click.echo(f"\nthe bots' logs are in {folder}")
    return 0 if result.is_good else 1


if __name__ == "__main__":
    sys.exit(main())
