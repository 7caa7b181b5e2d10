"""Connect a person with their login of the code host, on their own word."""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.ports import Clock, Store


@dataclass(frozen=True, slots=True)
class LinkAccount:
    """Nothing is allowed by a link: it only says whose pull requests are whose."""

    store: Store
    clock: Clock

    async def link(self, user_id: str, login: str) -> Sequence[str]:
        """The other people who have the login; then nothing is changed."""
        async with self.store.begin() as transaction:
            if await transaction.accounts.link(user_id, login, self.clock.now()):
                return ()
            return (await transaction.accounts.people([login]))[login]

    async def unlink(self, user_id: str) -> bool:
        """Whether there was a link."""
        async with self.store.begin() as transaction:
            return await transaction.accounts.unlink(user_id)
