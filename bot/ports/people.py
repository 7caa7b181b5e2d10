"""What people told of themselves: their logins, and the notices they want."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from bot.domain.notices import Choices, Notice


class Accounts(Protocol):
    """Which login of the code host a person has, as they told it."""

    async def link(self, user_id: str, login: str, at: datetime) -> bool:
        """Insert or replace. False, and nothing is stored, when another person has the login."""
        ...

    async def unlink(self, user_id: str) -> bool:
        """Whether there was a link."""
        ...

    async def logins(self, user_ids: Collection[str]) -> Mapping[str, str]:
        """By user id; people without a link are left out."""
        ...

    async def people(self, logins: Collection[str]) -> Mapping[str, Sequence[str]]:
        """The ids of those who say that a login is theirs, first come first.

        By the login as it was asked for, which is found whatever its case; logins that nobody
        has named are left out.
        """
        ...


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
