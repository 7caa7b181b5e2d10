"""Two thousand repositories due at one instant: how many of them are not polled."""

from collections.abc import Sequence

from tests.bench.figures import Extent, Row
from tests.bench.program import running

REPOSITORIES = 2_000


async def rows(_extent: Extent) -> Sequence[Row]:
    async with running("services.pages") as pages:
        environ = {"BENCH_SERVICE": f"http://127.0.0.1:{pages.told['port']}/v1"}
        async with running("ours.due_at_once", environ=environ) as ours:
            await ours.play(REPOSITORIES)
        logs = (await pages.play())["logs"]
    skipped = REPOSITORIES - logs
    return [Row("polls skipped, 2,000 repositories due at once", "", skipped, None, skipped, 0)]
