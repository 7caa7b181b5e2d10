"""The code that a typed command runs is counted, and may only shrink."""

from collections.abc import Mapping

from tests.journeys import JOURNEYS, Count, watched_bot

MOST: Mapping[str, tuple[int, int]] = {
    "pause": (102, 549),
    "subscribe": (48, 222),
    "status": (60, 280),
}
"""Files and functions: a little more than `python -m tests.journeys` prints. Lower them with the
counts."""

ATTEMPTS = 6
"""On a busy machine a job of the schedule may fall into every repetition. It only adds."""

LEAST_FUNCTIONS = 50
"""Fewer than that were seen only if the counter saw nothing."""


async def test_no_journey_gets_longer() -> None:
    counts: dict[str, Count] = {}
    async with watched_bot() as watched:
        for name, journey in JOURNEYS.items():
            for _ in range(ATTEMPTS):
                counts[name] = await watched.count(journey)
                if not _is_longer(name, counts[name]):
                    break
    longer = {
        name: [str(count), *count.listing()]
        for name, count in counts.items()
        if _is_longer(name, count)
    }
    assert longer == {}
    assert {
        name for name, count in counts.items() if len(count.functions) < LEAST_FUNCTIONS
    } == set()


def _is_longer(name: str, count: Count) -> bool:
    files, functions = MOST[name]
    return len(count.files) > files or len(count.functions) > functions
