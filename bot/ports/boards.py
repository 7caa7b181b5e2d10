"""What is kept of boards, and of what they say."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from bot.domain.boards import Board, Sight
from bot.domain.repository import RepositoryName


class Boards(Protocol):
    """Boards; a channel has one of a repository that is kept."""

    async def add(self, board: Board) -> int | None:
        """Store it and return its id, or None when the channel has one that is kept."""
        ...

    async def get(self, board_ids: Collection[int]) -> Mapping[int, Board]: ...

    async def kept_in(self, channel_id: str, repository: RepositoryName) -> Board | None: ...

    async def kept(self, repositories: Collection[RepositoryName]) -> Sequence[Board]:
        """Those of the repositories that are kept, in the order in which they were made."""
        ...

    async def strays(self, repositories: Collection[RepositoryName]) -> Sequence[Board]:
        """Those that are kept of any other repository, in the order in which they were made."""
        ...

    async def count_kept(self) -> int:
        """How many are kept in all."""
        ...

    async def end(self, board_id: int, at: datetime, by: str | None = None) -> bool:
        """Whether it was kept until now."""
        ...

    async def save_sight(self, sight: Sight) -> None:
        """Instead of the one there was of that repository."""
        ...

    async def sights(
        self, repositories: Collection[RepositoryName]
    ) -> Mapping[RepositoryName, Sight]:
        """What boards of these say; repositories that never had one are left out."""
        ...
