"""`python -m tests.noise`: lives through a busy working week and writes docs/noise.md."""

import asyncio
import json
from dataclasses import asdict
from pathlib import Path

import click

from tests.noise.figures import Day
from tests.noise.living import days, morning
from tests.noise.page import NAMES, page

PAGE = Path(__file__).parents[2] / "docs" / "noise.md"
MORNING = Path(__file__).parent / "morning.json"
"""What the tests live again in place of a whole day."""

SEED = 7


@click.command(help=__doc__)
@click.option("--seed", default=SEED, show_default=True, help="Decides all chance.")
@click.option("--output", default=PAGE, type=click.Path(path_type=Path), show_default=False)
def main(seed: int, output: Path) -> None:
    output.write_text(page(seed, asyncio.run(_live(seed))), "utf-8")
    click.echo(f"{output} is written")
    if seed == SEED:
        MORNING.write_text(as_json(asyncio.run(morning(seed))), "utf-8")


def as_json(day: Day) -> str:
    heard = {channel: asdict(one) for channel, one in day.heard.items()}
    counted = {"happened": dict(day.happened), "heard": heard}
    return json.dumps(counted, indent=2, sort_keys=True) + "\n"


async def _live(seed: int) -> list[Day]:
    lived: list[Day] = []
    async for day in days(seed, len(NAMES)):
        click.echo(f"{NAMES[len(lived)]} is over")
        lived.append(day)
    return lived


if __name__ == "__main__":
    main()
