"""Share repositories among the running processes."""

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from bot.domain.configured import Configured
from bot.domain.leases import share_of
from bot.domain.repository import RepositoryName
from bot.ports import Clock
from bot.store.transactions import Store
from bot.usecases.polling.poll_repositories import PollRepositories

logger = logging.getLogger(__name__)

SHARE_SECONDS = 2.0
ALIVE = timedelta(seconds=9)
"""A process without a heartbeat for this long is dead or hangs; others take its repositories.

With SHARE_SECONDS and the tick of the polls, that is within 15 seconds.
"""


@dataclass(slots=True)
class ShareRepositories:
    """Reports that this process is alive, finds the others, and follows its share of the logs."""

    store: Store
    clock: Clock
    polls: PollRepositories
    configured: Configured
    holder: str
    known: Collection[str] = field(default_factory=frozenset)
    shared: Sequence[RepositoryName] = ()

    async def run(self) -> None:
        """Raises StoreError; the known processes then still count as alive."""
        now = self.clock.now()
        alive = await self.store.run(
            lambda transaction: transaction.workers.heartbeat(
                self.holder, now=now, until=now + ALIVE
            )
        )
        names = self.configured.repositories.names
        if alive != self.known or names != self.shared:
            self.polls.follow(share_of(self.holder, alive, names), names)
            logger.info(
                "repositories shared out",
                extra={
                    "action": "shared_out",
                    "workers": len(alive),
                    "repositories": len(self.polls.followed),
                },
            )
            self.known, self.shared = alive, names
        await self.polls.give_up()

    async def leave(self) -> None:
        """Sign off, so that the others need not wait. Raises StoreError."""
        await self.store.run(lambda transaction: transaction.workers.leave(self.holder))
