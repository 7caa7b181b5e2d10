"""Read the queue rules of a repository, and which base branches had queue activity lately."""

from datetime import timedelta

from bot.domain.branches import Branches
from bot.domain.errors import InvalidConfiguration, InvalidRequest, about
from bot.domain.repository import RepositoryName
from bot.domain.rules import Rules
from bot.usecases.asking.sources import Sources


async def queue_rules(repository: RepositoryName, sources: Sources) -> Rules:
    """Raises MergeQueueError; InvalidConfiguration when the service cannot read the file."""
    with about(repository):
        try:
            rules = await sources.service.rules(repository)
        except InvalidRequest as error:
            if error.status is None:
                raise
            # API document, Errors: what 422 means for this endpoint alone.
            raise InvalidConfiguration(error.status, error.detail) from error
    return Rules(repository, tuple(rules))


async def active_branches(
    repository: RepositoryName, since: timedelta, sources: Sources
) -> Branches:
    """Raises MergeQueueError."""
    window = await sources.window(repository, since)
    with about(repository):
        names = await sources.service.branches(repository, window)
    return Branches(repository, since, tuple(names))
