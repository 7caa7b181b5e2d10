"""Connect a person with their login of the code host, on their own word."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.ports import Clock
from bot.store.transactions import Store, Transaction


@dataclass(frozen=True, slots=True)
class LinkAccount:
    """Nothing is allowed by a link: it only says whose pull requests are whose."""

    store: Store
    clock: Clock

    async def link(self, user_id: str, login: str) -> Sequence[str]:
        """The other people who have the login; then nothing is changed."""
        return await self.store.run(_link, user_id, login, self.clock.now())

    async def unlink(self, user_id: str) -> bool:
        """Whether there was a link."""
        return await self.store.run(lambda transaction: transaction.accounts.unlink(user_id))


def _link(transaction: Transaction, user_id: str, login: str, now: datetime) -> Sequence[str]:
    if transaction.accounts.link(user_id, login, now):
        return ()
    return transaction.accounts.people([login])[login]
