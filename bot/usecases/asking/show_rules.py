"""Read the queue rules of a repository."""

from dataclasses import dataclass

from bot.domain.errors import InvalidConfiguration, InvalidRequest, about
from bot.domain.repository import RepositoryName
from bot.domain.rules import Rules
from bot.ports import MergeQueue


@dataclass(frozen=True, slots=True)
class ShowRules:
    """Answers `rules`."""

    merge_queue: MergeQueue

    async def run(self, repository: RepositoryName) -> Rules:
        """Raises MergeQueueError; InvalidConfiguration when the service cannot read the file."""
        with about(repository):
            try:
                rules = await self.merge_queue.rules(repository)
            except InvalidRequest as error:
                if error.status is None:
                    raise
                # API document, Errors: what 422 means for this endpoint alone.
                raise InvalidConfiguration(error.status, error.detail) from error
        return Rules(repository, tuple(rules))
