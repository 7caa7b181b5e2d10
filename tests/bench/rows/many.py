"""Thousands of repositories in one process: are polls on time, and does anybody wait for them?"""

from collections.abc import Sequence

from tests.bench.figures import Extent, Row
from tests.bench.program import running


async def rows(extent: Extent) -> Sequence[Row]:
    amount, seconds = extent.scaled(8_000, 800), extent.scaled(20, 3)
    async with running("services.pages") as pages:
        environ = {"BENCH_SERVICE": f"http://127.0.0.1:{pages.told['port']}/v1"}
        async with running("ours.many", str(seconds), environ=environ) as ours:
            found = await ours.play(amount)
    of = f"{amount:,} repositories, one in 20 busy"
    late, command = found["lateness"], found["command"]
    return [
        Row(f"{of}: lateness of polls, p99", "s", late, None, late, 1),
        Row(f"{of}: a status meanwhile, p99", "s", command, None, command, 1),
        Row(f"{of}: share of a core", "", found["cpu"], None, found["cpu"], 1),
    ]
