"""Delays and requests of a simulated working day, compared with polls at a fixed interval."""

from collections.abc import Sequence

from tests.bench.figures import Extent, Row
from tests.bench.working_day import fixed, following, working_day

OF = "working day of 100 repositories, 10 boards, 3 pauses"


async def rows(_: Extent) -> Sequence[Row]:
    """The same at each run: nothing is measured with a clock."""
    queues = working_day()
    ours = following(queues)
    logs = fixed(queues, only_logs=True)
    before = fixed(queues)
    median = ours.delay(50)
    late = ours.delay(90)
    return [
        Row(f"{OF}: event → post, median", "s", median, before.delay(50), median, 1.5),
        Row(f"{OF}: event → post, p90", "s", late, before.delay(90), late / before.delay(90), None),
        _requests("each log every 10 s", ours.requests, logs.requests, 1),
        _requests(
            "each log every 10 s, pauses and boards on schedules of their own",
            ours.requests,
            before.requests,
            0.8,
        ),
    ]


def _requests(beside: str, ours: int, floor: int, goal: float) -> Row:
    return Row(f"{OF}: requests, beside {beside}", "", ours, floor, ours / floor, goal)
