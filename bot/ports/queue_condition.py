"""What is kept of the condition of queues: alerts, and failures in a row."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from bot.domain.alerts import Alert
from bot.domain.queue_condition import FailureStreak
from bot.domain.repository import RepositoryName


class QueueCondition(Protocol):
    """Alerts, of which one of a kind lasts at a time for a repository, and streaks of failures."""

    async def begin(self, alert: Alert) -> int | None:
        """Store it and return its id; None when one of its kind lasts already."""
        ...

    async def end(self, alert_id: int, at: datetime) -> bool:
        """Whether it lasted until now."""
        ...

    async def active(self, repository: RepositoryName) -> Sequence[Alert]:
        """Those that last, in the order in which they began."""
        ...

    async def get(self, alert_ids: Collection[int]) -> Mapping[int, Alert]: ...

    async def streak(self, repository: RepositoryName) -> FailureStreak:
        """None in a row where nothing is stored."""
        ...

    async def save_streak(self, repository: RepositoryName, streak: FailureStreak) -> None: ...

    async def forget(self, repositories: Collection[RepositoryName], at: datetime) -> None:
        """End what lasts and begin to count anew: nobody hears of these queues any more."""
        ...
