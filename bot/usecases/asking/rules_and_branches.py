"""Read a repository's queue rules, and its base branches with recent queue activity."""

from collections.abc import Sequence
from datetime import timedelta

from bot.domain.errors import InvalidConfiguration, InvalidRequest, about
from bot.domain.queue import QueueRule
from bot.domain.repository import RepositoryName
from bot.usecases.asking.sources import Sources


async def queue_rules(repository: RepositoryName, sources: Sources) -> Sequence[QueueRule]:
    """Raises MergeQueueError; InvalidConfiguration if the service can't read the file."""
    with about(repository):
        try:
            return await sources.service.rules(repository)
        except InvalidRequest as error:
            if error.status is None:
                raise
            # API document, Errors: the meaning of 422 for this endpoint only.
            raise InvalidConfiguration(error.status, error.detail) from error


async def active_branches(
    repository: RepositoryName, since: timedelta, sources: Sources
) -> Sequence[str]:
    """Raises MergeQueueError."""
    window = await sources.window(repository, since)
    with about(repository):
        return await sources.service.branches(repository, window)
