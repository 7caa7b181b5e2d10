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
        now, names = self.clock.now(), self.configured.repositories.names
        alive = await self.store.run(
            lambda transaction: transaction.leases.heartbeat(
                self.holder, now=now, until=now + ALIVE
            )
        )
        if alive != self.known or names != self.shared:
            follow(self.polls, share_of(self.holder, alive, names), names)
            counts = {"workers": len(alive), "repositories": len(self.polls.followed)}
            logger.info("repositories shared out", extra={"action": "shared_out", **counts})
            self.known, self.shared = alive, names
        await give_up(self.polls)

    async def leave(self) -> None:
        """Sign off, so that the others need not wait. Raises StoreError."""
        await self.store.run(lambda transaction: transaction.leases.leave(self.holder))


def follow(
    polls: PollRepositories, ours: Collection[RepositoryName], names: Sequence[RepositoryName]
) -> None:
    """Poll only our share of all `names`; initially a process follows all of them."""
    polls.repositories, polls.followed = names, [name for name in names if name in ours]


async def give_up(polls: PollRepositories) -> None:
    """Release the leases of repositories no longer followed, once idle here.

    Without any it returns immediately, because the caller has to report in time that this process
    is alive.
    """
    if not _idle(polls):
        return
    async with polls.turn:
        idle = _idle(polls)
        await polls.release(idle)
        for name in idle:
            del polls.schedules[name]


def _idle(polls: PollRepositories) -> Sequence[RepositoryName]:
    followed = {*polls.followed}
    schedules = polls.schedules.items()
    return [name for name, one in schedules if name not in followed and not one.running]
