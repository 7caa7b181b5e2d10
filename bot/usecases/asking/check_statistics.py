"""What threw pull requests out of a queue, from the service's log or from the stored events."""

from datetime import timedelta

from bot.domain.check_statistics import CheckStatistics, compare
from bot.domain.errors import about
from bot.domain.event_log import CLOCK_ALLOWANCE
from bot.domain.event_types import LEAVE
from bot.domain.repository import RepositoryName
from bot.usecases.asking.sources import Sources
from bot.usecases.asking.statistics import LogReading
from bot.usecases.weekly_statistics import holds


async def check_statistics(
    repository: RepositoryName, since: timedelta, sources: Sources
) -> CheckStatistics:
    """The removals over `since` against those before, from the service's log.

    Raises MergeQueueError. Of a log too long to wait for, only the latest part is compared.
    """
    newest = await sources.newest_known(repository)
    end = max(sources.clock.now(), newest)
    reading = LogReading(sources.service, repository, None, frozenset({LEAVE}))
    with about(repository):
        known_since = await reading.back_to(end - 2 * since, end + CLOCK_ALLOWANCE)
    pauses, freezes = await sources.store.read(holds, repository, end - 2 * since)
    return compare(
        repository,
        reading.records,
        pauses,
        freezes,
        asked=since,
        end=end,
        known_since=known_since,
    )
