"""A poll of an unchanged event log over TLS: CPU of the polling process."""

from collections.abc import Sequence

from tests.bench.figures import Extent, Figures, Row
from tests.bench.ours.polls import REPOSITORIES
from tests.bench.program import Program, by_turns, running, running_both
from tests.bench.surroundings import event_logs


async def rows(extent: Extent) -> Sequence[Row]:
    amount = REPOSITORIES * extent.scaled(5, 1)
    async with (
        event_logs(over_tls=True) as (pages, environ),
        running_both(
            running("ours.polls", str(REPOSITORIES), environ=environ),
            running("floors.plain_polls", environ=environ),
        ) as (ours, floor),
    ):

        async def play(program: Program) -> Figures:
            before = await pages.play()
            figures = await program.play(amount)
            asked = (await pages.play())["requests"] - before["requests"]
            # Ours may begin one more round of polls, as time goes on while it works.
            assert asked >= amount, f"{program.name} asked {asked} times"
            return {"cpu": figures["cpu"] / asked * 1000}

        rounds = await by_turns(ours, floor, play, extent)
    return [rounds.row("empty poll over TLS, CPU", "cpu", unit="ms", goal=1.4)]
