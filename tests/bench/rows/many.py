"""Thousands of repositories in one process: are polls on time, and does anybody wait for them?"""

from collections.abc import Sequence

from tests.bench.figures import Extent, Row
from tests.bench.program import running
from tests.bench.surroundings import event_logs


async def rows(extent: Extent) -> Sequence[Row]:
    """The default settings: quiet logs are polled less often."""
    amount = extent.scaled(8_000, 800)
    seconds = str(extent.scaled(20, 3))
    async with (
        event_logs(over_tls=True) as (_, environ),
        running("ours.many", seconds, environ=environ) as ours,
    ):
        found = await ours.play(amount)
    late = found["lateness"]
    command = found["command"]
    of = f"{amount:,} repositories, one in 20 busy"
    return [
        Row(f"{of}: lateness of polls, p99", "s", late, None, late, 1),
        Row(f"{of}: a status meanwhile, p99", "s", command, None, command, 1),
        Row(f"{of}: share of a core", "", found["cpu"], None, found["cpu"], 0.6),
    ]
