"""`python -m tests.noise`: simulates a busy working week; writes its figures and page."""

import asyncio
from pathlib import Path

import click

from tests.noise.busy_repository import BadNight, Returning
from tests.noise.figures import Day, as_json
from tests.noise.living import days, morning, night
from tests.noise.page import page

PAGE = Path(__file__).parents[2] / "docs" / "noise.md"
FIGURES = Path(__file__).parent / "week.json"
MORNING = Path(__file__).parent / "morning.json"
"""What the tests live again in place of a whole day."""

NIGHTS = Path(__file__).parent / "nights.json"
"""A night in which CI is broken, and one with a pull request that comes back again and again."""

SEED = 2
"""In its week the shares of what is broken, in conflict or removed are nearest to those set."""
NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")


@click.command(help=__doc__)
@click.option("--seed", default=SEED, show_default=True, help="Random seed.")
def main(seed: int) -> None:
    asyncio.run(_write(seed))
    click.echo(f"Wrote {FIGURES}, {MORNING} and {PAGE}")


async def _write(seed: int) -> None:
    MORNING.write_text(as_json([await morning(seed)]), "utf-8")
    lived = await nights(seed)
    NIGHTS.write_text(as_json(lived), "utf-8")
    week = await _live(seed)
    FIGURES.write_text(as_json(week), "utf-8")
    PAGE.write_text(page(seed, week, lived), "utf-8")


async def nights(seed: int) -> list[Day]:
    return [await night(BadNight(seed)), await night(Returning(seed))]


async def _live(seed: int) -> list[Day]:
    lived: list[Day] = []
    async for day in days(seed, len(NAMES)):
        click.echo(f"{NAMES[len(lived)]} is over")
        lived.append(day)
    return lived


if __name__ == "__main__":
    main()
