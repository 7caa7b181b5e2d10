"""What a typed command runs is counted, and may only become less."""

from collections.abc import Mapping

from tests.journeys import JOURNEYS, Count, watched_bot

MOST: Mapping[str, tuple[int, int]] = {
    "pause": (61, 295),
    "subscribe": (34, 140),
    "status": (37, 155),
}
"""Files and functions: a little more than `python -m tests.journeys` prints, for a busy machine, on
which a job of the schedule falls into every repetition. Lower them with the counts."""

LEAST_FUNCTIONS = 50
"""Fewer than that were seen only if the counter saw nothing."""


async def test_no_journey_becomes_longer() -> None:
    counts: dict[str, Count] = {}
    async with watched_bot() as watched:
        for name, journey in JOURNEYS.items():
            counts[name] = await watched.count(journey)
    longer = {
        name: [str(count), *count.listing()]
        for name, count in counts.items()
        if len(count.files) > MOST[name][0] or len(count.functions) > MOST[name][1]
    }
    assert longer == {}
    assert all(len(count.functions) > LEAST_FUNCTIONS for count in counts.values())
