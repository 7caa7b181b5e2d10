"""Which mentions and direct messages people want."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from bot.domain.notices import Choices, Notice


class Notices(Protocol):
    """What people have switched on or off. One workspace has one store: an id is one person."""

    async def choose(self, user_id: str, choices: Choices, at: datetime) -> None:
        """Insert or replace these; what else the person chose stays."""
        ...

    async def chosen(self, user_ids: Collection[str]) -> Mapping[str, Choices]:
        """By user id; people who never chose are left out."""
        ...

    async def switched_on_by_anybody(self, notices: Collection[Notice]) -> Collection[Notice]:
        """Those of the notices that at least one person has switched on."""
        ...

    async def switched_on(
        self, logins: Collection[str], notices: Collection[Notice]
    ) -> Mapping[tuple[str, Notice], Sequence[str]]:
        """Who has switched on which of the notices, of those who say that a login is theirs.

        By the login as it was asked for, which is found whatever its case, and the notice; first
        who linked first. What nobody has switched on is left out.
        """
        ...
