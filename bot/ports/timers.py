"""What is kept of pauses that lift themselves."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol

from bot.domain.repository import RepositoryName
from bot.domain.timers import Timer


class Timers(Protocol):
    """One timer a pause; unique by (repository, the service's time of the pause)."""

    async def save(self, timer: Timer) -> None:
        """Insert, or replace the one of the same pause."""
        ...

    async def of(self, repository: RepositoryName, paused_at: datetime) -> Timer | None:
        """The one of the pause that the service says began then, within a second."""
        ...

    async def locked(self, repository: RepositoryName, paused_at: datetime) -> Timer | None:
        """As `of`; until the transaction ends nobody else changes it."""
        ...

    async def due(self, now: datetime, limit: int) -> Sequence[Timer]:
        """Running ones whose time has come, the longest due first."""
        ...

    async def running(self, repositories: Collection[RepositoryName]) -> Sequence[Timer]:
        """Those that will lift a pause, the next first."""
        ...
