"""The queue rules of a repository, as they are read by people."""

from dataclasses import dataclass

from bot.domain.queue import QueueRule
from bot.domain.repository import RepositoryName


@dataclass(frozen=True, slots=True)
class Rules:
    """All rules, in processing order."""

    repository: RepositoryName
    rules: tuple[QueueRule, ...]
