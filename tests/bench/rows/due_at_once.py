"""Many repositories due at one instant: how many of them are skipped."""

from collections.abc import Sequence

from tests.bench.figures import Extent, Row
from tests.bench.program import running


async def rows(extent: Extent) -> Sequence[Row]:
    repositories = extent.scaled(2_000, 200)
    async with running("services.pages") as pages:
        environ = {"BENCH_SERVICE": f"http://127.0.0.1:{pages.reported['port']}/v1"}
        async with running("ours.due_at_once", environ=environ) as ours:
            await ours.play(repositories)
        logs = (await pages.play())["logs"]
    skipped = repositories - logs
    what = f"polls skipped, {repositories:,} repositories due at once"
    return [Row(what, "", skipped, None, skipped, 0)]
