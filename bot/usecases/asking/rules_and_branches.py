"""Read the queue rules of a repository, and which base branches had queue activity lately."""

from collections.abc import Sequence
from datetime import timedelta

from bot.domain.errors import InvalidConfiguration, InvalidRequest, about
from bot.domain.queue import QueueRule
from bot.domain.repository import RepositoryName
from bot.usecases.asking.sources import Sources


async def queue_rules(repository: RepositoryName, sources: Sources) -> Sequence[QueueRule]:
    """Raises MergeQueueError; InvalidConfiguration when the service cannot read the file."""
    with about(repository):
        try:
            return await sources.service.rules(repository)
        except InvalidRequest as error:
            if error.status is None:
                raise
            # API document, Errors: what 422 means for this endpoint alone.
            raise InvalidConfiguration(error.status, error.detail) from error


async def active_branches(
    repository: RepositoryName, since: timedelta, sources: Sources
) -> Sequence[str]:
    """Raises MergeQueueError."""
    window = await sources.window(repository, since)
    with about(repository):
        return await sources.service.branches(repository, window)
