"""How the cost grows with repositories, with the backlog, and with subscriptions."""

from collections.abc import Sequence
from dataclasses import dataclass

from tests.bench.figures import Extent
from tests.bench.program import running
from tests.bench.services.merge_queue import PER_PAGE
from tests.bench.surroundings import event_logs

REPOSITORIES = (10, 100, 1_000)
BACKLOG = (1_000, 10_000, 100_000)
SUBSCRIPTIONS = (10, 100, 1_000)
LONGEST_REPOSITORIES = 8_000
LONGEST_BACKLOG = 1_000_000
"""Only in a long run: they take minutes."""


@dataclass(frozen=True, slots=True)
class Curve:
    """Seconds of CPU for each size; `of` names what is counted."""

    what: str
    of: str
    points: Sequence[tuple[int, float]]


async def curves(extent: Extent, *, long: bool) -> Sequence[Curve]:
    """A quick run leaves out the largest of each."""
    kept = extent.scaled(3, 2)
    repositories = REPOSITORIES[: kept + 1]
    backlog = BACKLOG[:kept]
    if long:
        repositories = (*repositories, LONGEST_REPOSITORIES)
        backlog = (*backlog, LONGEST_BACKLOG)
    return [
        Curve(
            "one poll of each repository",
            "repositories",
            [(size, await _polls(size)) for size in repositories],
        ),
        Curve(
            "a backlog read, kept and routed",
            "events",
            [(size, await _pages(size // PER_PAGE, 1)) for size in backlog],
        ),
        Curve(
            "100 events routed to every subscription",
            "subscriptions",
            [(size, await _pages(1, size)) for size in SUBSCRIPTIONS[:kept]],
        ),
    ]


async def _polls(repositories: int) -> float:
    async with (
        event_logs() as (logs, environ),
        running("ours.polls", str(repositories), environ=environ) as ours,
    ):
        await ours.play(repositories)
        before = (await logs.play())["requests"]
        cpu = (await ours.play(repositories))["cpu"]
        asked = (await logs.play())["requests"] - before
    return cpu / asked * repositories


async def _pages(pages: int, subscriptions: int) -> float:
    async with (
        event_logs(pages) as (_, environ),
        running("ours.pages", str(subscriptions), environ=environ) as ours,
    ):
        figures = await ours.play(1)
        assert figures["added"] > 0
    return figures["seconds"]
