"""A backlog of full pages: read, validated, stored, routed; events per second of CPU."""

from collections.abc import Sequence

from tests.bench.figures import Extent, Figures, Row
from tests.bench.program import Program, by_turns, running, running_both
from tests.bench.services.merge_queue import PER_PAGE
from tests.bench.surroundings import event_logs

PAGES = 10


async def rows(extent: Extent) -> Sequence[Row]:
    walks = extent.scaled(12, 1)
    async with (
        event_logs(PAGES) as (_, environ),
        running_both(
            running("ours.pages", "1", environ=environ),
            running("floors.plain_pages", environ=environ),
        ) as (ours, floor),
    ):

        async def play(program: Program) -> Figures:
            figures = await program.play(walks)
            if program is floor:
                return figures
            # Events without subscribers would have been cheap.
            assert figures["added"] > 0
            return {"rate": walks * PAGES * PER_PAGE / figures["seconds"]}

        rounds = await by_turns(ours, floor, play, extent)
    what = "full pages read, kept and routed, a second of CPU"
    return [rounds.row(what, "rate", unit="events/s", goal=0.2, more_is_better=True)]
