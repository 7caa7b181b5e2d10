"""Names and values of the buttons about removals."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Self

from bot.kernel.groups import Repositories
from bot.kernel.repository import RepositoryName

REMOVE = "mq:remove"


@dataclass(frozen=True, slots=True)
class QueuedTarget:
    """The value of *Remove*: a pull request, and since when it is queued."""

    repository: RepositoryName
    number: int
    queued_at: datetime

    def known_in(self, repositories: Repositories) -> Self:
        return replace(self, repository=repositories.allowed(self.repository))
