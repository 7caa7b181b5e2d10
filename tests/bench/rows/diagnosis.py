"""Why nothing merges: CPU of one diagnosis of a queue with a long and with a short log."""

import time
from collections.abc import Sequence

from bot.doctor.diagnosing import diagnose
from bot.doctor.facts import QueueFacts
from tests.bench.figures import Extent, Row
from tests.doctor.story import Telling, live, log, status
from tests.support.clock import NOON
from tests.support.make import SITE

MOST_MS = 5.0
FLAT = 3.0
EVENTS_OF_ONE = 5
"""Of a pull request that merges, or of a requeue."""

MINUTES = 24 * 60


async def rows(extent: Extent) -> Sequence[Row]:
    long = _facts(10_000)
    short = _facts(1_000)
    requeued = _requeued(10_000)
    spent = min(_milliseconds(long) for _ in range(extent.scaled(100, 20)))
    of_short = min(_milliseconds(short) for _ in range(extent.scaled(100, 20)))
    of_requeued = min(_milliseconds(requeued) for _ in range(extent.scaled(100, 20)))
    events = "diagnosis of a queue with 10,000 events"
    return [
        Row(f"{events}, CPU", "ms", spent, None, spent, MOST_MS),
        Row(f"{events} against 1,000, CPU", "ms", spent, of_short, spent / of_short, FLAT),
        Row(f"{events}, all of requeues, CPU", "ms", of_requeued, None, of_requeued, MOST_MS),
    ]


def _facts(events: int) -> QueueFacts:
    """A queue whose last day has so many events, and sixty pull requests in line."""
    told = Telling()
    count = events // EVENTS_OF_ONE
    told.usual(-5, count=count, every=MINUTES / count)
    queue = status(live(41, 42), waiting=list(range(50, 110)))
    return QueueFacts(SITE, queue, log=log(told))


def _requeued(events: int) -> QueueFacts:
    """A queue in which checks have started over for a requeue all day."""
    told = Telling()
    told.enter(-MINUTES, 41)
    count = events // EVENTS_OF_ONE
    for n in range(count):
        end = -MINUTES + (n + 1) * MINUTES / count
        told.enter(end - 0.2, 50)
        told.leave(end - 0.1, 50, "PR_MANUALLY_DEQUEUED")
        told.restarts(41, start=end - 0.5, end=end, code="PR_AHEAD_DEQUEUED")
        told.enter(end, 50)
    return QueueFacts(SITE, status(live(41), waiting=list(range(50, 110))), log=log(told))


def _milliseconds(facts: QueueFacts) -> float:
    before = time.process_time()
    diagnose(facts, NOON)
    return (time.process_time() - before) * 1000
