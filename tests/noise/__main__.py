"""`python -m tests.noise`: lives through a busy working week and writes docs/noise.md."""

import asyncio
from pathlib import Path

import click

from tests.noise.figures import Day
from tests.noise.living import days
from tests.noise.page import NAMES, page

PAGE = Path(__file__).parents[2] / "docs" / "noise.md"
SEED = 7


@click.command(help=__doc__)
@click.option("--seed", default=SEED, show_default=True, help="Decides all chance.")
@click.option("--output", default=PAGE, type=click.Path(path_type=Path), show_default=False)
def main(seed: int, output: Path) -> None:
    output.write_text(page(seed, asyncio.run(_live(seed))), "utf-8")
    click.echo(f"{output} is written")


async def _live(seed: int) -> list[Day]:
    lived: list[Day] = []
    async for day in days(seed, len(NAMES)):
        click.echo(f"{NAMES[len(lived)]} is over")
        lived.append(day)
    return lived


if __name__ == "__main__":
    main()
