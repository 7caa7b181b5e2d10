"""One act at a time on a repository."""

import asyncio
from collections import defaultdict
from dataclasses import dataclass, field

from bot.domain.repository import RepositoryName


@dataclass(frozen=True, slots=True)
class Turns:
    """Between looking at a pause and changing it nobody else in this process acts on it.

    The service has no conditional request, so without turns two people who pause at once would
    both find the queue running, and the second reason would replace the first without a word.
    """

    locks: dict[RepositoryName, asyncio.Lock] = field(
        default_factory=lambda: defaultdict(asyncio.Lock)
    )

    def of(self, repository: RepositoryName) -> asyncio.Lock:
        return self.locks[repository]
