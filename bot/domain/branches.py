"""Base branches with queue activity."""

from dataclasses import dataclass
from datetime import timedelta

from bot.domain.repository import RepositoryName


@dataclass(frozen=True, slots=True)
class Branches:
    """Those with activity since so long ago, in the service's order."""

    repository: RepositoryName
    since: timedelta
    names: tuple[str, ...]
