"""Delays and requests of a simulated working day, compared with polls at a fixed interval."""

from collections.abc import Sequence

from tests.bench.figures import Extent, Row
from tests.bench.working_day import fixed, following, working_day

OF = "working day of 100 repositories, 10 boards, 3 pauses"


async def rows(_: Extent) -> Sequence[Row]:
    """The same at each run: nothing is measured with a clock."""
    queues = working_day()
    ours, floor = following(queues), fixed(queues)
    median, late, late_floor = ours.delay(50), ours.delay(90), floor.delay(90)
    asked, floor_asked = ours.requests, floor.requests
    return [
        Row(f"{OF}: event → post, median", "s", median, floor.delay(50), median, 3),
        Row(f"{OF}: event → post, p90", "s", late, late_floor, late / late_floor, None),
        Row(f"{OF}: requests", "", asked, floor_asked, asked / floor_asked, 1),
    ]
