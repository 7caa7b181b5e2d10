"""Which mentions and direct messages people want."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Protocol

from bot.domain.notices import Choices


class Notices(Protocol):
    """What people have switched on or off. One workspace has one store: an id is one person."""

    async def choose(self, user_id: str, choices: Choices, at: datetime) -> None:
        """Insert or replace these; what else the person chose stays."""
        ...

    async def chosen(self, user_ids: Collection[str]) -> Mapping[str, Choices]:
        """By user id; people who never chose are left out."""
        ...
