"""Why nothing merges: CPU of one diagnosis of a queue with a long and with a short log."""

import time
from collections.abc import Sequence

from bot.doctor.diagnosing import diagnose
from bot.doctor.facts import Facts
from tests.bench.figures import Extent, Row
from tests.doctor.story import Telling, live, log, status
from tests.support.clock import NOON
from tests.support.make import SITE

MOST_MS = 5.0
FLAT = 3.0
EVENTS_OF_ONE = 5
"""Of a pull request that merges."""

MINUTES = 24 * 60


async def rows(extent: Extent) -> Sequence[Row]:
    long = _facts(10_000)
    short = _facts(1_000)
    spent = min(_milliseconds(long) for _ in range(extent.scaled(100, 20)))
    of_short = min(_milliseconds(short) for _ in range(extent.scaled(100, 20)))
    events = "diagnosis of a queue with 10,000 events"
    return [
        Row(f"{events}, CPU", "ms", spent, None, spent, MOST_MS),
        Row(f"{events} against 1,000, CPU", "ms", spent, of_short, spent / of_short, FLAT),
    ]


def _facts(events: int) -> Facts:
    """A queue whose last day has so many events, and sixty pull requests in line."""
    told = Telling()
    count = events // EVENTS_OF_ONE
    told.usual(-5, count=count, every=MINUTES / count)
    queue = status(live(41, 42), waiting=list(range(50, 110)))
    return Facts(SITE, queue, log=log(told))


def _milliseconds(facts: Facts) -> float:
    before = time.process_time()
    diagnose(facts, NOON)
    return (time.process_time() - before) * 1000
